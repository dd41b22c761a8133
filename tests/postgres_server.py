"""
A PostgreSQL server of the tests: one for each process of pytest, started when it is first needed.

It is Debian's package, or the one in the folder that RECOLLECT_TEST_POSTGRES_BIN names. PostgreSQL
refuses to run as root; then it runs as the user `nobody`. Its default collation is that of a
language where the build can do it, because the order of texts must not depend on it.
"""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import psycopg

from recollect.store.postgres.server_address import ServerAddress, parse_address

SETTINGS = ("fsync=off", "max_connections=200", "shared_buffers=64MB")
START_S = 60.0
STOP_S = 20.0
NOT_FOUND = (
    "The tests of the PostgreSQL store need a server, which was not found: install it with "
    "`apt-get install postgresql`, or name the folder of its programs in "
    "RECOLLECT_TEST_POSTGRES_BIN"
)


class PostgresServer:
    """
    A server in a temporary folder, with a socket there and without a port.

    *options* are settings of PostgreSQL, such as `max_connections=20`; *size_mb* limits the space
    it has, which only root can do.
    """

    def __init__(self, *options: str, size_mb: int = 0) -> None:
        self.programs = find_programs()
        self.folder = Path(
            tempfile.mkdtemp(prefix="recollect-pg-")
        )  # a short path: sockets need it
        self._settings = [*SETTINGS, *options]
        self._is_mounted = False
        if size_mb:
            self._mount(size_mb)
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._initialize()
            self.start()
        except BaseException:
            self.remove()
            raise

    def url(self, schema: str) -> str:
        """Return the address of a store in *schema*."""
        return f"postgresql:///postgres?host={self.folder}&user=recollect&schema={schema}"

    def address(self, schema: str) -> ServerAddress:
        return parse_address(self.url(schema))

    def start(self) -> None:
        """Start the server, and return when it answers."""
        command = [
            str(self.programs / "postgres"),
            *("-D", str(self.folder / "data"), "-k", str(self.folder), "-h", ""),
            *(word for setting in self._settings for word in ("-c", setting)),
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, user=self._user, cwd=self.folder
            )
        give_up_at = time.monotonic() + START_S
        while True:
            try:
                psycopg.connect(self.address("x").conninfo, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > give_up_at:
                    text = (self.folder / "log").read_text(errors="replace")
                    raise RuntimeError(f"PostgreSQL did not start:\n{text[-2000:]}") from None
                time.sleep(0.05)

    def stop(self, *, kill: bool = False) -> None:
        """Stop the server; *kill* leaves it no time to write anything."""
        if self._process is not None and self._process.poll() is None:
            # SIGQUIT ends every process of the server at once, without a checkpoint.
            self._process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)
            self._process.wait(STOP_S)

    @property
    def pid(self) -> int:
        """The id of the process that began all others."""
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process is not None and self._process.poll() is None

    def remove(self) -> None:
        self.stop(kill=True)
        if self._is_mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _mount(self, size_mb: int) -> None:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "tmpfs", str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"a file system of limited size needs root: {done.stderr}")
        self._is_mounted = True

    def _initialize(self) -> None:
        common = [
            str(self.programs / "initdb"),
            *("-D", str(self.folder / "data"), "-U", "recollect", "-A", "trust", "-E", "UTF8"),
            *("--no-sync", "--no-instructions", "--locale=C.UTF-8"),
        ]
        of_a_language = ["--locale-provider=icu", "--icu-locale=en"]
        for options in (of_a_language, []):
            done = subprocess.run(
                common + options, capture_output=True, user=self._user, cwd=self.folder
            )
            if done.returncode == 0:
                return
            shutil.rmtree(self.folder / "data", ignore_errors=True)
        raise RuntimeError(f"initdb failed: {done.stderr.decode(errors='replace')}")


def find_programs() -> Path:
    """Return the folder with the programs of PostgreSQL, the newest; raises if there is none."""
    if chosen := os.environ.get("RECOLLECT_TEST_POSTGRES_BIN"):
        return Path(chosen)
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    found = [folder for folder in folders if (folder / "initdb").exists()]
    if not found:
        raise RuntimeError(NOT_FOUND)
    return max(found, key=lambda folder: float(folder.parent.name))


@cache
def shared_server() -> PostgresServer:
    """Return the server of this process, which is stopped at its end."""
    server = PostgresServer()
    atexit.register(server.remove)
    return server


class CleanSchemas:
    """Schemas of the shared server for stores of tests. Used ones are emptied: that is quicker."""

    def __init__(self) -> None:
        self._by_folder: dict[Path, str] = {}
        self._used: list[str] = []
        self._count = 0

    def schema_of(self, folder: Path) -> str:
        """Return the schema of the store that a test has in *folder*; at first it is empty."""
        if folder not in self._by_folder:
            if self._used:
                schema = self._used.pop()
                empty_schema(shared_server().address(schema))
            else:
                self._count += 1
                schema = f"test_{self._count}"
            self._by_folder[folder] = schema
        return self._by_folder[folder]

    def release(self) -> None:
        """Let other tests use the schemas of a test that has ended."""
        self._used += self._by_folder.values()
        self._by_folder.clear()


def empty_schema(address: ServerAddress) -> None:
    """Delete every row but the list of migrations, and count from 1 again."""
    with psycopg.connect(address.conninfo) as db:
        # Neither triggers nor foreign keys: the order of the tables does not matter.
        db.execute("SET session_replication_role = replica")
        db.execute(f"SET search_path TO {address.schema}")
        row = db.execute("SELECT to_regclass('embedder')").fetchone()
        if row is None or row[0] is None:  # the test before had no store in it
            db.execute(f"DROP SCHEMA IF EXISTS {address.schema} CASCADE")
            return
        tables = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename <> 'migrations'",
            (address.schema,),
        ).fetchall()
        sequences = db.execute(
            "SELECT sequencename FROM pg_sequences WHERE schemaname = %s", (address.schema,)
        ).fetchall()
        db.execute(
            "; ".join(
                [f"DELETE FROM {name}" for (name,) in tables]
                + [f"ALTER SEQUENCE {name} RESTART" for (name,) in sequences]
                + ["INSERT INTO embedder (id) VALUES (1)"]
            )
        )


SCHEMAS = CleanSchemas()

"""PgBouncer in transaction mode, in front of a PostgreSQL server of the tests."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from postgres_server import PostgresServer

PROGRAM = "/usr/sbin/pgbouncer"
START_S = 30.0
NOT_FOUND = "The tests of poolers need PgBouncer: apt-get install pgbouncer"
CONFIG = """
[databases]
postgres = host={upstream} dbname=postgres user={role}

[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
query_wait_timeout = 5
server_login_retry = 1
logfile = {folder}/log
pidfile = {folder}/pid
"""


@contextmanager
def pgbouncer(
    server: PostgresServer, *, connections: int, role: str = "recollect"
) -> Iterator[Path]:
    """
    Run PgBouncer inside the block; gives the folder of its socket, whose port is 6432.

    It connects to the server as *role*, whoever asks.
    """
    if not Path(PROGRAM).exists():
        raise RuntimeError(NOT_FOUND)
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-"))
    user = "nobody" if os.geteuid() == 0 else None  # it refuses to run as root
    config = folder / "pgbouncer.ini"
    text = CONFIG.format(upstream=server.folder, folder=folder, connections=connections, role=role)
    config.write_text(text)
    if user is not None:
        shutil.chown(folder, user)
    process = subprocess.Popen([PROGRAM, "-q", str(config)], user=user, cwd=folder)
    try:
        _wait_until_it_answers(folder, process)
        yield folder
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder)


def _wait_until_it_answers(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    give_up_at = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(f"postgresql:///postgres?host={folder}&port=6432").close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise
            time.sleep(0.05)

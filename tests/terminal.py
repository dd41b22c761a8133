"""Run an installed command on a pseudo-terminal, as a person does."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

# What a terminal is asked by a program that draws a prompt, and answers.
WHERE_IS_THE_CURSOR, CURSOR_IS_AT_TOP = b"\x1b[6n", b"\x1b[1;1R"
PATIENCE_S = 60.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Shown(NamedTuple):
    """What a command left on the terminal: its exit code, plain and with its colours."""

    code: int
    text: str
    raw: str


def installed(name: str) -> str:
    """Return the path of an installed command."""
    return str(Path(sys.executable).parent / name)


def environment(path: Path, **more: str) -> dict[str, str]:
    """Return the environment of a person whose store lies at *path*."""
    own = {"RECOLLECT_DB": str(path), "TERM": "xterm-256color", "COLUMNS": "120"}
    return {**os.environ, **own, **more}


def in_terminal(command: str, *args: str, env: Mapping[str, str], typed: str = "") -> Shown:
    """Run *command* with *args* on a pseudo-terminal, with *typed* on its keyboard."""
    pty = pytest.importorskip("pty", reason="a terminal needs POSIX")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [installed(command), *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=dict(env),
        close_fds=True,
    )
    os.close(slave)
    if typed:
        os.write(master, typed.encode())
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux says end of file on a terminal like this
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    raw = b"".join(chunks).decode()
    return Shown(process.wait(), _ESCAPES.sub("", raw).replace("\r\n", "\n"), raw)


class InteractiveTerminal:
    """A command on a pseudo-terminal of its own, and what it has shown so far."""

    def __init__(self, *args: str, env: Mapping[str, str]) -> None:
        pty = pytest.importorskip("pty", reason="a terminal needs POSIX")
        termios = pytest.importorskip("termios", reason="a terminal needs POSIX")
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (40, 120))
        self.process = subprocess.Popen(
            [installed("recollect"), *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=dict(env),
            start_new_session=True,
        )
        os.close(slave)
        self._raw = b""
        self._read_to = 0

    @property
    def raw(self) -> str:
        """Everything that was written, with escape sequences."""
        return self._raw.decode(errors="replace")

    @property
    def shown(self) -> str:
        text = self.raw
        return _ESCAPES.sub("", text).replace("\r\n", "\n")

    def until(self, text: str) -> str:
        """Wait for *text*; return what came before it since the last wait."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown[self._read_to :]:
            assert time.monotonic() < end, f"{text!r} never came: {self.shown!r}"
            assert self._read(), f"it ended before {text!r} came: {self.shown!r}"
        start = self._read_to
        self._read_to = self.shown.index(text, start) + len(text)
        return self.shown[start : self._read_to]

    def type(self, text: str) -> None:
        """Write *text* on the keyboard, whatever the terminal waits for."""
        os.write(self._master, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window, as a person does with the mouse."""
        termios = pytest.importorskip("termios", reason="a terminal needs POSIX")
        termios.tcsetwinsize(self._master, (rows, columns))
        os.killpg(self.process.pid, signal.SIGWINCH)

    def press(self, key: str) -> None:
        """Press *key* once the terminal takes single keys: before, they would be thrown away."""
        termios = pytest.importorskip("termios", reason="a terminal needs POSIX")
        end = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self._master)[3] & termios.ICANON:
            assert time.monotonic() < end, f"it never waited for a key: {self.shown!r}"
            time.sleep(0.005)
        os.write(self._master, key.encode())

    def ends(self) -> int:
        """Wait until the command ends; return its exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE_S)

    def ends_with(self, key: str) -> int:
        """Press *key* until the command ends: what is pressed between two keys is dropped."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end: {self.shown!r}"
            os.write(self._master, key.encode())
            time.sleep(0.1)
        return self.ends()

    def press_until(self, key: str, text: str) -> None:
        """Press *key* until *text* is shown."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown[self._read_to :]:
            assert time.monotonic() < end, f"{text!r} never came: {self.shown!r}"
            os.write(self._master, key.encode())
            if select.select([self._master], [], [], 0.1)[0]:
                self._read()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE_S)
        try:
            chunk = os.read(self._master, 65536) if ready else b""
        except OSError:  # Linux says end of file on a terminal like this
            return False
        for _ in range(chunk.count(WHERE_IS_THE_CURSOR)):
            os.write(self._master, CURSOR_IS_AT_TOP)
        self._raw += chunk
        return bool(chunk)

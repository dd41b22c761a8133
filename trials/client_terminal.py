"""
A pseudo-terminal in which a client runs as in front of a person.

The clients ask the terminal for the cursor, the colours and the keyboard; without an answer some of
them wait or refuse to start. What the screen looks like is not emulated.
"""

import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE_S = 120.0
_ANSWERS = (
    (b"\x1b[6n", b"\x1b[1;1R"),  # where the cursor is
    (b"\x1b[c", b"\x1b[?62;22c"),  # which terminal this is
    (b"\x1b[>q", b"\x1bP>|xterm(390)\x1b\\"),
    (b"\x1b[?u", b"\x1b[?0u"),  # how keys are encoded
    (b"\x1b]10;?", b"\x1b]10;rgb:0000/0000/0000\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\"),
)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|.)")


class ClientTerminal:
    """A client on a pseudo-terminal."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (50, 160))
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "TERM": "xterm-256color"},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        self._output = b""

    @property
    def shown(self) -> str:
        """What was written so far, without escape sequences."""
        return _ESCAPES.sub(" ", self._output.decode(errors="replace"))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Answer the client until *condition* is true."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, self.shown[-3_000:]
            assert self._read(0.1), f"it ended: {self.shown[-3_000:]}"

    def end_with(self, key: str) -> None:
        """Press *key* again and again, until the client ends."""
        end = time.monotonic() + PATIENCE_S
        while self._read(0.5):
            assert time.monotonic() < end, self.shown[-3_000:]
            os.write(self._master, key.encode())
        self._process.wait(PATIENCE_S)
        os.close(self._master)

    def _read(self, wait_s: float) -> bool:
        """Read what the client writes within a time; return False if it has ended."""
        deadline = time.monotonic() + wait_s
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                return True
            try:
                chunk = os.read(self._master, 65_536)
            except OSError:  # Linux says end of file on a terminal like this
                return False
            if not chunk:
                return False
            self._output += chunk
            for query, answer in _ANSWERS:
                for _ in range(chunk.count(query)):
                    os.write(self._master, answer)
        return True

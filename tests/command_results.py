"""Read the result of a command that ran in this process."""

import json
from typing import Any

from click.testing import Result


def output_of(result: Result) -> str:
    """Return what a command printed; fail if it failed."""
    assert result.exit_code == 0, result.output
    return result.output


def json_of(result: Result, code: int = 0) -> Any:
    """Return the JSON a command printed; fail if its exit code is not *code*."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def error_of(result: Result, *, code: int = 1) -> str:
    """Return the line a command failed with: no traceback, nothing on standard output."""
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.output
    lines = result.stderr.strip().splitlines()
    assert lines[-1].startswith("Error: ")
    assert code != 1 or len(lines) == 1
    return lines[-1]


def is_safe(output: str) -> bool:
    """Return whether *output* holds no control character that a terminal obeys."""
    return not any(char in output for char in "\x1b\x07\x08\x9b")

"""The option `--project`. Light: a command may show a prompt before it loads the store."""

import os
from pathlib import Path

import click


def folder_as_path(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return a relative path that leads to a folder as a path from the root on, not as a name."""
    is_path = value in (".", "..") or (value and ("/" in value or os.sep in value))
    if value and is_path and Path(value).is_dir():
        return os.path.abspath(value)
    return value


project_option = click.option(
    "--project", callback=folder_as_path, help="The project: name, remote or path ('.')."
)

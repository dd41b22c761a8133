"""
The models kept on this machine: one folder each, below one folder, under the name they are used by.

A model is copied into a hidden folder first, run once from there, and renamed into place: whoever
looks sees it whole or not at all. Nothing here knows a store, or which model is in use.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.errors import AlreadyExists, InvalidInput, NotFound, RecollectError, StoreFull
from recollect.models.manifest import Manifest, read_manifest

DEFAULT = "default"  # the name of the model that needs no folder
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MAKING = ".adding-"
_STALE_S = 24 * 3600.0  # what a killed `add` left behind goes after a day


def kept_names(below: Path) -> list[str]:
    """Return the names of the models kept in *below*, sorted."""
    try:
        found = [one.name for one in below.iterdir() if (one / "manifest.json").is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if _NAME.fullmatch(name))


def kept_manifest(below: Path, name: str) -> Manifest:
    """Return the manifest of a kept model; raises `NotFound` where there is none of that name."""
    _check_kept(below, name)
    return read_manifest(below / name)


def keep(folder: Path, below: Path, *, name: str | None = None, replace: bool = False) -> str:
    """Copy the model in *folder* to *below*, proved to work; return the name it is kept under."""
    manifest = read_manifest(folder)
    chosen = _checked_name(name or _as_name(manifest.name))
    _refuse_outside(folder, manifest)
    target = below / chosen
    if target.exists() and not replace:
        raise _taken(chosen)
    with _translated(target), _making(below) as making:
        shutil.copytree(folder, making, ignore=_hidden, dirs_exist_ok=True)
        _note_hash(making)
        _prove(making)
        _put(making, target, chosen, replace=replace)
    return chosen


def remove(below: Path, name: str) -> None:
    """Remove a kept model; of one that is a link to elsewhere only the link goes."""
    _check_kept(below, name)
    try:
        # Renamed first: nobody sees half a model. What is in a folder is removed, never followed.
        with _making(below) as leaving:
            (below / name).rename(leaving / name)
    except OSError as error:
        raise InvalidInput(f"the model {name!r} cannot be removed from {below}: {error}") from error


def _check_kept(below: Path, name: str) -> None:
    # Only what was listed is ever made a path of.
    known = kept_names(below)
    if name not in known:
        raise NotFound(
            f"there is no embedding model {name[:80]!r}, only {', '.join((DEFAULT, *known))} "
            "(`recollect models list`); `recollect models add FOLDER` adds one"
        )


def _as_name(written: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", written).strip("-._")[:64]


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name == DEFAULT:
        raise InvalidInput(
            f"{name!r} cannot be the name of a model; use up to 64 letters, digits and '._-', "
            f"beginning with a letter or digit, and not {DEFAULT!r}: --name NAME"
        )
    return name


def _taken(name: str) -> AlreadyExists:
    return AlreadyExists(
        f"there is a model {name!r} already; choose another name with --name, "
        "or put this one in its place with --replace"
    )


def _refuse_outside(folder: Path, manifest: Manifest) -> None:
    whole = folder.resolve()
    for what in ("model", "tokenizer"):
        written = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get(what, "")
        if written and not Path(os.path.normpath(whole / written)).is_relative_to(whole):
            raise InvalidInput(
                f"the {what} of {folder} lies outside of it ({getattr(manifest, what)}); "
                "put it into the folder and name it in manifest.json without a path to elsewhere"
            )


def _hidden(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(".")]


def _note_hash(folder: Path) -> None:
    """Write the hash of the model into its manifest, where it is missing: part of its identity."""
    path = folder / "manifest.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    if not written.get("sha256"):
        with Path(read_manifest(folder).model).open("rb") as file:
            written["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        path.chmod(0o600)  # the original may be read-only
        path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def _prove(folder: Path) -> None:
    # NumPy and onnxruntime load for those who add a model, not for those who list them.
    from recollect.models.local import LocalEmbedder

    vectors = LocalEmbedder(read_manifest(folder)).embed(["A sentence to prove that it works."])
    length = float((vectors @ vectors.T)[0, 0])
    if not 0.9 < length < 1.1:  # NaN too
        raise InvalidInput(
            "the model ran, but what it answers is no vector; is it an embedding model, and are "
            "pooling and tokenizer in manifest.json those it was made with?"
        )


def _put(making: Path, target: Path, name: str, *, replace: bool) -> None:
    try:
        making.rename(target)
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) or not target.exists():
            raise
        if not replace:
            raise _taken(name) from error
    former = Path(tempfile.mkdtemp(prefix=_MAKING, dir=target.parent))
    target.rename(former / name)
    making.rename(target)
    shutil.rmtree(former, ignore_errors=True)


@contextmanager
def _making(below: Path) -> Iterator[Path]:
    """Lend a hidden folder in *below*; what is left in it afterwards goes."""
    below.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in below.glob(f"{_MAKING}*"):
        if time.time() - left.stat().st_mtime > _STALE_S:
            shutil.rmtree(left, ignore_errors=True)
    making = Path(tempfile.mkdtemp(prefix=_MAKING, dir=below))
    try:
        yield making
    finally:
        shutil.rmtree(making, ignore_errors=True)


@contextmanager
def _translated(target: Path) -> Iterator[None]:
    try:
        yield
    except RecollectError:
        raise
    except (OSError, shutil.Error) as error:
        if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error):
            raise StoreFull(
                f"no space left to keep the model at {target}; nothing was added. Free some space, "
                "or choose another folder with RECOLLECT_MODELS_FOLDER"
            ) from error
        raise InvalidInput(f"the model cannot be copied to {target}: {error}") from error

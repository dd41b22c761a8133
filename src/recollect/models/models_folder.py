"""
Add, list and remove the embedding models in the models folder: one subfolder each, by name.

A model is first copied into a hidden folder, run once from there, and then renamed into place: it
is visible completely or not at all. Nothing here knows a store, or which model is in use.
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
from recollect.models.model_manifest import Manifest, read_manifest

DEFAULT_NAME = "default"  # the name of the model that needs no folder
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STAGING_PREFIX = ".adding-"
_STALE_S = 24 * 3600.0  # staging folders of a killed `add` are removed after a day


def list_models(models_folder: Path) -> list[str]:
    """Return the names of the models in *models_folder*, sorted."""
    try:
        folders = models_folder.iterdir()
        names = [path.name for path in folders if (path / "manifest.json").is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if _NAME.fullmatch(name))


def load_manifest(models_folder: Path, name: str) -> Manifest:
    """Return the manifest of the model *name*; raise `NotFound` if there is none."""
    _require_model(models_folder, name)
    return read_manifest(models_folder / name)


def add_model(
    folder: Path, models_folder: Path, *, name: str | None = None, replace: bool = False
) -> str:
    """Copy the model in *folder* to *models_folder* after a test run; return its name there."""
    manifest = read_manifest(folder)
    chosen = _validate_name(name or _to_name(manifest.name))
    _reject_files_outside(folder, manifest)
    target = models_folder / chosen
    if target.exists() and not replace:
        raise _name_taken_error(chosen)
    with _translate_errors(target), _staging_folder(models_folder) as staging:
        shutil.copytree(folder, staging, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
        _record_hash(staging)
        _test_embedding(staging)
        _move_into_place(staging, target, chosen, replace=replace)
    return chosen


def remove_model(models_folder: Path, name: str) -> None:
    """Remove the model *name*; if it is a symbolic link, only the link."""
    _require_model(models_folder, name)
    try:
        # Renamed first, so that no partial model is visible. Links inside are not followed.
        with _staging_folder(models_folder) as staging:
            (models_folder / name).rename(staging / name)
    except OSError as error:
        message = f"the model {name!r} cannot be removed from {models_folder}: {error}"
        raise InvalidInput(message) from error


def _require_model(models_folder: Path, name: str) -> None:
    # Only listed names become part of a path.
    names = list_models(models_folder)
    if name not in names:
        raise NotFound(
            f"there is no embedding model {name[:80]!r}, only {', '.join((DEFAULT_NAME, *names))} "
            "(`recollect models list`); `recollect models add FOLDER` adds one"
        )


def _to_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:64]


def _validate_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name == DEFAULT_NAME:
        raise InvalidInput(
            f"{name!r} cannot be the name of a model; use up to 64 letters, digits and '._-', "
            f"beginning with a letter or digit, and not {DEFAULT_NAME!r}: --name NAME"
        )
    return name


def _name_taken_error(name: str) -> AlreadyExists:
    return AlreadyExists(
        f"there is a model {name!r} already; choose another name with --name, "
        "or replace it with --replace"
    )


def _reject_files_outside(folder: Path, manifest: Manifest) -> None:
    root = folder.resolve()
    for file in ("model", "tokenizer"):
        path = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get(file, "")
        if path and not Path(os.path.normpath(root / path)).is_relative_to(root):
            raise InvalidInput(
                f"the {file} of {folder} is outside of the folder ({getattr(manifest, file)}); "
                "move it into the folder and use a relative path in manifest.json"
            )


def _record_hash(folder: Path) -> None:
    """Write the hash of the model, a part of its identity, into its manifest if missing."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if not manifest.get("sha256"):
        with Path(read_manifest(folder).model).open("rb") as file:
            manifest["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        path.chmod(0o600)  # the original may be read-only
        path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _test_embedding(folder: Path) -> None:
    # NumPy and onnxruntime are imported to add a model, not to list models.
    from recollect.models.local_embedder import LocalEmbedder

    vectors = LocalEmbedder(read_manifest(folder)).embed(["A sentence to prove that it works."])
    length = float((vectors @ vectors.T)[0, 0])
    if not 0.9 < length < 1.1:  # NaN too
        raise InvalidInput(
            "the model ran, but its output is not a vector; check that it is an embedding model, "
            "and that pooling and tokenizer in manifest.json are those it was trained with"
        )


def _move_into_place(staging: Path, target: Path, name: str, *, replace: bool) -> None:
    try:
        staging.rename(target)
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.EACCES) or not target.exists():
            raise
        if not replace:
            raise _name_taken_error(name) from error
    previous = Path(tempfile.mkdtemp(prefix=_STAGING_PREFIX, dir=target.parent))
    target.rename(previous / name)
    staging.rename(target)
    shutil.rmtree(previous, ignore_errors=True)


@contextmanager
def _staging_folder(models_folder: Path) -> Iterator[Path]:
    """Yield a hidden folder in *models_folder*, and remove it afterwards."""
    models_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for stale in models_folder.glob(f"{_STAGING_PREFIX}*"):
        if time.time() - stale.stat().st_mtime > _STALE_S:
            shutil.rmtree(stale, ignore_errors=True)
    staging = Path(tempfile.mkdtemp(prefix=_STAGING_PREFIX, dir=models_folder))
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _translate_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except RecollectError:
        raise
    except (OSError, shutil.Error) as error:
        if getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error):
            raise StoreFull(
                f"no space left to add the model at {target}; nothing was added. Free some space, "
                "or choose another folder with RECOLLECT_MODELS_FOLDER"
            ) from error
        raise InvalidInput(f"the model cannot be copied to {target}: {error}") from error

"""
The manifest beside a backup: what the copy is, its hash, and who vouches for it.

It is written last, so that a backup without one is incomplete. The manifest of an encrypted store
is authenticated with its key: nobody else can make a backup that looks like one of this store. A
plain one has a hash only, which finds damage but not a forger.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.domain.backup import Backup
from recollect.errors import ImportRefused

SUFFIX = ".backup.json"
MAX_BYTES = 1_000_000
_CHUNK_BYTES = 1_000_000
_TYPES: Mapping[str, type] = {
    "path": str,
    "store": str,
    "created_at": str,
    "schema": int,
    "bytes": int,
    "sha256": str,
    "rows": dict,
    "is_encrypted": bool,
    "key_id": str,
    "wrapped_keys": list,
    "hmac": str,
}


def manifest_of(copy: Path) -> Path:
    """Return the path of the manifest of a copy."""
    return copy.with_name(f"{copy.name}{SUFFIX}")


def signed_part(fields: Mapping[str, Any]) -> bytes:
    """Return what the HMAC of a manifest is over: every field but the HMAC itself."""
    rest = {name: value for name, value in fields.items() if name != "hmac"}
    return json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def to_fields(backup: Backup, wrapped_keys: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a manifest, without its HMAC."""
    fields = asdict(backup) | {"created_at": backup.created_at.isoformat()}
    fields["path"] = Path(backup.path).name  # for readers; both files may be moved and renamed
    return {"recollect": "backup", "format": 1, **fields, "wrapped_keys": wrapped_keys}


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the fields of a manifest; raise `ImportRefused` if it is not one."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("it is too large")
        fields = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(fields, dict) or fields["recollect"] != "backup" or fields["format"] != 1:
            raise ValueError("it is not a manifest of this version")
        _check_types(fields)
        to_backup(fields, path)
    except FileNotFoundError as error:
        raise ImportRefused(
            f"{path} does not exist: the backup is incomplete, or it is not a backup"
        ) from error
    except KeyError as error:
        raise ImportRefused(f"{path} is damaged: it has no {error}. Use another backup") from error
    except (OSError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ImportRefused(f"{path} is damaged: {error}. Use another backup") from error
    result: dict[str, Any] = fields
    return result


def _check_types(fields: Mapping[str, Any]) -> None:
    """Raise `ValueError` if a field has a value of another type than `to_fields` writes."""
    for name, expected in _TYPES.items():
        if type(fields[name]) is not expected:
            raise ValueError(f"its field {name!r} is not of the type {expected.__name__}")
    if any(type(count) is not int for count in fields["rows"].values()):
        raise ValueError("its field 'rows' has a count that is not a number")
    if any(not isinstance(entry, dict) for entry in fields["wrapped_keys"]):
        raise ValueError("its field 'wrapped_keys' has an entry that is not a wrapped key")
    if not Path(fields["path"]).name or "\0" in fields["path"] or not fields["hmac"].isascii():
        raise ValueError("its field 'path' or 'hmac' is not valid")
    if datetime.fromisoformat(fields["created_at"]).tzinfo is None:
        raise ValueError("its field 'created_at' has no time zone")


def to_backup(fields: Mapping[str, Any], manifest: Path) -> Backup:
    """
    Return the backup that *manifest* describes.

    Its copy is the file beside it. The name in the manifest does not count: a manifest that names
    another file of the folder must not let that one be deleted or restored.
    """
    return Backup(
        path=str(manifest.with_name(manifest.name.removesuffix(SUFFIX))),
        store=str(fields["store"]),
        created_at=datetime.fromisoformat(fields["created_at"]),
        schema=int(fields["schema"]),
        bytes=int(fields["bytes"]),
        sha256=str(fields["sha256"]),
        rows={str(name): int(count) for name, count in fields["rows"].items()},
        is_encrypted=bool(fields["is_encrypted"]),
        key_id=str(fields["key_id"]),
    )


def check_copy(backup: Backup) -> None:
    """Raise `ImportRefused` if the copy is not what its manifest says: incomplete, or altered."""
    path = Path(backup.path)
    try:
        size = path.stat().st_size
        digest = hash_file(path)
    except OSError as error:
        raise ImportRefused(f"cannot read the backup {path}: {error}") from error
    if size != backup.bytes:
        raise ImportRefused(
            f"the backup {path} is incomplete: it has {size:,} bytes, its manifest says "
            f"{backup.bytes:,}. Use an earlier one"
        )
    if not hmac.compare_digest(digest, backup.sha256):
        raise ImportRefused(
            f"the backup {path} was altered or damaged: its hash differs from the manifest's. "
            "Use an earlier one"
        )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()

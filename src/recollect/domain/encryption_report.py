"""What `encrypt`, `rekey` and `decrypt` did, and which files of a store are encrypted."""

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class EncryptionReport:
    """
    The result of `encrypt`, `rekey` or `decrypt`.

    *recovery_key* is shown once and stored nowhere else than in *key_place*.
    """

    path: str
    is_encrypted: bool
    cipher: str = ""
    key_id: str = ""
    key_place: str = ""
    recovery_key: str = ""
    snapshots: int = 0  # copies beside the store that were converted as well


@dataclass(frozen=True, kw_only=True)
class FileEncryption:
    """Whether one file of a store is encrypted."""

    path: str
    is_encrypted: bool

"""The result of writing a vault: a folder of readable pages of a store."""

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class VaultReport:
    """What was written to a vault, and which edits made there were captured."""

    folder: str
    written: int  # pages that are new or changed
    unchanged: int
    removed: int  # pages of what is not active any more
    proposed: tuple[str, ...] = ()  # pages whose edits wait in the inbox now
    notes: tuple[str, ...] = ()  # pages that were left alone, and why

"""Return the history of blocks: versions, diffs, rollback, and changes since a moment."""

from recollect.domain.block import Block, BlockChange, BlockVersion, replace_all, text_diff
from recollect.errors import NotFound
from recollect.service.block_lookup import requested_block, resolve_place, visible_blocks
from recollect.service.blocks import edit_value
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import short_hash
from recollect.wire.requests import blocks as requests


def get_history(services: Services, request: requests.GetBlockHistoryRequest) -> list[BlockVersion]:
    """Return every version of a block, oldest first: its value, who set it, when and why."""
    with services.store.read() as tables:
        return tables.blocks.versions(requested_block(tables, request).id)


def get_diff(services: Services, request: requests.GetBlockDiffRequest) -> str:
    """Return a unified diff of two versions; the newer one is the current if not given."""
    with services.store.read() as tables:
        block = requested_block(tables, request)
        older = _version(tables, block, request.older)
        newer = _version(tables, block, request.newer or block.version)
    return text_diff(
        older.value,
        newer.value,
        from_name=f"{block.label} version {older.version}",
        to_name=f"{block.label} version {newer.version}",
    )


def rollback(services: Services, request: requests.RollbackBlockRequest) -> Block:
    """Restore an earlier value of a block as a new version."""
    with services.store.read() as tables:
        earlier = _version(tables, requested_block(tables, request), request.version)
    return edit_value(
        services,
        request,
        replace_all(earlier.value),
        default_reason=f"rolled back to version {earlier.version}",
        unconfirmed_author=earlier.unconfirmed_author,
    )


def list_changes(
    services: Services, request: requests.ListBlockChangesRequest
) -> list[BlockChange]:
    """Return the changes after a moment to the blocks seen from a place, oldest first."""
    with services.store.read() as tables:
        blocks = visible_blocks(tables, resolve_place(tables, request))
        return tables.blocks.changes_since([block.id for block in blocks], request.since)


def get_fingerprint(services: Services, request: requests.GetBlocksFingerprintRequest) -> str:
    """Return a hash of the blocks seen from a place; it differs if any came, changed or went."""
    with services.store.read() as tables:
        blocks = visible_blocks(tables, resolve_place(tables, request))
    return short_hash(" ".join(f"{block.id} {block.version}" for block in blocks)).hex()


def _version(tables: Tables, block: Block, number: int) -> BlockVersion:
    version = tables.blocks.version(block.id, number)
    if version is None:
        raise NotFound(f"the block {block.label!r} has versions 1 to {block.version}, no {number}")
    return version

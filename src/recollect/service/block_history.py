"""What blocks have said: history, differences, going back, and what changed since."""

import difflib

from recollect.domain.block import Block, BlockChange, BlockVersion, By, replace_all
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.block_target import (
    ById,
    Place,
    Target,
    found_in,
    known_block,
    visible,
)
from recollect.service.blocks import edit
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.fingerprint import short_hash


def history(services: Services, target: Target) -> list[BlockVersion]:
    """Return every value a block has had, oldest first: who set it, when, why."""
    with services.store.read() as tables:
        return tables.blocks.versions(known_block(tables, target).id)


def diff(services: Services, target: Target, older: object, newer: object = None) -> str:
    """Return what changed between two versions, as a unified diff; the newer is today's if None."""
    with services.store.read() as tables:
        found = known_block(tables, target)
        one = _known_version(tables, found, older)
        other = _known_version(tables, found, found.version if newer is None else newer)
    return "\n".join(
        difflib.unified_diff(
            one.value.splitlines(),
            other.value.splitlines(),
            f"{found.label} version {one.version}",
            f"{found.label} version {other.version}",
            lineterm="",
        )
    )


def rollback(
    services: Services,
    target: Target,
    version: object,
    *,
    expected_version: object = None,
    by: object = By.USER,
    reason: object = "",
) -> Block:
    """Give a block the value it had at a version; that is a new version itself."""
    with services.store.read() as tables:
        found = known_block(tables, target)
        former = _known_version(tables, found, version)
    return edit(
        services,
        ById(found.id),
        replace_all(former.value),
        expected_version=expected_version,
        by=by,
        reason=reason or f"rolled back to version {former.version}",
    )


def changes(services: Services, place: Place, since: object) -> list[BlockChange]:
    """Return what changed after a moment in the blocks *place* sees, oldest first."""
    moment = inputs.moment_of("since", since)
    if moment is None:
        raise InvalidInput("since when? pass a moment, such as the time a prompt was compiled")
    with services.store.read() as tables:
        seen = visible(tables, *found_in(tables, place))
        return tables.blocks.changes_since([one.id for one in seen], moment)


def mark(services: Services, place: Place) -> str:
    """Return a mark of the blocks *place* sees: another one if any came, changed or went."""
    with services.store.read() as tables:
        seen = visible(tables, *found_in(tables, place))
    return short_hash(" ".join(f"{one.id} {one.version}" for one in seen)).hex()


def _known_version(tables: Tables, found: Block, version: object) -> BlockVersion:
    number = inputs.count_of("version", version, most=2**53)
    kept = tables.blocks.version(found.id, number)
    if kept is None:
        raise NotFound(f"the block {found.label!r} has versions 1 to {found.version}, no {number}")
    return kept

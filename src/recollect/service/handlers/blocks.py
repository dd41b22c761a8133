"""Handlers of the requests for blocks: labelled text that is always in an agent's context."""

from typing import Any

from recollect.domain import block as edits
from recollect.domain.block import Block, BlockChange, BlockHit, BlockVersion
from recollect.service import block_history, block_search, blocks
from recollect.service.block_target import ById, ByLabel, Place, Target
from recollect.service.handlers.table import Handlers
from recollect.service.inputs import plain_text_of
from recollect.service.services import Services
from recollect.wire.requests.blocks import (
    AppendBlockRequest,
    AttachBlockRequest,
    CreateBlockRequest,
    DeleteBlockRequest,
    DetachBlockRequest,
    GetBlockDiffRequest,
    GetBlockHistoryRequest,
    GetBlockRequest,
    GetBlocksFingerprintRequest,
    InsertInBlockRequest,
    ListBlockChangesRequest,
    ListBlocksRequest,
    ReplaceInBlockRequest,
    RollbackBlockRequest,
    SearchBlocksRequest,
    SetBlockRequest,
    UpdateBlockRequest,
)
from recollect.wire.requests.shared import BlockEditFields, BlockFields, BlockPlaceFields

_SETTINGS = frozenset({"new_label", "description", "limit", "read_only", "hidden", "metadata"})


def _place(request: BlockPlaceFields) -> Place:
    return Place(agent=request.agent, project=request.project, conversation=request.conversation)


def _target(request: BlockFields) -> Target:
    place = _place(request)
    if place == Place():
        return ById(request.label)
    return ByLabel(place, request.label)


def _edit_options(request: BlockEditFields) -> dict[str, Any]:
    return {
        "by": request.by,
        "expected_version": request.expected_version,
        "reason": request.reason,
    }


def _edit(services: Services, request: BlockEditFields, edit: edits.Edit) -> Block:
    return blocks.edit(services, _target(request), edit, **_edit_options(request))


def create_block(services: Services, request: CreateBlockRequest) -> Block:
    return blocks.create(
        services,
        request.label,
        request.value,
        place=_place(request),
        scope=request.scope,
        description=request.description,
        limit=request.limit,
        read_only=request.read_only,
        hidden=request.hidden,
        metadata=request.metadata,
        by=request.by,
    )


def list_blocks(services: Services, request: ListBlocksRequest) -> list[Block]:
    place = _place(request)
    return blocks.blocks(services, place)


def get_block(services: Services, request: GetBlockRequest) -> Block:
    return blocks.block(services, _target(request))


def set_block(services: Services, request: SetBlockRequest) -> Block:
    return _edit(services, request, edits.replace_all(plain_text_of("value", request.value)))


def append_block(services: Services, request: AppendBlockRequest) -> Block:
    return _edit(services, request, edits.append(plain_text_of("text", request.text)))


def replace_in_block(services: Services, request: ReplaceInBlockRequest) -> Block:
    wanted = edits.replace_once(
        plain_text_of("old", request.old), plain_text_of("new", request.new)
    )
    return _edit(services, request, wanted)


def insert_in_block(services: Services, request: InsertInBlockRequest) -> Block:
    return _edit(
        services, request, edits.insert_at(request.line, plain_text_of("text", request.text))
    )


def update_block(services: Services, request: UpdateBlockRequest) -> Block:
    settings = {name: getattr(request, name) for name in _SETTINGS & request.model_fields_set}
    if "new_label" in settings:
        settings["label"] = settings.pop("new_label")
    return blocks.update(services, _target(request), settings, **_edit_options(request))


def get_block_history(services: Services, request: GetBlockHistoryRequest) -> list[BlockVersion]:
    return block_history.history(services, _target(request))


def get_block_diff(services: Services, request: GetBlockDiffRequest) -> str:
    return block_history.diff(services, _target(request), request.older, request.newer)


def rollback_block(services: Services, request: RollbackBlockRequest) -> Block:
    return block_history.rollback(
        services, _target(request), request.version, **_edit_options(request)
    )


def attach_block(services: Services, request: AttachBlockRequest) -> Block:
    return blocks.attach(services, request.agent, request.block)


def detach_block(services: Services, request: DetachBlockRequest) -> Block:
    return blocks.detach(services, request.agent, request.label)


def delete_block(services: Services, request: DeleteBlockRequest) -> Block:
    return blocks.delete(services, _target(request))


def list_block_changes(services: Services, request: ListBlockChangesRequest) -> list[BlockChange]:
    return block_history.changes(services, _place(request), request.since)


def get_blocks_fingerprint(services: Services, request: GetBlocksFingerprintRequest) -> str:
    return block_history.mark(services, _place(request))


def search_blocks(services: Services, request: SearchBlocksRequest) -> list[BlockHit]:
    place = _place(request)
    return block_search.search(services, request.query, place, limit=request.limit)


HANDLERS: Handlers = {
    CreateBlockRequest: create_block,
    ListBlocksRequest: list_blocks,
    GetBlockRequest: get_block,
    SetBlockRequest: set_block,
    AppendBlockRequest: append_block,
    ReplaceInBlockRequest: replace_in_block,
    InsertInBlockRequest: insert_in_block,
    UpdateBlockRequest: update_block,
    GetBlockHistoryRequest: get_block_history,
    GetBlockDiffRequest: get_block_diff,
    RollbackBlockRequest: rollback_block,
    AttachBlockRequest: attach_block,
    DetachBlockRequest: detach_block,
    DeleteBlockRequest: delete_block,
    ListBlockChangesRequest: list_block_changes,
    GetBlocksFingerprintRequest: get_blocks_fingerprint,
    SearchBlocksRequest: search_blocks,
}

"""
Assemble the context bundle for a task: read every tier, keep within the budget, log the result.

Tier 1 (always): system prompt, persona, loaded skills. Tier 2: the blocks of the project and
global ones. Tier 3 (for this task): memories, earlier messages, recent conversations, the current
file and its history, the open files. Tier 4: pins, and the project's decisions. context/bundle.py
decides what fits; this file only reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.config import expand_home
from recollect.context.bundle import BundleInput, BundleOptions, assemble_bundle
from recollect.context.bundle_selection import (
    RequestAim,
    newer_sides_first,
    select_hits,
    select_messages,
)
from recollect.context.earlier_messages import BundleLine
from recollect.context.memory_lines import is_perhaps_pasted_memory
from recollect.context.speaker_label import is_perhaps_pasted
from recollect.context.token_budget import BudgetShares
from recollect.context.tool_call_groups import answered_call_ids
from recollect.domain.block import Block
from recollect.domain.context_bundle import Bundle, DroppedItem
from recollect.domain.conversation import (
    Message,
    MessageFilters,
    MessageHit,
    Pin,
    Role,
    Summary,
)
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.retrieval import Hit, LoggedItem, ResolvedQuery
from recollect.domain.scope import Owner, Scope, Viewer
from recollect.engine.judges.durability import says_something_durable
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.retrieval.message_search import ResolvedMessageQuery, find_messages
from recollect.retrieval.time_query import TimeQuery, TimeRange, parse_time_query
from recollect.service import validate
from recollect.service.agents import prompt_metadata
from recollect.service.block_lookup import BlockPlace, resolve_place, visible_blocks
from recollect.service.disk.allowed_roots import require_readable
from recollect.service.disk.file_history import file_history
from recollect.service.disk.git_checkout import find_checkout
from recollect.service.files import read_windows
from recollect.service.memory_query import MemoryQuery, resolve_query
from recollect.service.place_lookup import find_agent, find_viewer, place_of
from recollect.service.query_snapshot import QuerySnapshot, read_for_query, with_query
from recollect.service.retrieval_log import log_query, logged_hits
from recollect.service.search_memories import run_query, unranked_hits
from recollect.service.search_messages import SPOKEN, TOOL_NAME
from recollect.service.services import Services
from recollect.service.shared_material import SharedMaterial, add_shared
from recollect.store.protocol import Tables
from recollect.store.values import OpenFileWindow
from recollect.text.request_kind import (
    asks_about_own_affairs,
    asks_about_past,
    asks_how_to,
    content_words,
    has_words_to_search,
    is_answer_preference,
    is_instruction,
)
from recollect.text.speaker_intent import intended_speaker
from recollect.text.token_counter import cached_count, counter_for
from recollect.wire.requests.recollect import ContextForRequest
from recollect.wire.requests.shared import BlockPlaceFields

HITS = 40
QUICK_HITS = 10
PREFERENCES_AMONG = 50  # the newest memories, among which answer preferences are looked for
MAX_PREFERENCES = 3
EXTRA_MESSAGES = 80  # searched for, at most, because hits that the model already sees are dropped
TOPICS = 5
SUMMARIES = 2  # of earlier conversations about the task
COMMITS = 5
OPENING_MESSAGES = 5  # of a conversation, among which its first typed message is looked for
FILE_HITS = 5
HISTORY = 400  # messages that are read from the end of the conversation
MAX_CONFLICTS = 3  # contradicting memories that are included for one memory
QUICK = "meaning was not compared: a quick answer was asked for"
WHY_CONFLICT = "Contradicts a memory of the bundle."
WHY_PREFERENCE = "Answer preference: included with every non-empty bundle."


@dataclass(frozen=True)
class _ResolvedRequest:
    """A request, the place it comes from, and the blocks that are seen from there."""

    request: ContextForRequest
    query: MemoryQuery
    viewer: Viewer
    place: BlockPlace
    blocks: tuple[Block, ...]
    visible_texts: frozenset[str]

    @property
    def conversation_id(self) -> str:
        return self.place.conversation.id if self.place.conversation else ""


@dataclass(frozen=True, kw_only=True)
class _Surroundings:
    """All that is read for a request except the memories that match."""

    resolved: _ResolvedRequest
    query: ResolvedQuery
    asked_at: datetime
    time: TimeQuery | None  # what the task says of time
    aim: RequestAim
    history: tuple[Message, ...] | None  # None: not asked for
    in_context: int  # messages of the conversation that are not compacted
    summary: Summary | None
    pins: tuple[Pin, ...]
    preferences: Sequence[Hit]
    messages: tuple[MessageHit, ...]  # earlier ones that match


@dataclass(frozen=True)
class _Material:
    """Everything that is read for a bundle, in one transaction."""

    resolved: _ResolvedRequest
    hits: tuple[Hit, ...]  # all that were found
    left_out: tuple[DroppedItem, ...]  # hits without a line in the bundle
    notes: tuple[str, ...]
    bundle: BundleInput  # without what is read from the disk
    open_windows: tuple[OpenFileWindow, ...]


def context_for(
    services: Services,
    request: ContextForRequest,
    *,
    embeds_pending: bool = True,
    shared: Sequence[SharedMaterial] = (),
) -> Bundle:
    """
    Return what an agent should know for a task, within a token budget.

    A caller that has just stored the task as a message need not wait until that is embedded.
    *shared* is what other stores have for the same task: those of projects with members.
    """
    model = request.model.strip()
    shares = _shares(request.shares)
    task = validate.query_of(request.task)
    material = _read_material(services, request, task, embeds_pending=embeds_pending)
    agent = material.resolved.place.agent
    counter = counter_for(model or (agent.model if agent else ""))
    options = BundleOptions(
        budget_tokens=request.budget_tokens,
        count=cached_count(counter),
        shares=shares,
        form=request.form,
        line_numbers=request.line_numbers,
    )
    inputs = replace(
        add_shared(material.bundle, shared),
        file=_file_lines(services, request),  # runs git, so not inside the transaction
        open_files=tuple(read_windows(services, material.open_windows)),
    )
    bundle = assemble_bundle(inputs, options)
    chosen_ids = {hit.memory.id for hit in inputs.hits}
    left_out = (item for item in material.left_out if item.item_id not in chosen_ids)
    bundle = replace(bundle, dropped=(*bundle.dropped, *left_out))
    return _log_bundle(services, material, bundle, f"tokens counted as {counter.name}")


def shared_material(services: Services, request: ContextForRequest) -> SharedMaterial:
    """Return the memories and blocks that this store has for a task, for the bundle of another."""
    material = _read_material(services, request, validate.query_of(request.task))
    return SharedMaterial(material.bundle.hits, material.resolved.blocks)


def _read_material(
    services: Services, request: ContextForRequest, task: str, *, embeds_pending: bool = True
) -> _Material:
    def read_all(snapshot: QuerySnapshot) -> _Material:
        return _material_of(services, snapshot, request, task)

    if request.quick:
        with services.store.read() as tables:
            return read_all(QuerySnapshot(tables, None, QUICK))
    return read_for_query(services, task, read_all, embeds_pending=embeds_pending)


def _material_of(
    services: Services, snapshot: QuerySnapshot, request: ContextForRequest, task: str
) -> _Material:
    tables = snapshot.tables
    resolved = _resolve_request(tables, request, task)
    agent = resolved.place.agent
    windows = tuple(tables.files.open_windows(agent.id)) if agent else ()
    query = resolve_query(services, tables, resolved.query, resolved.viewer)
    surroundings = _read_surroundings(services, snapshot, resolved, query)
    candidates: Sequence[Hit] = ()
    notes = ["the query has no words to search for"]
    if has_words_to_search(task):
        candidates, notes = run_query(snapshot, query)
    bundle, left_out = _bundle_input(services, snapshot, surroundings, candidates)
    hits = {hit.memory.id: hit for hit in (*bundle.hits, *candidates)}
    return _Material(resolved, tuple(hits.values()), left_out, tuple(notes), bundle, windows)


def _read_surroundings(
    services: Services, snapshot: QuerySnapshot, resolved: _ResolvedRequest, query: ResolvedQuery
) -> _Surroundings:
    """
    Read all but the memories that match.

    What needs no vector comes first, and then the messages, of which much is read by words: the
    query may still be embedded.
    """
    request, conversation, tables = resolved.request, resolved.place.conversation, snapshot.tables
    asked_at = request.asked_at or services.clock.now()
    time = parse_time_query(resolved.query.query, asked_at=asked_at)
    aim = _request_aim(resolved, time)
    history: tuple[Message, ...] | None = None
    in_context = 0
    summaries: Sequence[Summary] = ()
    if conversation is not None and request.history:
        latest = tables.messages.in_context(conversation.id, last=HISTORY)
        history = tuple(_drop_orphaned_tool_results(latest))
        in_context = tables.messages.count(conversation.id)[1]
        summaries = tables.conversations.summaries(conversation.id)
    pins = tables.conversations.pins(conversation.id) if conversation else []
    preferences: Sequence[Hit] = ()
    if aim.is_instruction or has_words_to_search(resolved.query.query):
        preferences = _answer_preferences(tables, query)
    return _Surroundings(
        resolved=resolved,
        query=query,
        asked_at=asked_at,
        time=time,
        aim=aim,
        history=history,
        in_context=in_context,
        summary=summaries[-1] if summaries else None,
        pins=tuple(pin for pin in pins if pin.active),
        preferences=preferences,
        messages=_message_hits(snapshot, resolved, history or (), time),
    )


def _request_aim(resolved: _ResolvedRequest, time: TimeQuery | None) -> RequestAim:
    """Return what the request asks for."""
    task = resolved.query.query
    return RequestAim(
        word_count=len(content_words(task)),
        is_instruction=is_instruction(task),
        is_own_affair=asks_about_own_affairs(task),
        is_how_to=asks_how_to(task),
        project_id=resolved.viewer.project_id or "",
        about_past=time is not None or asks_about_past(task),
        time_range=_bounded_range(time),
        speaker=intended_speaker(task),
    )


def _bounded_range(time: TimeQuery | None) -> tuple[datetime, datetime] | None:
    """Return the time of which a request asks for everything, if it has a start and an end."""
    if time is None or time.time is None or not time.include_all or time.time.session_count:
        return None
    start, end = time.time.start, time.time.end
    return (start, end) if start is not None and end is not None else None


def _resolve_request(tables: Tables, request: ContextForRequest, task: str) -> _ResolvedRequest:
    """Look up who asks; a conversation brings its agent, its project and itself as the session."""
    where = place_of(request)
    agent = find_agent(tables, request.agent.strip()) if request.agent is not None else None
    is_new_agent = request.agent is not None and agent is None
    blocks: tuple[Block, ...] = ()
    if is_new_agent and request.conversation is None:
        viewer = find_viewer(tables, where)
        place = BlockPlace(project_id=viewer.project_id)
    else:
        place = BlockPlace(agent=agent)
        if request.conversation is not None:
            fields = BlockPlaceFields(agent=request.agent, conversation=request.conversation)
            place = resolve_place(tables, fields)
        if where.project is None and where.repo is None and place.project_id is not None:
            project = tables.projects.project(place.project_id)
            where = replace(where, project=project.id if project else None)
        if place.agent is not None:
            where = replace(where, agent=place.agent.id)
        if place.conversation is not None:
            where = replace(where, session=where.session or place.conversation.id)
        viewer = find_viewer(tables, replace(where, agent=None))
        viewer = replace(viewer, agent_id=place.agent.id if place.agent else None)
        if where.project is not None or where.repo is not None:
            place = replace(place, project_id=viewer.project_id)
        blocks = tuple(visible_blocks(tables, place, viewer.linked_project_ids))
    is_work = viewer.project_id is not None and is_instruction(task)
    about_past = asks_about_past(task)
    query = MemoryQuery(
        query=task,
        place=where,
        asked_at=request.asked_at,
        limit=QUICK_HITS if request.quick else HITS,
        unreviewed=True,
        session_records=about_past,
        below_threshold=is_work,
        for_bundle=not is_work and not about_past,
    )
    visible_texts = frozenset(text.strip() for text in request.visible_texts)
    return _ResolvedRequest(request, query, viewer, place, blocks, visible_texts)


def _bundle_input(
    services: Services,
    snapshot: QuerySnapshot,
    surroundings: _Surroundings,
    candidates: Sequence[Hit],
) -> tuple[BundleInput, tuple[DroppedItem, ...]]:
    """Return everything the bundle is made from, and the hits without a line in it."""
    resolved, tables = surroundings.resolved, snapshot.tables
    request, agent, time = resolved.request, resolved.place.agent, surroundings.time
    aim, in_context = surroundings.aim, surroundings.in_context
    memories = select_hits(candidates, aim)
    relevant_hits = [*memories.hits, *_file_hits(services, snapshot, resolved)]
    hits = _with_other_sides(tables, surroundings.query, relevant_hits)
    messages = select_messages(
        surroundings.messages,
        aim,
        memories=hits,
        limit=request.message_limit,
        is_durable=says_something_durable,
    )
    if hits or messages.messages or aim.is_instruction:
        hits += surroundings.preferences
    topics: tuple[BundleLine, ...] = ()
    if not resolved.query.query.strip() or (time is not None and time.include_all):
        topics = (
            *_summaries(tables, resolved, surroundings.messages),
            *_topics(tables, resolved, surroundings.messages),
        )
    metadata = None
    if request.metadata and agent is not None:
        metadata = prompt_metadata(
            tables, agent, resolved.blocks, surroundings.asked_at, in_context
        )
    inputs = BundleInput(
        hits=tuple({hit.memory.id: hit for hit in reversed(hits)}.values())[::-1],
        repeated_on=memories.repeated_on,
        system_prompt=agent.system_prompt if agent else "",
        blocks=resolved.blocks,
        summary=surroundings.summary,
        pins=surroundings.pins,
        messages=messages.messages,
        messages_found=surroundings.messages,
        times_said=messages.times_said,
        topics=topics,
        history=surroundings.history,
        older=in_context - len(surroundings.history or ()),
        metadata=metadata,
    )
    return inputs, (*memories.left_out, *messages.left_out)


def _message_hits(
    snapshot: QuerySnapshot,
    resolved: _ResolvedRequest,
    history: Sequence[Message],
    time: TimeQuery | None,
) -> tuple[MessageHit, ...]:
    """Return the best earlier messages that the model does not see anyway."""
    request, agent, text = resolved.request, resolved.place.agent, resolved.query.query
    if agent is None or not request.message_limit or not has_words_to_search(text):
        return ()
    query = ResolvedMessageQuery(
        text=text,
        agent_id=agent.id,
        owner=Owner(Scope.AGENT, agent.id),
        filters=MessageFilters(
            roles=SPOKEN,
            besides_conversation=None if request.history else resolved.conversation_id or None,
            project_id=resolved.place.project_id,
            besides_calls_of=TOOL_NAME,
        ),
        limit=request.message_limit
        + min(len(history) + len(resolved.visible_texts), EXTRA_MESSAGES),
    )
    when = time.time if time is not None else None
    if time is not None and when is not None and when.session_count is None:
        time_range = TimeRange(start=when.start, end=when.end)
        query = replace(query, text=time.topic, time_range=time_range, include_all=time.include_all)
    ids = {message.id for message in history}
    hits = [
        hit
        for hit in find_messages(snapshot.tables, query, snapshot.vector)
        if hit.message.id not in ids and hit.message.content.strip() not in resolved.visible_texts
    ]
    in_time = [hit for hit in hits if hit.parts.in_time]
    return tuple((in_time or hits)[: request.message_limit])


def _drop_orphaned_tool_results(messages: Sequence[Message]) -> Sequence[Message]:
    """Drop leading tool results whose tool call is not in *messages*."""
    start = 0
    while len(messages) == HISTORY and start < len(messages) and answered_call_ids(messages[start]):
        start += 1
    return messages[start:]


def _summaries(
    tables: Tables, resolved: _ResolvedRequest, hits: Sequence[MessageHit]
) -> tuple[BundleLine, ...]:
    """Return the summaries of other conversations that the hits come from."""
    ids = dict.fromkeys(hit.message.conversation_id for hit in hits)
    ids.pop(resolved.conversation_id, None)
    summaries = tables.conversations.last_summaries(list(ids)[:SUMMARIES])
    return tuple(
        (summary.id, f"{summary.created_at:%Y-%m-%d}: {summary.content}")
        for conversation_id in ids
        if (summary := summaries.get(conversation_id)) is not None
    )


def _topics(
    tables: Tables, resolved: _ResolvedRequest, hits: Sequence[MessageHit]
) -> tuple[BundleLine, ...]:
    """Return the topics of the last conversations: their title, or the first typed message."""
    if resolved.place.agent is None:
        return ()
    latest = tables.conversations.latest(
        resolved.place.agent.id, project_id=resolved.place.project_id, limit=TOPICS + 1
    )
    earlier = [
        conversation for conversation in latest if conversation.id != resolved.conversation_id
    ][:TOPICS]
    # A first message that the model sees anyway is not repeated.
    visible = {hit.message.content.strip() for hit in hits} | resolved.visible_texts
    openings = _openings(
        tables, [conversation.id for conversation in earlier if not conversation.title]
    )
    topics = [
        (conversation, conversation.title or openings.get(conversation.id, ""))
        for conversation in earlier
    ]
    return tuple(
        (conversation.id, f"{conversation.started_at:%Y-%m-%d}: {topic}")
        for conversation, topic in topics
        if topic and topic.strip() not in visible
    )


def _openings(tables: Tables, conversation_ids: Sequence[str]) -> Mapping[str, str]:
    """Return the first message that a user typed in each of some conversations, by id."""
    openings: dict[str, str] = {}
    if not conversation_ids:
        return openings
    for message in tables.messages.openings(conversation_ids, limit=OPENING_MESSAGES):
        if message.conversation_id in openings or message.role is not Role.USER:
            continue  # whether a text was pasted is looked at only if it may be the one
        if message.content and not is_perhaps_pasted(message):
            openings[message.conversation_id] = message.content
    return openings


def _with_other_sides(tables: Tables, query: ResolvedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """Return *hits* and what contradicts each, the newer side of a conflict first."""
    hit_ids = {hit.memory.id for hit in hits}
    missing = [other_id for hit in hits for other_id in hit.conflicts[:MAX_CONFLICTS]]
    missing = [other_id for other_id in dict.fromkeys(missing) if other_id not in hit_ids]
    others = tables.memories.get_many(missing) if missing else []
    visible = [other for other in others if query.filters.violation(other) is None]
    # What a weak match replaced is not relevant to the request; what replaced it is.
    bearing_ids = {
        other.id
        for other in visible
        for hit in hits
        if other.id in hit.conflicts
        and not (hit.is_weak and other.observed_at < hit.memory.observed_at)
    }
    visible = [other for other in visible if other.id in bearing_ids]
    return newer_sides_first([*hits, *unranked_hits(tables, visible, WHY_CONFLICT)])


def _answer_preferences(tables: Tables, query: ResolvedQuery) -> list[Hit]:
    """Return the newest preferences about how to answer or address the person."""
    types = frozenset(MemoryType) - {MemoryType.EPISODE}
    ids = tables.memories.newest_ids(
        query.owners, replace(query.filters, types=types), PREFERENCES_AMONG
    )
    if len(ids) == PREFERENCES_AMONG:  # older ones are looked for among what is about the person
        profile = replace(query.filters, types=frozenset({MemoryType.PROFILE}))
        ids += tables.memories.newest_ids(query.owners, profile, PREFERENCES_AMONG)
    # Of most only the content is looked at.
    contents = tables.memories.contents(ids)
    ids = [id_ for id_ in dict.fromkeys(ids) if is_answer_preference(contents.get(id_, ""))]
    preferences = [
        memory for memory in tables.memories.get_many(ids) if _is_for_every_answer(memory)
    ]
    return unranked_hits(tables, preferences[:MAX_PREFERENCES], WHY_PREFERENCE)


def _is_for_every_answer(memory: Memory) -> bool:
    if is_perhaps_pasted_memory(memory):
        return False
    # What a project says about answers is mostly about its subject: "the bank answers by mail".
    is_personal = memory.scope in (Scope.GLOBAL, Scope.AGENT)
    return is_personal or memory.type is MemoryType.PROFILE


def _file_hits(
    services: Services, snapshot: QuerySnapshot, resolved: _ResolvedRequest
) -> list[Hit]:
    """Return memories that contain the name of the current file."""
    if resolved.request.file is None:
        return []
    name = _absolute_path(resolved.request.file).name
    query = replace(resolved.query, query=name, limit=FILE_HITS)
    file_query = resolve_query(services, snapshot.tables, query, resolved.viewer)
    hits, _ = run_query(with_query(services, snapshot, name), file_query)
    return [hit for hit in hits if name.lower() in hit.memory.content.lower()]


def _file_lines(services: Services, request: ContextForRequest) -> tuple[BundleLine, ...]:
    """Return the current file and its last commits, a line each."""
    if request.file is None:
        return ()
    path = require_readable(_absolute_path(request.file), services.readable_folders)
    root = find_checkout(path).root
    real_path = path.resolve()
    name = real_path.relative_to(root) if real_path.is_relative_to(root) else real_path.name
    lines = [("file", str(name))]
    if path.exists():
        for commit in file_history(path, roots=[root], limit=COMMITS):
            head = f"{commit.authored_at:%Y-%m-%d} {commit.hash[:8]}"
            lines.append((commit.hash, f"{head} {commit.subject} ({commit.author})"))
    return tuple(lines)


def _absolute_path(file: str) -> Path:
    return expand_home(file).absolute()


def _log_bundle(services: Services, material: _Material, bundle: Bundle, note: str) -> Bundle:
    reasons = {item.item_id: f"dropped: {item.reason}" for item in bundle.dropped}
    hits = logged_hits(material.hits, reasons)
    items = [LoggedItem(kind="block", item_id=block.id) for block in bundle.blocks]
    items += [LoggedItem(kind="pin", item_id=pin.id) for pin in bundle.pins]
    items += [
        LoggedItem(kind="message", item_id=hit.message.id, outcome=hit.explanation)
        for hit in bundle.messages
    ]
    if bundle.summary is not None:
        items.append(LoggedItem(kind="summary", item_id=bundle.summary.id))
    items += [
        LoggedItem(kind=item.kind, item_id=item.item_id, outcome=f"dropped: {item.reason}")
        for item in bundle.dropped
        if item.kind != "memory"
    ]
    sizes = ", ".join(f"{section.name} {section.tokens}" for section in bundle.sections)
    notes = [*material.notes, note, *([f"tokens: {sizes}"] if sizes else [])]
    query, agent_id = material.resolved.query, material.resolved.viewer.agent_id
    retrieval_id = log_query(services, "context_for", query, hits, notes, items, agent_id=agent_id)
    return replace(bundle, retrieval_id=retrieval_id)


def _shares(shares: Any) -> BudgetShares:
    if shares is None:
        return BudgetShares()
    if not isinstance(shares, dict):
        raise InvalidInput("shares must be a dict: system, blocks, history, relevant, margin")
    unknown = sorted(set(shares) - set(BudgetShares.__dataclass_fields__))
    if unknown:
        raise InvalidInput(
            f"unknown shares: {', '.join(unknown)}; use system, blocks, history, relevant, margin"
        )
    return BudgetShares(**shares)

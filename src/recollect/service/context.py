"""
Assemble what an agent should know for a task: read every tier, keep the budget, log the whole.

Tier 1 (always): system prompt, persona, loaded skills. Tier 2: the blocks of the project and of
everybody. Tier 3 (for this task): memories, earlier messages, recent conversations, the current
file and its history. Tier 4: pins, and the project's decisions. Deciding what gets in is
context/bundle.py; this file only reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path

from recollect.config import expand_home
from recollect.context.block_prompt import PromptMetadata
from recollect.context.bundle import BundleInput, BundleOptions, assemble_bundle
from recollect.context.earlier_messages import BundleLine
from recollect.context.token_budget import BudgetShares
from recollect.context.tool_call_groups import answered_call_ids
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.context_bundle import Bundle, Form
from recollect.domain.conversation import Conversation, Message, MessageFilters, MessageHit, Role
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Filters, Hit, LoggedItem
from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput, NotFound
from recollect.retrieval.candidates import QueryVector
from recollect.retrieval.message_search import ResolvedMessageQuery, find_messages
from recollect.service import inputs, read
from recollect.service.agents import known_agent
from recollect.service.block_target import Place, found_in, visible
from recollect.service.disk.file_history import file_history
from recollect.service.disk.git import find_checkout
from recollect.service.disk.roots import within_reach
from recollect.service.places import find, where_of
from recollect.service.recall import SPOKEN, TOOL_NAME
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.token_counter import TokenCounter, counter_for
from recollect.wire.requests.recollect import MESSAGE_LIMIT, ContextForRequest

HITS = 40
PROFILE_FACTS = 50
DECISIONS = 5  # of the project, shown while the budget allows
IN_SIGHT = 80  # of the history: so many more are asked for, since it may answer best itself
TOPICS = 5
SUMMARIES = 2  # of earlier conversations that speak of the task
COMMITS = 5
FILE_HITS = 5
HISTORY = 400  # messages of the conversation that are looked at, from its end
TAGS = 20
WEAK = 0.25  # a hit with less than this share of the best one's relevance is left out of a bundle


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a caller wants assembled, checked."""

    asked: read.Question
    agent: object = None
    conversation: object = None
    file: object = None
    model: str = ""
    budget_tokens: int = 2_000
    shares: BudgetShares
    form: Form
    line_numbers: bool = False
    metadata: bool = True
    history: bool = True
    message_limit: int = MESSAGE_LIMIT
    in_sight: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Scene:
    """Where a request is made: who asks, in which project and conversation."""

    agent: Agent | None
    project_id: str | None
    conversation: Conversation | None
    blocks: tuple[Block, ...]


def request_of(request: ContextForRequest) -> Request:
    """Return what a caller wants assembled, checked."""
    count = inputs.count_of
    return Request(
        asked=read.Question(
            query=request.task[: inputs.MAX_QUERY],
            where=where_of(request),
            asked_at=request.asked_at,
            limit=HITS,
        ),
        agent=request.agent,
        conversation=request.conversation,
        file=request.file,
        model=inputs.text_of("model", request.model, most=inputs.MAX_NAME).strip(),
        budget_tokens=count("budget_tokens", request.budget_tokens, least=50, most=2_000_000),
        shares=_shares(request.shares),
        form=inputs.one_of("form", Form, request.form),
        line_numbers=request.line_numbers,
        metadata=request.metadata,
        history=request.history,
        message_limit=count("message_limit", request.message_limit, least=0, most=1_000),
        in_sight=frozenset(str(text).strip() for text in request.in_sight),
    )


def context_for(services: Services, wanted: Request) -> Bundle:
    """Return what an agent should know for a task, within a token budget."""
    wanted, scene = _scene(services, wanted)
    meaning = read.meaning_of(services, wanted.asked.query)
    hits, notes = read.answer(services, wanted.asked, meaning)
    best = max((hit.parts.relevance for hit in hits), default=0.0)
    strong = [hit for hit in hits if hit.parts.relevance >= WEAK * best]
    weak = [hit for hit in hits if hit.parts.relevance < WEAK * best]
    seen = {hit.memory.id for hit in strong}
    about_file = [one for one in _of_file(services, wanted) if one.memory.id not in seen]
    seen |= {hit.memory.id for hit in about_file}
    always = [hit for hit in _always(services, scene) if hit.memory.id not in seen]
    chosen = (*strong, *about_file, *always)
    counter = counter_for(wanted.model or (scene.agent.model if scene.agent else ""))
    given = _given(services, wanted, scene, chosen, meaning[0])
    wish = BundleOptions(
        budget_tokens=wanted.budget_tokens,
        count=cache(counter.count),  # the same lines are weighed again and again
        shares=wanted.shares,
        form=wanted.form,
        line_numbers=wanted.line_numbers,
    )
    bundle = assemble_bundle(given, wish)
    return _logged(services, wanted, bundle, chosen, weak, [*notes, _counted(counter)])


def _scene(services: Services, wanted: Request) -> tuple[Request, _Scene]:
    """Look up who asks; a conversation brings its agent, its project and itself as the session."""
    where = wanted.asked.where
    agent = wanted.agent if wanted.agent is not None else where.agent
    with services.store.read() as tables:
        if agent is not None and wanted.conversation is None and not _is_known(tables, agent):
            return wanted, _Scene(None, find(tables, where).project_id, None, ())
        place = Place(agent=agent, conversation=wanted.conversation)
        who, project_id, conversation = found_in(tables, place)
        if where.project is not None or where.repo is not None:
            project_id = find(tables, where).project_id
        elif project_id is not None:
            project = tables.projects.project(project_id)
            where = replace(where, project=project.name if project else None)
        if who is not None:
            where = replace(where, agent=who.id)
        if conversation is not None:
            where = replace(where, session=where.session or conversation.id)
        blocks = tuple(visible(tables, who, project_id, conversation))
    placed = replace(wanted, asked=replace(wanted.asked, where=where))
    return placed, _Scene(who, project_id, conversation, blocks)


def _is_known(tables: Tables, agent: object) -> bool:
    try:
        known_agent(tables, agent)
    except NotFound:
        return False
    return True


def _given(
    services: Services,
    wanted: Request,
    scene: _Scene,
    hits: Sequence[Hit],
    meaning: QueryVector | None,
) -> BundleInput:
    asked_at = wanted.asked.asked_at or services.clock.now()
    told = wanted.metadata
    agent, conversation = scene.agent, scene.conversation
    file = _file_lines(services, wanted)  # runs git: no transaction waits for it
    with services.store.read() as tables:
        history: tuple[Message, ...] | None = None
        in_context = 0
        shown = conversation if wanted.history else None
        if shown is not None:
            latest = tables.messages.in_context(shown.id, last=HISTORY)
            history = tuple(_from_a_whole_call(latest))
            in_context = tables.messages.count(shown.id)[1]
        summaries = tables.conversations.summaries(shown.id) if shown else []
        pins = tables.conversations.pins(conversation.id) if conversation else []
        messages: list[MessageHit] = []
        if agent is not None and wanted.message_limit and wanted.asked.query.strip():
            known = conversation.id if conversation and not wanted.history else None
            asking = ResolvedMessageQuery(
                text=wanted.asked.query,
                agent_id=agent.id,
                owner=Owner(Scope.AGENT, agent.id),
                filters=MessageFilters(
                    roles=SPOKEN,
                    besides_conversation=known,
                    project_id=scene.project_id,
                    besides_calls_of=TOOL_NAME,
                ),
                limit=wanted.message_limit
                + min(len(history or ()) + len(wanted.in_sight), IN_SIGHT),
            )
            meaning = read.still(services, tables, asking.text, meaning)
            messages = find_messages(tables, asking, meaning)
        ids = {message.id for message in history or ()}
        unseen = [hit for hit in messages if hit.message.id not in ids]
        strong = _strong(unseen, wanted)
        return BundleInput(
            hits=tuple(hits),
            system_prompt=agent.system_prompt if agent else "",
            blocks=scene.blocks,
            summary=summaries[-1] if summaries else None,
            pins=tuple(pin for pin in pins if pin.active),
            messages=strong,
            topics=(*_summed_up(tables, scene, strong), *_topics(tables, scene, wanted, strong)),
            file=file,
            history=history,
            older=in_context - len(history or ()),
            metadata=_metadata(tables, scene, asked_at, in_context) if told and agent else None,
        )


def _from_a_whole_call(messages: Sequence[Message]) -> Sequence[Message]:
    """Return *messages* from the first one on that does not answer a call made before them."""
    start = 0
    while len(messages) == HISTORY and start < len(messages) and answered_call_ids(messages[start]):
        start += 1
    return messages[start:]


def _strong(found: Sequence[MessageHit], wanted: Request) -> tuple[MessageHit, ...]:
    others = [hit for hit in found if hit.message.content.strip() not in wanted.in_sight]
    best = max((hit.score for hit in others), default=0.0)
    return tuple(hit for hit in others if hit.score >= WEAK * best)[: wanted.message_limit]


def _summed_up(
    tables: Tables, scene: _Scene, found: Sequence[MessageHit]
) -> tuple[BundleLine, ...]:
    """Return the summaries of the conversations that speak of this task, where they have one."""
    here = scene.conversation.id if scene.conversation else ""
    ids = dict.fromkeys(hit.message.conversation_id for hit in found)
    others = [one for one in ids if one != here][:SUMMARIES]
    summaries = tables.conversations.last_summaries(others)
    return tuple(
        (summaries[one].id, f"{summaries[one].created_at:%Y-%m-%d}: {summaries[one].content}")
        for one in others
        if one in summaries
    )


def _topics(
    tables: Tables, scene: _Scene, wanted: Request, found: Sequence[MessageHit]
) -> tuple[BundleLine, ...]:
    """Return what the last conversations were about: their title, or how they began."""
    if scene.agent is None:
        return ()
    latest = tables.conversations.latest(
        scene.agent.id, project_id=scene.project_id, limit=TOPICS + 1
    )
    here = scene.conversation.id if scene.conversation else ""
    # A beginning that was found, or is seen anyway, is not told twice.
    told = {hit.message.content.strip() for hit in found} | wanted.in_sight
    lines = []
    for one in [one for one in latest if one.id != here][:TOPICS]:
        topic = one.title or _opening(tables, one)
        if topic and topic.strip() not in told:
            lines.append((one.id, f"{one.started_at:%Y-%m-%d}: {topic}"))
    return tuple(lines)


def _opening(tables: Tables, conversation: Conversation) -> str:
    first = tables.messages.page(conversation.id, start=0, limit=5)
    return next((one.content for one in first if one.role is Role.USER and one.content), "")


def _metadata(tables: Tables, scene: _Scene, asked_at: datetime, in_context: int) -> PromptMetadata:
    assert scene.agent is not None  # only agents have metadata
    total = tables.messages.count_of_agent(scene.agent.id)
    archived, tags = tables.agents.archive_summary(scene.agent.id, tag_limit=TAGS)
    return PromptMetadata(
        now=asked_at,
        blocks_changed_at=max((block.updated_at for block in scene.blocks), default=None),
        recalled=max(total - in_context, 0),
        archived=archived,
        tags=tuple(tags),
    )


def _always(services: Services, scene: _Scene) -> list[Hit]:
    """Return facts about the user and the project's latest decisions, whatever the task."""
    with services.store.read() as tables:
        facts = _newest(tables, Owner(Scope.GLOBAL, ""), MemoryType.PROFILE, PROFILE_FACTS)
        why = "A profile fact: shown for every task while the budget allows."
        found = read.unasked(tables, facts, why)
        if scene.agent is not None and scene.project_id:
            owner = Owner(Scope.PROJECT, scene.project_id)
            made = _newest(tables, owner, MemoryType.DECISION, DECISIONS)
            why = "A decision of this project: shown while the budget allows."
            found += read.unasked(tables, made, why)
    return found


def _newest(tables: Tables, owner: Owner, kind: MemoryType, limit: int) -> list[Memory]:
    filters = Filters(types=frozenset({kind}), statuses=frozenset({Status.ACTIVE}))
    return tables.memories.newest([owner], filters, limit)


def _of_file(services: Services, wanted: Request) -> list[Hit]:
    """Return memories that speak of the current file by its name."""
    if wanted.file is None:
        return []
    name = _path(wanted.file).name
    asked = replace(wanted.asked, query=name, limit=FILE_HITS)
    hits, _ = read.answer(services, asked)
    return [hit for hit in hits if name.lower() in hit.memory.content.lower()]


def _file_lines(services: Services, wanted: Request) -> tuple[BundleLine, ...]:
    """Return the current file and its last commits, a line each."""
    if wanted.file is None:
        return ()
    path = within_reach(_path(wanted.file), services.reach)
    root = find_checkout(path).root
    shown = path.resolve()
    told = shown.relative_to(root) if shown.is_relative_to(root) else shown.name
    lines = [("file", str(told))]
    if path.exists():
        commits = file_history(path, roots=[root], limit=COMMITS)
        lines += [
            (one.hash, f"{one.authored_at:%Y-%m-%d} {one.hash[:8]} {one.subject} ({one.author})")
            for one in commits
        ]
    return tuple(lines)


def _path(file: object) -> Path:
    if not isinstance(file, str | Path) or not str(file).strip() or "\0" in str(file):
        raise InvalidInput("file must be the path of the file that is worked on")
    return expand_home(str(file)).absolute()


def _logged(
    services: Services,
    wanted: Request,
    bundle: Bundle,
    chosen: Sequence[Hit],
    weak: Sequence[Hit],
    notes: Sequence[str],
) -> Bundle:
    reasons = {one.item_id: f"dropped: {one.reason}" for one in bundle.dropped}
    shown = {hit.memory.id for hit in chosen}
    left_out = [hit for hit in weak if hit.memory.id not in shown]
    reasons |= {hit.memory.id: f"dropped: below {WEAK:.0%} of the best" for hit in left_out}
    hits = [
        read.logged(rank, hit, reasons.get(hit.memory.id, "returned"))
        for rank, hit in enumerate([*chosen, *left_out], start=1)
    ]
    items = [LoggedItem(kind="block", item_id=block.id) for block in bundle.blocks]
    items += [LoggedItem(kind="pin", item_id=pin.id) for pin in bundle.pins]
    items += [
        LoggedItem(kind="message", item_id=hit.message.id, outcome=hit.explanation)
        for hit in bundle.messages
    ]
    if bundle.summary is not None:
        items.append(LoggedItem(kind="summary", item_id=bundle.summary.id))
    items += [
        LoggedItem(kind=one.kind, item_id=one.item_id, outcome=f"dropped: {one.reason}")
        for one in bundle.dropped
        if one.kind != "memory"
    ]
    sizes = ", ".join(f"{section.name} {section.tokens}" for section in bundle.sections)
    told = [*notes, f"tokens: {sizes}"] if sizes else notes
    retrieval_id = read.log_answer(services, "context_for", wanted.asked, hits, told, items)
    return replace(bundle, retrieval_id=retrieval_id)


def _counted(counter: TokenCounter) -> str:
    return f"tokens counted as {counter.name}"


def _shares(shares: object) -> BudgetShares:
    if shares is None or isinstance(shares, BudgetShares):
        return shares or BudgetShares()
    if not isinstance(shares, dict):
        raise InvalidInput("shares must be a dict: system, blocks, history, relevant, margin")
    unknown = sorted(set(shares) - set(BudgetShares.__dataclass_fields__))
    if unknown:
        raise InvalidInput(
            f"unknown shares: {', '.join(unknown)}; use system, blocks, history, relevant, margin"
        )
    return BudgetShares(**shares)

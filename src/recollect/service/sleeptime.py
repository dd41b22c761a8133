"""
Runs of sleeptime: request one, read what was said, propose edits, list.

A run has two steps, each one transaction. First the unread messages are captured like any session,
so the engine extracts memories and the promotion policy decides on them. When the engine is done,
the edits of blocks follow: rules add lines of active memories, and a model, if one is configured
and the budget allows it, proposes edits with quotes. An edit of the agent's own block that only
adds lines in the user's words is applied; every other one is a proposal in the inbox.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.domain import block as edits
from recollect.domain.agent import Agent
from recollect.domain.block import Block, BlockAuthor, BlockChange, Edit, ProposalState
from recollect.domain.capture_event import Trigger
from recollect.domain.conversation import Conversation, Message
from recollect.domain.job import JobKind, JobState
from recollect.domain.link import Relation
from recollect.domain.memory import Memory
from recollect.domain.scope import Scope
from recollect.domain.sleeptime import (
    SleeptimeEdit,
    SleeptimeRun,
    SleeptimeState,
    SleeptimeTrigger,
)
from recollect.engine import sleeptime_prompt
from recollect.engine.budgeted_chat import complete_within_budget
from recollect.engine.learn.block_lines import BlockLine, adds_only, lines_of, with_lines
from recollect.engine.sleeptime_prompt import ModelBlockEdit
from recollect.errors import InvalidInput, NotFound, StoreClosed, TooLarge
from recollect.lazy_dataclass import dataclass
from recollect.service import block_writing as writing
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation, resolve_place, visible_blocks
from recollect.service.block_proposals import add_proposal
from recollect.service.blocks import block_or_default
from recollect.service.capture import Capture, NothingToCapture, parse_captures, store_capture
from recollect.service.end_conversation import transcript_message
from recollect.service.jobs import run_jobs_in_steps
from recollect.service.services import Services
from recollect.service.sleeptime_lease import (
    claim_run,
    holds_lease,
    record_failure,
    release_run,
)
from recollect.service.sleeptime_requests import add_request
from recollect.store.protocol import Tables
from recollect.wire.requests import sleeptime as requests
from recollect.wire.requests.blocks import AppendBlockRequest
from recollect.wire.requests.shared import BlockPlaceFields, CaptureFields

BY_RULES = "rules"
# Not the error itself: it may repeat words of the prompt, and `forget` finds them in the ledger.
NO_REPLY = "no model answered; the ledger of model calls or the daily budget says why"
MAX_MESSAGES = 2_000  # that one run reads
OPEN_RUNS = 20  # looked at in one round


@dataclass(frozen=True)
class _LabelledEdit:
    """An edit of a block; *may_apply*: it has the user's own words, which the policy accepted."""

    label: str
    edit: Edit
    may_apply: bool


def run_now(services: Services, request: requests.RunSleeptimeRequest) -> SleeptimeRun | None:
    """Read what is unread of a conversation now; None if there is nothing to read."""

    def write(tables: Tables) -> SleeptimeRun | None:
        conversation = require_conversation(tables, request.conversation)
        if conversation.agent_id is None:
            raise InvalidInput(f"conversation {conversation.id} has no agent whose memory to edit")
        if open_run := tables.sleeptime_runs.open_run(conversation.id):
            return open_run
        after = tables.sleeptime_runs.read_to(conversation.id)
        if not tables.sleeptime_runs.unread_turns(conversation.id, after=after):
            return None
        trigger = SleeptimeTrigger.REQUEST
        return add_request(tables, services, conversation.agent_id, conversation, trigger)

    run = services.store.write(write)
    if run is None:
        return None
    for _ in run_in_steps(services):
        pass
    return get_run(services, requests.GetSleeptimeRunRequest(run_id=run.id))


def list_runs(services: Services, request: requests.ListSleeptimeRunsRequest) -> list[SleeptimeRun]:
    """Return the runs of an agent, the latest first."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        runs = tables.sleeptime_runs.of_agent(agent.id, limit=request.limit)
        return [with_details(tables, run) for run in runs]


def get_run(services: Services, request: requests.GetSleeptimeRunRequest) -> SleeptimeRun:
    """Return one run."""
    with services.store.read() as tables:
        return with_details(tables, require_run(tables, request.run_id))


def require_run(tables: Tables, run_id: str) -> SleeptimeRun:
    """Return the run with that id, or raise `NotFound`."""
    run = tables.sleeptime_runs.get(run_id)
    if run is None:
        raise NotFound(f"there is no run of sleeptime {run_id!r} in this store")
    return run


def with_details(tables: Tables, run: SleeptimeRun) -> SleeptimeRun:
    """Return *run* with its edits and the memories that it learnt."""
    learnt = tuple(memory.id for memory in memories_of(tables, run))
    return replace(run, edits=tuple(tables.sleeptime_runs.edits(run.id)), memory_ids=learnt)


def memories_of(tables: Tables, run: SleeptimeRun) -> list[Memory]:
    """Return the memories that were extracted from what a run read."""
    event = tables.sources.event(run.event_id) if run.event_id else None
    if event is None or event.source_id is None:
        return []
    evidence = tables.sources.evidence_in(event.source_id)
    ids = list(dict.fromkeys(item.memory_id for item in evidence))
    memories = tables.memories.get_many(ids)
    return [memory for memory in memories if memory.provenance.event_id == event.id]


def run_in_steps(services: Services) -> Iterator[int]:
    """Begin the runs that are due, let the engine read, finish them; yield 1 after each step."""
    yield from _advance_in_steps(services)
    for _ in run_jobs_in_steps(services):
        yield 1
    yield from _advance_in_steps(services)


def _advance_in_steps(services: Services) -> Iterator[int]:
    """Begin the runs that are due, and finish those that were read."""
    if services.store.read_only_reason:
        return
    with services.store.read() as tables:
        runs = tables.sleeptime_runs.claimable(now=services.clock.now(), limit=OPEN_RUNS)
    for run in runs:
        if run.state is SleeptimeState.READING and not _is_read(services, run):
            continue
        claimed = claim_run(services, run)
        if claimed is not None:
            _advance(services, claimed)
            yield 1


def _advance(services: Services, run: SleeptimeRun) -> None:
    """Do the next step of a claimed run; if it fails, the run says so, and other runs go on."""
    try:
        if run.state is SleeptimeState.DUE:
            _begin(services, run)
        else:
            _finish(services, run)
    except StoreClosed:
        raise
    except (KeyboardInterrupt, SystemExit):
        release_run(services, run)
        raise
    except Exception as error:  # a step may fail in any way
        record_failure(services, run, error)


def _begin(services: Services, run: SleeptimeRun) -> None:
    """Capture the unread messages of a conversation for the engine."""
    with services.store.read() as tables:
        conversation = require_conversation(tables, run.conversation_id)
        start = tables.sleeptime_runs.read_to(conversation.id) + 1
        messages = tables.messages.page(conversation.id, start=start, limit=MAX_MESSAGES)
    captures, count = _captures_of(conversation, messages)
    last = messages[count - 1].position if count else start - 1

    def write(tables: Tables) -> None:
        if not holds_lease(tables, run):
            return  # it took longer than its lease, and another worker has the run
        begun = replace(
            run, first_position=start, last_position=last, attempts=0, lease_until=None, note=""
        )
        if captures:
            event = store_capture(services, tables, captures[0])
            begun = replace(begun, state=SleeptimeState.READING, event_id=event.id)
        else:
            now = services.clock.now()
            begun = replace(begun, state=SleeptimeState.DONE, made_by=BY_RULES, ended_at=now)
        tables.sleeptime_runs.set(begun)

    services.store.write(write)


def _captures_of(
    conversation: Conversation, messages: Sequence[Message]
) -> tuple[list[Capture], int]:
    """Return the capture of the first messages, and how many it has: as many as one may have."""
    fields = CaptureFields(
        project=conversation.project_id,
        agent=conversation.agent_id,
        session=conversation.id,
        title=conversation.title,
    )
    transcript = [transcript_message(message) for message in messages]
    while True:
        try:
            captures = parse_captures(transcript, fields, trigger=Trigger.CONVERSATION)
        except NothingToCapture:
            return [], len(transcript)
        except TooLarge:
            if len(transcript) == 1:
                raise
            transcript = transcript[: len(transcript) // 2]  # the next run reads the others
        else:
            return captures, len(transcript)


def _is_read(services: Services, run: SleeptimeRun) -> bool:
    """Return whether the rules have read the messages; a model may do so when its budget allows."""
    with services.store.read() as tables:
        jobs = tables.jobs.of_event(run.event_id) if run.event_id else []
    open_states = (JobState.TODO, JobState.DOING)
    return not any(job.state in open_states and job.kind is not JobKind.ASK for job in jobs)


def _finish(services: Services, run: SleeptimeRun) -> None:
    """Propose edits of blocks, apply what the policy allows, and end the run."""
    with services.store.read() as tables:
        agent = require_agent(tables, run.agent_id)
        lines = _block_lines(tables, services, run)
        place = BlockPlaceFields(agent=run.agent_id, conversation=run.conversation_id)
        blocks = visible_blocks(tables, resolve_place(tables, place))
        count = run.last_position - run.first_position + 1
        messages = tables.messages.page(
            run.conversation_id, start=run.first_position, limit=max(count, 1)
        )
    made_by, note, proposed = _ask_model(services, blocks, messages)
    changes: list[BlockChange] = []

    def write(tables: Tables) -> None:
        changes.clear()
        if not holds_lease(tables, run):
            return  # it took longer than its lease, and another worker has the run
        for edit in [*_rule_edits(tables, lines), *map(_model_edit, proposed)]:
            change = _write_edit(tables, services, run, agent, edit)
            if change is not None:
                changes.append(change)
        done = replace(run, state=SleeptimeState.DONE, made_by=made_by, note=note)
        tables.sleeptime_runs.set(replace(done, ended_at=services.clock.now(), lease_until=None))

    services.store.write(write)
    for change in changes:
        services.listeners.notify(change)


def _block_lines(tables: Tables, services: Services, run: SleeptimeRun) -> list[BlockLine]:
    memories = memories_of(tables, run)
    superseded: dict[str, list[str]] = {}
    for memory in memories:
        for link in tables.links.of_memory(memory.id):
            if link.relation is Relation.SUPERSEDES and link.from_id == memory.id:
                replaced = tables.memories.get(link.to_id)
                superseded.setdefault(memory.id, []).extend([replaced.content] if replaced else [])
    # With several agents it is not known whether all of them serve the owner.
    is_only_agent = len(tables.agents.all()) < 2
    serves_owner = services.engine.policy.single_user or (
        is_only_agent and tables.agents.works_in_projects(run.agent_id)
    )
    return lines_of(memories, serves_owner=serves_owner, superseded=superseded)


def _rule_edits(tables: Tables, lines: Sequence[BlockLine]) -> list[_LabelledEdit]:
    rejected = tables.blocks.proposals(ProposalState.REJECTED)
    edits_by_label = []
    for label in dict.fromkeys(line.label for line in lines):
        refused = [
            row
            for proposal in rejected
            if proposal.label == label
            for row in proposal.value.split("\n")
            if row not in proposal.base_value.split("\n")
        ]
        own = [line for line in lines if line.label == label]
        edit = with_lines(own, besides=refused)
        edits_by_label.append(_LabelledEdit(label, edit, may_apply=True))
    return edits_by_label


def _ask_model(
    services: Services, blocks: Sequence[Block], messages: Sequence[Message]
) -> tuple[str, str, list[ModelBlockEdit]]:
    """Return who proposed, a note, and the edits that a model proposes with a valid quote."""
    editable = [block for block in blocks if not block.read_only and not block.hidden]
    if not services.engine.uses_chat or not editable:
        return BY_RULES, "", []
    reply = complete_within_budget(
        services.engine,
        purpose=sleeptime_prompt.PURPOSE,
        system=sleeptime_prompt.SYSTEM,
        prompt=sleeptime_prompt.render_prompt(editable, messages),
        max_tokens=sleeptime_prompt.MAX_REPLY_TOKENS,
    )
    if reply.failure:
        return BY_RULES, NO_REPLY, []
    labels = {block.label for block in editable}
    parsed = sleeptime_prompt.parse_edits(reply.text)
    valid = [
        edit
        for edit in parsed
        if edit.label in labels and sleeptime_prompt.is_supported(edit, messages)
    ]
    refused = len(parsed) - len(valid)
    note = f"{refused} edits without a quote of the user were refused" if refused else ""
    return reply.model, note, valid


def _model_edit(proposed: ModelBlockEdit) -> _LabelledEdit:
    text = validate.plain_text_of("new", proposed.new)
    edit = edits.replace_once(proposed.old, text) if proposed.old else edits.append(text)
    return _LabelledEdit(proposed.label, edit, may_apply=False)  # a model worded it


def _write_edit(
    tables: Tables, services: Services, run: SleeptimeRun, agent: Agent, change: _LabelledEdit
) -> BlockChange | None:
    """Apply an edit or propose it, and record it; return the change if it was applied."""
    try:
        block = block_or_default(tables, services, _block_request(run, change.label))
        after = change.edit(block.value)
        edits.check_limit(after, block.limit)
    except (InvalidInput, NotFound, TooLarge):
        return None  # the block is full, was detached, or has no such text any more
    if block.read_only or after == block.value:
        return None
    place = len(tables.sleeptime_runs.edits(run.id))
    record = SleeptimeEdit(
        run_id=run.id,
        place=place,
        block_id=block.id,
        label=block.label,
        version_before=block.version,
    )
    is_own = block.scope is Scope.AGENT and block.owner_id == agent.id
    if change.may_apply and is_own and adds_only(block.value, after):
        edited = edits.edit_block(
            block,
            change.edit,
            by=BlockAuthor.AGENT,
            at=services.clock.now(),
            unconfirmed_author=agent.name,
        )
        writing.save_version(tables, edited, by=BlockAuthor.AGENT, reason=f"sleeptime {run.id}")
        tables.sleeptime_runs.add_edit(replace(record, version_after=edited.version))
        return writing.change_of(edited, BlockAuthor.AGENT)
    author = f"{agent.name} (sleeptime)"
    pending = tables.blocks.pending_proposals_of(block.id)
    earlier = edits.own_pending_proposal(pending, block, author)
    try:
        proposal_id = add_proposal(
            tables, services.clock, block, change.edit, author=author, reason=f"sleeptime {run.id}"
        )
    except InvalidInput:
        return None  # too many proposals wait, or the edit does not fit the text proposed before
    if proposal_id and (earlier is None or proposal_id != earlier.id):
        replaced = earlier.id if earlier is not None else ""
        tables.sleeptime_runs.add_edit(
            replace(record, proposal_id=proposal_id, replaced_proposal_id=replaced)
        )
    return None


def _block_request(run: SleeptimeRun, label: str) -> AppendBlockRequest:
    return AppendBlockRequest(
        agent=run.agent_id, conversation=run.conversation_id, label=label, text=""
    )

"""
Read the commands and file changes in a captured source, and store them for later questions.

A call is text in the tool's voice that begins with the tool's name, and the next such text without
a name is its result. The output of a tool may look like a call: formats in which results have names
too are read only where calls and results alternate. Reading is pure; `read_unread_sources` stores.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath

from recollect.domain.conversation import Message, Role
from recollect.domain.source import Source
from recollect.domain.tool_call import ActionKind, RecordedCall
from recollect.domain.transcript import Voice
from recollect.engine.learn.shell_commands import MAX_COMMAND_CHARS, is_inspection, program_name
from recollect.engine.learn.tool_actions import Action, action_of, extract_actions
from recollect.engine.source_text import SourceTurn, turns_in_source
from recollect.store.protocol import Store, Tables
from recollect.text.transcripts import claude_code_transcript, codex_transcript

MAX_CALLS = 5_000  # of one source
MAX_PATH_CHARS = 400
_RECORDED = (ActionKind.RUN, ActionKind.CHANGE)
_UNNAMED_RESULTS = (claude_code_transcript.FORMAT, codex_transcript.FORMAT)


def recorded_calls(source: Source) -> list[RecordedCall]:
    """Return the commands and file changes of *source*, in order; inspections are left out."""
    turns = turns_in_source(source)
    has_named_results = source.metadata.get("format") not in _UNNAMED_RESULTS
    messages = list(_messages(source.content, turns, has_named_results=has_named_results))
    calls: list[RecordedCall] = []
    for action in extract_actions(messages):
        calls += _calls_of(action, source, turns[action.position])
    return calls[:MAX_CALLS]


def proposed_call(tool: str, arguments: Mapping[str, object]) -> tuple[ActionKind, tuple[str, ...]]:
    """Return what a call that is not made yet would do: its kind, and its command or files."""
    action = action_of(tool, arguments)
    return action.kind, tuple(_subjects(action))


def lookup_name(kind: ActionKind, subject: str) -> str:
    """Return the name by which a call is looked up: its program, or its file without folders."""
    return program_name(subject) if kind is ActionKind.RUN else PurePath(subject).name


def read_unread_sources(store: Store, *, limit: int) -> int:
    """Store the calls of up to *limit* sources that were not read yet; return how many."""
    with store.read() as tables:
        ids = tables.tool_calls.unread_sources(limit=limit)
        sources = [tables.sources.get(source_id) for source_id in ids]
    for source_id, source in zip(ids, sources, strict=True):
        calls = recorded_calls(source) if source else []
        store.write(partial(_store_calls, source_id, calls))
    return len(ids)


def _store_calls(source_id: str, calls: Sequence[RecordedCall], tables: Tables) -> None:
    tables.tool_calls.add(source_id, calls)


def _messages(
    content: str, turns: Sequence[SourceTurn], *, has_named_results: bool
) -> Iterator[Message]:
    """Yield the calls and results among *turns* as messages, each result with its call's id."""
    unanswered: list[tuple[int, str]] = []  # position and tool
    for position, turn in enumerate(turns):
        text = content[turn.start : turn.end]
        if turn.voice is not Voice.TOOL:
            unanswered.clear()  # after a spoken message no more results arrive
            continue
        name = turn.speaker
        if name and (text == name or text.startswith(f"{name} ")):
            if has_named_results and any(tool == name for _, tool in unanswered):
                unanswered.clear()  # a second call, or an output that looks like one
                continue
            unanswered.append((position, name))
            call = {"id": str(position), "name": name, "arguments": text[len(name) + 1 :]}
            yield _message(turn, position, Role.ASSISTANT, tool_calls=(call,))
        elif unanswered:
            call_id = str(unanswered.pop(0)[0])
            yield _message(turn, position, Role.TOOL, content=text, tool_call_id=call_id)


def _message(
    turn: SourceTurn,
    position: int,
    role: Role,
    *,
    content: str = "",
    tool_calls: tuple[Mapping[str, str], ...] = (),
    tool_call_id: str = "",
) -> Message:
    return Message(
        id=str(position),
        conversation_id="",
        position=position,
        role=role,
        content=content,
        tool_calls=tool_calls,
        tool_call_id=tool_call_id,
        created_at=turn.at,
    )


def _calls_of(action: Action, source: Source, turn: SourceTurn) -> Iterator[RecordedCall]:
    if action.kind not in _RECORDED:
        return
    for subject in _subjects(action):
        if name := lookup_name(action.kind, subject):
            yield RecordedCall(
                source_id=source.id,
                session=source.session,
                kind=action.kind,
                name=name,
                subject=subject,
                outcome=action.outcome,
                error=action.error,
                start=turn.start,
                called_at=turn.at,
            )


def _subjects(action: Action) -> Iterator[str]:
    """Yield the command of an action, or each of its files; none if they are not worth storing."""
    if action.kind is ActionKind.RUN:
        command = action.subject
        if command and len(command) <= MAX_COMMAND_CHARS and not is_inspection(command):
            yield command
    elif action.kind is ActionKind.CHANGE:
        paths = dict.fromkeys(path.strip() for path in action.subject.split("\n"))
        yield from (path for path in paths if 0 < len(path) <= MAX_PATH_CHARS)

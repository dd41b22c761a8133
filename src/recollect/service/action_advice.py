"""
Say what concerns a tool call before it is made: at most one line, or nothing.

Only the user's own statements and recorded calls are quoted, never the output of a tool. Memories
are found by words alone, so no model is needed and nothing is logged; then the statement itself
decides: it must forbid a word of the action, name its file, or name another form of its command.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.provenance import StatementFlag
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Viewer, visible_owners
from recollect.domain.tool_call import (
    ActionAdvice,
    ActionKind,
    AdviceKind,
    Outcome,
    RecordedCall,
    RecordedFailure,
)
from recollect.domain.transcript import Voice
from recollect.engine.learn import action_words
from recollect.engine.learn.recorded_calls import proposed_call
from recollect.engine.learn.shell_commands import (
    has_words_of,
    program_name,
    repeats_failed_form,
    runs_program_of,
    subcommand,
)
from recollect.engine.learn.similar_errors import error_similarity
from recollect.service.action_history import failures_of
from recollect.service.place_lookup import find_viewer, place_of
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery
from recollect.text import rule_clauses
from recollect.text.lazy_pattern import LazyPattern
from recollect.wire.requests import captures as requests

MAX_QUERY_WORDS = 150
MAX_MEMORIES = 40  # that are read for one action
MAX_CALLS = 200  # that are compared
MAX_STATEMENT_CHARS = 1_000  # a longer memory is a text, not a rule
MAX_LINE_CHARS = 400
MIN_ERROR_SIMILARITY = 0.7
MIN_CLAUSE_SHARE = 2 / 3  # of the words of a clause that the action must contain

_STATUSES = frozenset({Status.ACTIVE, Status.INBOX})
_TYPES = frozenset(MemoryType) - {MemoryType.EPISODE}
# Of code that is being written: the next attempt at the same command may work.
_CODE_ERROR = LazyPattern(
    r"(?i)\b\d+ (?:failed|errors?)\b(?!:)|assert|^FAILED |error\[E\d|error TS\d|SyntaxError"
    r"|panicked"
)
_SPACES = re.compile(r"\s+")

Matcher = Callable[[Memory], AdviceKind | None]


def advice(services: Services, request: requests.GetAdviceRequest) -> ActionAdvice | None:
    """Return the line that concerns a tool call, or None."""
    arguments = request.arguments if isinstance(request.arguments, Mapping) else {}
    kind, subjects = proposed_call(request.tool, arguments)
    if not subjects:
        return None
    with services.store.read() as tables:
        viewer = find_viewer(tables, place_of(request))
        owners = visible_owners(viewer)
        if kind is ActionKind.RUN:
            [command] = subjects
            if request.error:
                return _advice_on_error(tables, request.error, command, owners)
            filters = _filters(services, viewer)
            words = frozenset[str]().union(*action_words.command_word_sets(command))
            memories = _memories_with(tables, words, owners, filters)
            rule_advice = _first_matching_memory(memories, _command_matcher(command))
            return rule_advice or _repeated_failure_advice(tables, command, owners)
        if kind is ActionKind.CHANGE and not request.error:
            filters = _filters(services, viewer)
            return _advice_on_change(tables, arguments, subjects, owners, filters)
    return None


def _advice_on_change(
    tables: Tables,
    arguments: Mapping[str, object],
    paths: Sequence[str],
    owners: Sequence[Owner],
    filters: Filters,
) -> ActionAdvice | None:
    words = frozenset[str]().union(*map(action_words.path_words, paths))
    is_prose = all(PurePath(path).suffix in action_words.PROSE_SUFFIXES for path in paths)
    added = "" if is_prose else action_words.added_text(arguments)
    text_words = action_words.text_words(added)
    memories = _memories_with(tables, [*words, *sorted(text_words - words)], owners, filters)
    return _first_matching_memory(memories, _change_matcher(paths, words, text_words))


def _command_matcher(command: str) -> Matcher:
    word_sets = action_words.command_word_sets(command)

    def match(memory: Memory) -> AdviceKind | None:
        if any(_forbids(memory, words) for words in word_sets):
            return AdviceKind.RULE
        return AdviceKind.COMMAND if _names_other_form(memory.content, command) else None

    return match


def _change_matcher(
    paths: Sequence[str], words: frozenset[str], text_words: frozenset[str]
) -> Matcher:
    def match(memory: Memory) -> AdviceKind | None:
        statement = memory.content
        is_rule = memory.type is MemoryType.DECISION or rule_clauses.prescribes(statement)
        named = rule_clauses.named_paths(statement)
        if is_rule and any(_contains_path(path, name) for path in paths for name in named):
            return AdviceKind.RULE
        if any(terms <= words for terms in rule_clauses.subject_terms(statement)):
            return AdviceKind.RULE
        return AdviceKind.RULE if text_words and _forbids(memory, text_words) else None

    return match


def _first_matching_memory(memories: Sequence[Memory], matcher: Matcher) -> ActionAdvice | None:
    """Return the advice of the best memory that concerns the action: reviewed ones first."""
    ordered = sorted(memories, key=lambda memory: (memory.is_reviewed, memory.observed_at))
    for memory in reversed(ordered):
        if (kind := matcher(memory)) is not None:
            return _advice_of(memory, kind)
    return None


def _advice_of(memory: Memory, kind: AdviceKind) -> ActionAdvice:
    review = "" if memory.is_reviewed else ", not reviewed"
    reason = memory.rationale
    is_new = bool(reason) and reason.casefold() not in memory.content.casefold()
    statement = f"{memory.content} Reason: {reason}" if is_new else memory.content
    origin = f"{memory.said_label} {memory.observed_at:%Y-%m-%d}{review}"
    text = f"The user {origin}: “{_one_line(statement)}”"
    return ActionAdvice(kind=kind, text=text, id=memory.id, is_reviewed=memory.is_reviewed)


def _forbids(memory: Memory, words: frozenset[str]) -> bool:
    """Return whether a memory forbids what an action with these words does."""
    clauses = rule_clauses.forbidden_terms(memory.content)
    clauses += [rule_clauses.clause_terms(other) for other in memory.alternatives]
    return any(_covers(terms, words) for terms in clauses if terms)


def _covers(terms: frozenset[str], words: frozenset[str]) -> bool:
    shared = len(terms & words)
    return shared == len(terms) if len(terms) <= 2 else shared / len(terms) >= MIN_CLAUSE_SHARE


def _names_other_form(statement: str, command: str) -> bool:
    """Return whether *statement* says how to do what *command* does, in another form."""
    commands = rule_clauses.named_commands(statement)
    prose = statement
    for named in commands:
        prose = prose.replace(named, " ")
    prose_words = rule_clauses.word_roots(re.findall(r"[\w-]+", prose))
    task = rule_clauses.word_root(subcommand(command))
    same = [
        named
        for named in commands
        if runs_program_of(command, named)
        and (task in prose_words or task == rule_clauses.word_root(subcommand(named)))
    ]
    return bool(same) and not any(has_words_of(command, named) for named in same)


def _contains_path(path: str, named: str) -> bool:
    """Return whether the file *path* is the one a statement names, or in the folder it names."""
    parts = PurePath(path).parts
    named_parts = [part for part in PurePath(named).parts if part not in ("~", "/", ".")]
    size = len(named_parts)
    spans = (parts[start : start + size] for start in range(len(parts) - size + 1))
    return bool(named_parts) and any(list(span) == named_parts for span in spans)


def _memories_with(
    tables: Tables, words: Sequence[str] | frozenset[str], owners: Sequence[Owner], filters: Filters
) -> list[Memory]:
    """Return memories that share words with an action and may be quoted."""
    query = IndexQuery(
        kind=ItemKind.MEMORY,
        text=" ".join(list(dict.fromkeys(words))[:MAX_QUERY_WORDS]),
        vector=None,
        owners=owners,
        filters=filters,
        limit=MAX_MEMORIES,
    )
    candidates = tables.search_index.search(query).candidates
    candidates.sort(key=lambda item: -(item.word_match.score if item.word_match else 0.0))
    ids = [candidate.record.id for candidate in candidates[:MAX_MEMORIES]]
    return [memory for memory in tables.memories.get_many(ids) if _may_be_quoted(memory)]


def _filters(services: Services, viewer: Viewer) -> Filters:
    filters = Filters(types=_TYPES, statuses=_STATUSES, only_said=True, session_records=False)
    return filters.seen_by(viewer, single_user=services.settings.single_user)


def _may_be_quoted(memory: Memory) -> bool:
    """Return whether a memory was accepted, or plainly typed by the user."""
    if memory.content.rstrip().endswith("?") or len(memory.content) > MAX_STATEMENT_CHARS:
        return False
    is_typed = memory.provenance.voice is Voice.USER
    is_suspect = StatementFlag.INSTRUCTION in memory.provenance.flags
    return memory.is_reviewed or (is_typed and not is_suspect)


def _repeated_failure_advice(
    tables: Tables, command: str, owners: Sequence[Owner]
) -> ActionAdvice | None:
    """
    Return the recorded failure of a command that is run in the same form again.

    If the user declined the command the last time, return that; None if it worked the last time.
    """
    program = program_name(command)
    calls = tables.tool_calls.calls_named(ActionKind.RUN, [program], owners, limit=MAX_CALLS)
    latest = next((call for call in calls if call.subject == command), None)
    if latest is not None and latest.outcome is Outcome.DECLINED:
        text = f"The user declined this command on {latest.called_at:%Y-%m-%d}."
        return ActionAdvice(kind=AdviceKind.DECLINED, text=text, id=latest.source_id)
    if latest is not None and latest.outcome is Outcome.SUCCEEDED:
        return None
    failed = [
        call
        for call in calls
        if call.outcome is Outcome.FAILED and not _CODE_ERROR.search(call.error)
    ]
    for failure in failures_of(tables, failed, owners):
        if failure.worked and _is_repeated(command, failure, calls):
            return _failure_advice(failure)
    return None


def _is_repeated(command: str, failure: RecordedFailure, calls: Sequence[RecordedCall]) -> bool:
    """Return whether *command* fails like the recorded one, which has not worked since."""
    failed, worked = failure.call.subject, failure.worked
    if worked is None or worked.subject == failed:
        return False
    has_worked = any(
        call.outcome is Outcome.SUCCEEDED
        and call.called_at > failure.call.called_at
        and repeats_failed_form(call.subject, failed, worked.subject)
        for call in calls
    )
    return not has_worked and repeats_failed_form(command, failed, worked.subject)


def _advice_on_error(
    tables: Tables, error: str, command: str, owners: Sequence[Owner]
) -> ActionAdvice | None:
    """Return what worked after a similar error."""
    calls = tables.tool_calls.failures(owners, limit=MAX_CALLS)
    similar = [
        call for call in calls if error_similarity(error, call.error) >= MIN_ERROR_SIMILARITY
    ]
    for failure in failures_of(tables, similar, owners):
        if failure.worked and failure.worked.subject not in (failure.call.subject, command):
            return _failure_advice(failure)
    return None


def _failure_advice(failure: RecordedFailure) -> ActionAdvice:
    call, worked = failure.call, failure.worked
    assert worked is not None  # the callers check it
    text = (
        f"On {call.called_at:%Y-%m-%d} `{_one_line(call.subject)}` failed here; "
        f"`{_one_line(worked.subject)}` worked afterwards."
    )
    return ActionAdvice(kind=AdviceKind.FAILURE, text=text, id=call.source_id)


def _one_line(text: str) -> str:
    line = _SPACES.sub(" ", text).strip()
    return line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 1]}…"

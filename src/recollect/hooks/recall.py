"""
Write the text that is injected into a session: at its start, before a prompt, and at a tool call.

It uses the public operations (`briefing`, `search`, `inbox`), so every result is logged and can be
explained; the line at a tool call (`captures.advice`) names its source and is not logged. The text
is enclosed in the markers of text/fence.py, by which Recollect recognises its own text in a
transcript and does not capture it as new.
"""

import os.path
from collections.abc import Sequence
from functools import partial

from recollect.app.local_recollect import LocalRecollect
from recollect.app.place_hint import place_hint
from recollect.context.memory_lines import HEADINGS, one_line, render_memories, select_memories
from recollect.domain.context_bundle import Bundle, Citation
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.hooks import event_names
from recollect.hooks.client_events import HookEvent
from recollect.hooks.client_response import MAX_CHARS
from recollect.hooks.injected_memories import InjectedMemories
from recollect.hooks.relevance_gate import MAX_HITS, is_searchable, relevant_hits
from recollect.text.fence import INTRODUCTION, fence_bundle, fence_line
from recollect.text.fingerprint import short_hash
from recollect.text.token_counter import counter_for

START_TOKENS = 1_400  # about 1,500 with the fence and the introduction
PROMPT_TOKENS = 400
MAX_QUERY_CHARS = 4_000
SEARCH_LIMIT = 12
MAX_INBOX_COUNT = 20
MAX_NOTICE_CHARS = 1_000


def recall_text(
    rec: LocalRecollect, event: HookEvent, injected: InjectedMemories, *, is_local: bool = False
) -> str:
    """
    Return the text to inject into the session of *event*, '' if there is none.

    If the client *is_local*, it may be told paths of this machine.
    """
    if event.kind == event_names.SESSION_START:
        return _session_start_text(rec, event, injected, is_local=is_local)
    if event.kind in event_names.TOOL_EVENTS:
        return _tool_text(rec, event, injected)
    return _prompt_text(rec, event, injected) if event.kind == event_names.PROMPT else ""


def _session_start_text(
    rec: LocalRecollect, event: HookEvent, injected: InjectedMemories, *, is_local: bool
) -> str:
    notices = (_inbox_notice(rec, event), _moved_folder_notice(rec, event) if is_local else "")
    notice = "\n\n".join(filter(None, notices))
    project, session = event.project_or_cwd or None, event.session or None
    budget = START_TOKENS
    while True:
        bundle = rec.briefing(
            project=project, session=session, budget_tokens=budget, form="markdown"
        )
        text = _fence(bundle.prefix, "\n\n".join(filter(None, (bundle.text, notice))))
        if len(text) <= MAX_CHARS or budget < 100:
            break
        budget //= 2  # tokens may be long, and the client limits characters
    if len(text) > MAX_CHARS:
        text = ""
    memory_ids = [citation.memory_id for citation in bundle.citations]
    new_ids = [*_block_markers(bundle.prefix), *memory_ids]
    if event.source != "resume":
        injected.reset(new_ids)
        return text
    # The transcript that the client resumes already contains what was injected before.
    old_ids = set(injected.ids())
    injected.add(new_ids)
    return text if old_ids.isdisjoint(new_ids) else _new_text(bundle, old_ids, notice)


def _new_text(bundle: Bundle, old_ids: set[str], notice: str) -> str:
    """Return the part of *bundle* that was not injected into a resumed session before."""
    prefix = "" if old_ids.issuperset(_block_markers(bundle.prefix)) else bundle.prefix
    hits = [hit for part in bundle.sections for hit in part.hits if hit.memory.id not in old_ids]
    text, _ = _render_hits(hits, budget=START_TOKENS)
    if not prefix and not text:
        return ""
    fenced = _fence(prefix, "\n\n".join(filter(None, (text, notice))))
    return fenced if len(fenced) <= MAX_CHARS else ""


def _block_markers(prefix: str) -> list[str]:
    """Return an id that changes with the text of the blocks, [] if there are no blocks."""
    return [f"blocks {short_hash(prefix).hex()}"] if prefix else []


def _inbox_notice(rec: LocalRecollect, event: HookEvent) -> str:
    project, limit = event.project_or_cwd or None, MAX_INBOX_COUNT + 1
    candidates = rec.memories.list(
        statuses=["inbox"], limit=limit, everywhere=False, project=project
    )
    proposals = rec.blocks.proposals(project=project) if project else []
    waiting = len(candidates) + len(proposals)
    if not waiting:
        return ""
    if waiting == 1:
        return "1 memory waits for the user's review: `recollect inbox`"
    count = f"More than {MAX_INBOX_COUNT}" if waiting > MAX_INBOX_COUNT else str(waiting)
    return f"{count} memories wait for the user's review: `recollect inbox`"


def _moved_folder_notice(rec: LocalRecollect, event: HookEvent) -> str:
    """Return what the user can do if the folder of this session was perhaps renamed or moved."""
    folder = event.project_or_cwd
    if not os.path.isabs(folder) or not os.path.isdir(folder):
        return ""
    hint = one_line(place_hint(rec, folder), MAX_NOTICE_CHARS)
    return f"Tell the user: {hint}" if hint else ""


def _prompt_text(rec: LocalRecollect, event: HookEvent, injected: InjectedMemories) -> str:
    if not is_searchable(event.prompt):
        return ""
    query = _shorten_prompt(event.prompt)
    project, session = event.project_or_cwd or None, event.session or None
    hits = rec.search(query, project=project, session=session, limit=SEARCH_LIMIT)
    others = [hit for hit in hits if not _is_of_session(hit.memory, event.session)]
    others = _without_replaced_statements(others)
    old_ids = injected.ids()
    relevant = relevant_hits(others, event.prompt, injected_ids=old_ids)[:MAX_HITS]
    old_hits = [hit for hit in others if hit.memory.id in old_ids]
    rendered, citations = _render_hits(relevant, budget=PROMPT_TOKENS, already_injected=old_hits)
    text = _fence("", rendered)
    if not rendered or len(text) > MAX_CHARS:
        return ""
    injected.add(citation.memory_id for citation in citations)
    return text


def _tool_text(rec: LocalRecollect, event: HookEvent, injected: InjectedMemories) -> str:
    """Return one line about a tool call, once per session."""
    project, session = event.project_or_cwd or None, event.session or None
    advise = partial(
        rec.captures.advice, event.tool, event.arguments, project=project, session=session
    )
    advice = advise(error=event.error)
    if advice is None and event.error and event.client == event_names.GEMINI_CLI:
        advice = advise()  # it has only this event, for calls that failed and those that did not
    if advice is None:
        return ""
    # Not the id alone: what was injected at the start is repeated when it concerns the action.
    marker = f"{event_names.PRE_TOOL} {short_hash(advice.text).hex()}"
    if marker in injected.ids():
        return ""
    injected.add([marker])
    return fence_line(f"From memory, not an instruction: {advice.text} ({advice.id})")


def _without_replaced_statements(hits: Sequence[Hit]) -> list[Hit]:
    """Return *hits* without statements that nobody reviewed and that a newer hit contradicts."""
    memories = {hit.memory.id: hit.memory for hit in hits}
    replaced = {
        hit.memory.id
        for hit in hits
        for other_id in hit.conflicts
        if not hit.memory.is_reviewed
        and other_id in memories
        and memories[other_id].observed_at > hit.memory.observed_at
    }
    return [hit for hit in hits if hit.memory.id not in replaced]


def _is_of_session(memory: Memory, session: str) -> bool:
    """Return whether the session itself said it: its record, or a statement nobody reviewed."""
    is_own = bool(session) and session in (memory.session_id, memory.provenance.session)
    return (is_own and not memory.is_reviewed) or memory.is_record_of(session)


def _render_hits(
    hits: Sequence[Hit], *, budget: int, already_injected: Sequence[Hit] = ()
) -> tuple[str, list[Citation]]:
    """Return a few memories as text, and the citations in it."""
    # Each section may use the whole budget, because there are only a few memories.
    # No text has more tokens than bytes. The token tables take 50 ms to load, and are needed only
    # if that many tokens would not fit.
    select = partial(
        select_memories, hits, budget=budget, total=4 * budget, already_injected=already_injected
    )
    selected = select(count=_byte_count)
    if selected.dropped:
        selected = select(count=counter_for().count)
    lines, citations = render_memories(selected)
    parts = ["## Remembered"] if lines else []
    for section, section_lines in lines.items():
        parts += ["", f"### {HEADINGS[section]}", *section_lines]
    return "\n".join(parts), citations


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _fence(prefix: str, text: str) -> str:
    fenced, _ = fence_bundle(prefix, text)
    return f"{INTRODUCTION}\n\n{fenced}" if fenced else ""


def _shorten_prompt(prompt: str) -> str:
    """Return *prompt* as a query: if it is too long, only its beginning and its end."""
    if len(prompt) <= MAX_QUERY_CHARS:
        return prompt
    half = MAX_QUERY_CHARS // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"

"""
What memory says to a session: as it begins, and to a prompt.

The door is the same as everybody's (`briefing`, `search`, `inbox`), so every answer is logged and
can be explained. What is told stands between the marks of text/fence.py, by which Recollect knows
its own words again and does not learn them as news.
"""

from collections.abc import Sequence

from recollect.app.root import Recollect
from recollect.context.memories import HEADINGS, choose_memories, written
from recollect.domain.context import Bundle, Citation
from recollect.domain.retrieval import Hit
from recollect.hooks import names
from recollect.hooks.answers import MOST_CHARS
from recollect.hooks.events import HookEvent
from recollect.hooks.given import Given
from recollect.hooks.worth import MOST, asks_something, strong
from recollect.text.fence import OPENING, fenced_bundle
from recollect.text.fingerprint import short_hash
from recollect.text.tokens import counter_for

START_TOKENS = 1_400  # with its frame about 1,500
PROMPT_TOKENS = 400
LONGEST_QUERY = 4_000
LOOKED_AT = 12
COUNTED = 20  # of what waits; more is more


def recalled(memory: Recollect, event: HookEvent, given: Given) -> str:
    """Return what to tell the session of *event*, '' where there is nothing."""
    if event.kind == names.SESSION_START:
        return _at_start(memory, event, given)
    return _for_prompt(memory, event, given) if event.kind == names.PROMPT else ""


def _at_start(memory: Recollect, event: HookEvent, given: Given) -> str:
    waiting = _waiting(memory, event)
    budget = START_TOKENS
    while True:
        bundle = memory.briefing(
            project=event.place or None,
            session=event.session or None,
            budget_tokens=budget,
            form="markdown",
        )
        text = _framed(bundle.prefix, "\n\n".join(filter(None, (bundle.text, waiting))))
        if len(text) <= MOST_CHARS or budget < 100:
            break
        budget //= 2  # tokens may be long: a client counts characters
    if len(text) > MOST_CHARS:
        text = ""
    told = [one.memory_id for one in bundle.citations]
    blocks = _mark_of(bundle.prefix)
    if event.source != "resume":
        given.begin([*blocks, *told])
        return text
    # What it was told is in the transcript that the client goes on with.
    known = set(given.ids())
    given.add([*blocks, *told])
    return text if known.isdisjoint([*blocks, *told]) else _what_is_new(bundle, known, waiting)


def _what_is_new(bundle: Bundle, known: set[str], waiting: str) -> str:
    """Return what of *bundle* a session that goes on was not told before."""
    prefix = "" if known.issuperset(_mark_of(bundle.prefix)) else bundle.prefix
    hits = [hit for part in bundle.sections for hit in part.hits if hit.memory.id not in known]
    text, _ = _told(hits, budget=START_TOKENS)
    if not prefix and not text:
        return ""
    framed = _framed(prefix, "\n\n".join(filter(None, (text, waiting))))
    return framed if len(framed) <= MOST_CHARS else ""


def _mark_of(prefix: str) -> list[str]:
    """Return what blocks are known again by, as long as none changes; nothing where none is."""
    return [f"blocks {short_hash(prefix).hex()}"] if prefix else []


def _waiting(memory: Recollect, event: HookEvent) -> str:
    found = memory.inbox(limit=COUNTED + 1, everywhere=False, project=event.place or None)
    if not found:
        return ""
    count = f"More than {COUNTED}" if len(found) > COUNTED else str(len(found))
    things = "thing waits" if len(found) == 1 else "things wait"
    return f"{count} {things} for the user's review: recollect inbox"


def _for_prompt(memory: Recollect, event: HookEvent, given: Given) -> str:
    if not asks_something(event.prompt):
        return ""
    told = given.ids()
    hits = memory.search(
        _cut(event.prompt),
        project=event.place or None,
        session=event.session or None,
        limit=LOOKED_AT,
    )
    others = [hit for hit in hits if not hit.memory.records(event.session)]
    few = strong(others, event.prompt, besides=told)[:MOST]
    written_down, citations = _told(few, budget=PROMPT_TOKENS)
    text = _framed("", written_down)
    if not written_down or len(text) > MOST_CHARS:
        return ""
    given.add(one.memory_id for one in citations)
    return text


def _told(hits: Sequence[Hit], *, budget: int) -> tuple[str, list[Citation]]:
    """Return a few memories as text, and what each mark in it cites."""
    # Each kind may take all of the room: there are only a few.
    chosen = choose_memories(hits, budget=budget, whole=4 * budget, count=counter_for().count)
    lines, citations = written(chosen)
    parts = ["## Remembered"] if lines else []
    for name, found in lines.items():
        parts += ["", f"### {HEADINGS[name]}", *found]
    return "\n".join(parts), citations


def _framed(prefix: str, text: str) -> str:
    within, _ = fenced_bundle(prefix, text)
    return f"{OPENING}\n\n{within}" if within else ""


def _cut(prompt: str) -> str:
    """Return a prompt short enough to ask with: of a long one its beginning and its end."""
    if len(prompt) <= LONGEST_QUERY:
        return prompt
    half = LONGEST_QUERY // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"

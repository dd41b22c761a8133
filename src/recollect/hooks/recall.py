"""
What memory says to a session: as it begins, and to a prompt.

The door is the same as everybody's (`briefing`, `search`, `inbox`), so every answer is logged and
can be explained. What is told stands between the marks of text/fence.py, by which Recollect knows
its own words again and does not learn them as news.
"""

from recollect.app.root import Recollect
from recollect.context.memories import HEADINGS, choose_memories, written
from recollect.hooks import names
from recollect.hooks.answers import MOST_CHARS
from recollect.hooks.events import HookEvent
from recollect.hooks.given import Given
from recollect.hooks.worth import MOST, asks_something, strong
from recollect.text.fence import OPENING, fenced_bundle
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
    told = [one.memory_id for one in bundle.citations]
    if event.source == "resume":
        given.add(told)
    else:
        given.begin(told)
    return text if len(text) <= MOST_CHARS else ""


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
    few = strong(hits, event.prompt, besides=told)[:MOST]
    # Each kind may take all of the room: there are only a few.
    chosen = choose_memories(
        few, budget=PROMPT_TOKENS, whole=4 * PROMPT_TOKENS, count=counter_for().count
    )
    lines, citations = written(chosen)
    if not lines:
        return ""
    parts = ["## Remembered"]
    for name, found in lines.items():
        parts += ["", f"### {HEADINGS[name]}", *found]
    text = _framed("", "\n".join(parts))
    if len(text) > MOST_CHARS:
        return ""
    given.add(one.memory_id for one in citations)
    return text


def _framed(prefix: str, text: str) -> str:
    within, _ = fenced_bundle(prefix, text)
    return f"{OPENING}\n\n{within}" if within else ""


def _cut(prompt: str) -> str:
    """Return a prompt short enough to ask with: of a long one its beginning and its end."""
    if len(prompt) <= LONGEST_QUERY:
        return prompt
    half = LONGEST_QUERY // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"

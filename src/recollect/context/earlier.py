"""
Earlier messages as lines of a bundle: short ones whole, long ones cut to what they answer.

The room is shared fairly: whoever needs less than an equal part leaves the rest to the others, and
what a cut leaves over goes to a better message. Where the parts would be too small to say anything,
the least relevant messages stay out. Pure: hits in, lines out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollect.context.excerpt import excerpt
from recollect.domain.context import Dropped, Form
from recollect.domain.conversation import Message, MessageHit
from recollect.text.fence import unfenced

LEAST_TOKENS = 60  # a cut message with less room than this says too little
MOST_SHARE = 0.25  # of a bundle's budget, for one message
MOST_CHARS_A_TOKEN = 16  # a longer text is over its room without being counted

Count = Callable[[str], int]
Line = tuple[str, str]  # the id of a message, and its text


@dataclass(frozen=True)
class Earlier:
    """The messages that got in, a line each, and what was cut or left out."""

    lines: tuple[Line, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def needs(hits: Sequence[MessageHit], *, most: int, form: Form, count: Count) -> list[int]:
    """Return how many tokens each message wants, *most* at most."""
    wanted = []
    for hit in hits:
        text = unfenced(hit.message.content).strip()
        too_long = len(text) > MOST_CHARS_A_TOKEN * most
        cost = most if too_long else count(_laid_out(hit.message, text, form) + "\n")
        wanted.append(min(cost, most))
    return wanted


def choose_messages(
    hits: Sequence[MessageHit], *, room: int, most: int, form: Form, count: Count
) -> Earlier:
    """Return the lines of *hits*, best first, within *room* tokens and *most* for each."""
    wanted = needs(hits, most=most, form=form, count=count)
    shares = _shared_out(room, wanted)
    lines: dict[str, str] = {}
    dropped: list[Dropped] = []
    left = room - sum(shares)
    for hit, need, share in reversed(list(zip(hits, wanted, shares, strict=True))):
        message = hit.message
        content = unfenced(message.content)
        text = _cut(message, content, hit.matched_words, min(share + left, most), form, count)
        if not share or not text:
            reason = f"budget: {need} tokens did not fit"
            dropped.append(Dropped(kind="message", item_id=message.id, reason=reason))
            left += share
            continue
        line = _laid_out(message, text, form)
        left += share - count(line + "\n")
        lines[message.id] = line
        if text != content.strip():
            reason = f"budget: cut to {len(text)} of {len(content)} characters"
            dropped.append(Dropped(kind="message", item_id=message.id, reason=reason))
    shown = [(hit.message.id, lines[hit.message.id]) for hit in hits if hit.message.id in lines]
    return Earlier(tuple(shown), tuple(reversed(dropped)))


def _cut(
    message: Message, content: str, words: Sequence[str], budget: int, form: Form, count: Count
) -> str:
    def fits(text: str) -> bool:
        if len(text) > MOST_CHARS_A_TOKEN * budget:
            return False
        return count(_laid_out(message, text, form) + "\n") <= budget

    return excerpt(content, words, fits)


def _shared_out(room: int, wanted: Sequence[int]) -> list[int]:
    """Return the tokens of each, best first; 0 for those that would get too little."""
    for kept in range(len(wanted), 0, -1):
        shares = fair_shares(room, wanted[:kept])
        cut = [share for share, need in zip(shares, wanted, strict=False) if share < need]
        if min(cut, default=LEAST_TOKENS) >= LEAST_TOKENS:
            break
    else:
        kept, shares = 0, []
    left = room - sum(shares)
    for need in wanted[kept:]:
        share = need if need <= left else 0  # one that is short may still get in whole
        shares.append(share)
        left -= share
    return shares


def fair_shares(room: int, wanted: Sequence[int]) -> list[int]:
    """Divide *room* equally, except that nobody gets more than they want."""
    shares = [0] * len(wanted)
    left = max(room, 0)
    least_first = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    for served, at in enumerate(least_first):
        shares[at] = min(wanted[at], left // (len(wanted) - served))
        left -= shares[at]
    return shares


def _laid_out(message: Message, text: str, form: Form) -> str:
    if form is Form.TAGS:
        return f"- {message.role}, {message.created_at:%Y-%m-%d}: {' '.join(text.split())}"
    # Its lines stay lines, but indented: none can pass for a heading or for another speaker.
    kept = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"\n**{message.role.value.capitalize()}**: " + "\n    ".join(kept)

"""
Render earlier messages as lines of a bundle: short ones whole, long ones cut to the relevant part.

The tokens are divided fairly: a message that needs less than an equal share leaves the rest to the
others, and tokens left over by a cut go to a better match. If the shares would be too small, the
least relevant messages are dropped. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.context.excerpt import excerpt
from recollect.context.speaker_label import speaker_label
from recollect.context.token_budget import TokenCounter
from recollect.domain.context_bundle import BundleFormat, DroppedItem
from recollect.domain.conversation import Message, MessageHit
from recollect.text.fence import escape_fence_tags

MIN_TOKENS = 60  # a message is not cut shorter than this
MAX_SHARE = 0.25  # of a bundle's budget that one message may use
MAX_CHARS_PER_TOKEN = 16  # a longer text exceeds its limit; it is not counted

BundleLine = tuple[str, str]  # the id of an item, and its text


@dataclass(frozen=True)
class EarlierMessages:
    """A line for each message included, and what was cut or dropped."""

    lines: tuple[BundleLine, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()


def token_needs(
    hits: Sequence[MessageHit], *, most: int, form: BundleFormat, count: TokenCounter
) -> list[int]:
    """Return the tokens each message needs, at most *most*."""
    needs = []
    for hit in hits:
        text = escape_fence_tags(hit.message.content).strip()
        too_long = len(text) > MAX_CHARS_PER_TOKEN * most
        cost = most if too_long else count(_render_line(hit.message, text, form) + "\n")
        needs.append(min(cost, most))
    return needs


def select_messages(
    hits: Sequence[MessageHit], *, room: int, most: int, form: BundleFormat, count: TokenCounter
) -> EarlierMessages:
    """Return the lines of *hits*, best first, within *room* tokens and *most* for each."""
    needs = token_needs(hits, most=most, form=form, count=count)
    shares = _divide_room(room, needs)
    lines: dict[str, str] = {}
    dropped: list[DroppedItem] = []
    left = room - sum(shares)
    for hit, need, share in reversed(list(zip(hits, needs, shares, strict=True))):
        message = hit.message
        content = escape_fence_tags(message.content)
        text = _fit_excerpt(hit, min(share + left, most), form, count)
        if not share or not text:
            reason = f"budget: {need} tokens did not fit"
            dropped.append(DroppedItem(kind="message", item_id=message.id, reason=reason))
            left += share
            continue
        line = _render_line(message, text, form)
        left += share - count(line + "\n")
        lines[message.id] = line
        if text != content.strip():
            reason = f"budget: cut to {len(text)} of {len(content)} characters"
            dropped.append(DroppedItem(kind="message", item_id=message.id, reason=reason))
    selected = [(hit.message.id, lines[hit.message.id]) for hit in hits if hit.message.id in lines]
    return EarlierMessages(tuple(selected), tuple(reversed(dropped)))


def _fit_excerpt(hit: MessageHit, budget: int, form: BundleFormat, count: TokenCounter) -> str:
    def fits(text: str) -> bool:
        if len(text) > MAX_CHARS_PER_TOKEN * budget:
            return False
        return count(_render_line(hit.message, text, form) + "\n") <= budget

    return excerpt(escape_fence_tags(hit.message.content), hit.matched_words, fits)


def _divide_room(room: int, needs: Sequence[int]) -> list[int]:
    """Return the tokens of each message, best first; 0 for those whose share is too small."""
    for served in range(len(needs), 0, -1):
        shares = fair_shares(room, needs[:served])
        cut = [share for share, need in zip(shares, needs, strict=False) if share < need]
        if min(cut, default=MIN_TOKENS) >= MIN_TOKENS:
            break
    else:
        served, shares = 0, []
    left = room - sum(shares)
    for need in needs[served:]:
        share = need if need <= left else 0  # a short message may still fit whole
        shares.append(share)
        left -= share
    return shares


def fair_shares(room: int, needs: Sequence[int]) -> list[int]:
    """Divide *room* equally, but give no item more than it needs."""
    shares = [0] * len(needs)
    left = max(room, 0)
    least_first = sorted(range(len(needs)), key=lambda index: (needs[index], index))
    for served, index in enumerate(least_first):
        shares[index] = min(needs[index], left // (len(needs) - served))
        left -= shares[index]
    return shares


def _render_line(message: Message, text: str, form: BundleFormat) -> str:
    speaker = speaker_label(message)
    if form is BundleFormat.TAGS:
        return f"- {speaker}, {message.created_at:%Y-%m-%d}: {' '.join(text.split())}"
    # Lines are indented so that none can look like a heading or another speaker.
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"\n**{speaker.capitalize()}**: " + "\n    ".join(lines)

"""
Render earlier messages as dated lines in time order: long ones cut to the relevant part.

The tokens are divided fairly: a message that needs less than an equal share leaves the rest to the
others, and tokens left over by a cut go to a better match. If the shares would be too small, the
least relevant messages are dropped. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from recollect.context.excerpt import excerpt, relevant_sentences
from recollect.context.speaker_label import speaker_label
from recollect.context.token_budget import TokenCounter
from recollect.domain.context_bundle import BundleFormat, DroppedItem
from recollect.domain.conversation import Message, MessageHit
from recollect.lazy_dataclass import dataclass
from recollect.text.fence import escape_fence_tags

MIN_TOKENS = 60  # a message is not cut shorter than this
MAX_SHARE = 0.25  # of a bundle's budget that one message may use
MAX_CHARS_PER_TOKEN = 16  # a longer text exceeds its limit; it is not counted

BundleLine = tuple[str, str]  # the id of an item, and its text


@dataclass(frozen=True)
class MessageForm:
    """How a message is written, and how often each was said, if more than once."""

    bundle_format: BundleFormat
    times_said: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class EarlierMessages:
    """A line for each message included, and what was cut or dropped."""

    lines: tuple[BundleLine, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()


def token_needs(
    hits: Sequence[MessageHit], *, max_tokens: int, form: MessageForm, count: TokenCounter
) -> list[int]:
    """Return the tokens each message needs, at most *max_tokens*."""
    needs = []
    for hit in hits:
        text = _matching_excerpt(hit)
        too_long = len(text) > MAX_CHARS_PER_TOKEN * max_tokens
        cost = max_tokens if too_long else count(_render_line(hit.message, text, form) + "\n")
        needs.append(min(cost, max_tokens))
    return needs


def fit_messages(
    hits: Sequence[MessageHit],
    *,
    budget: int,
    max_tokens: int,
    form: MessageForm,
    count: TokenCounter,
) -> EarlierMessages:
    """Return the lines of *hits* (best first) in time order, within *budget* tokens."""
    needs = token_needs(hits, max_tokens=max_tokens, form=form, count=count)
    shares = _divide_budget(budget, needs)
    lines: dict[str, str] = {}
    dropped: list[DroppedItem] = []
    unused = budget - sum(shares)
    for hit, need, share in reversed(list(zip(hits, needs, shares, strict=True))):
        message = hit.message
        content = escape_fence_tags(message.content)
        whole = _matching_excerpt(hit)
        text = _fit_excerpt(hit, min(share + unused, max_tokens), form, count)
        if not share or not text:
            reason = f"budget: {need} tokens did not fit"
            dropped.append(DroppedItem(kind="message", item_id=message.id, reason=reason))
            unused += share
            continue
        line = _render_line(message, text, form)
        unused += share - count(line + "\n")
        lines[message.id] = line
        if text != content.strip():
            why = "other sentences" if text == whole else "budget"
            reason = f"{why}: cut to {len(text)} of {len(content)} characters"
            dropped.append(DroppedItem(kind="message", item_id=message.id, reason=reason))
    in_time_order = [hit.message.id for hit in sorted(hits, key=time_key)]
    selected = [
        (message_id, lines[message_id]) for message_id in in_time_order if message_id in lines
    ]
    return EarlierMessages(tuple(selected), tuple(reversed(dropped)))


def time_key(hit: MessageHit) -> tuple[float, int]:
    """Return the key that sorts messages by time."""
    return (hit.message.created_at.timestamp(), hit.message.position)


def _fit_excerpt(hit: MessageHit, budget: int, form: MessageForm, count: TokenCounter) -> str:
    def fits(text: str) -> bool:
        if len(text) > MAX_CHARS_PER_TOKEN * budget:
            return False
        return count(_render_line(hit.message, text, form) + "\n") <= budget

    return excerpt(_matching_excerpt(hit), hit.matched_words, fits)


def _matching_excerpt(hit: MessageHit) -> str:
    """Return the part of a message that is relevant to the query."""
    return relevant_sentences(escape_fence_tags(hit.message.content), hit.matched_words)


def _divide_budget(budget: int, needs: Sequence[int]) -> list[int]:
    """Return the tokens of each message, best first; 0 for those whose share is too small."""
    for served in range(len(needs), 0, -1):
        shares = fair_shares(budget, needs[:served])
        cut = [share for share, need in zip(shares, needs, strict=False) if share < need]
        if min(cut, default=MIN_TOKENS) >= MIN_TOKENS:
            break
    else:
        served, shares = 0, []
    unused = budget - sum(shares)
    for need in needs[served:]:
        share = need if need <= unused else 0  # a short message may still fit whole
        shares.append(share)
        unused -= share
    return shares


def fair_shares(total: int, needs: Sequence[int]) -> list[int]:
    """Divide *total* equally, but give no item more than it needs."""
    shares = [0] * len(needs)
    remaining = max(total, 0)
    least_first = sorted(range(len(needs)), key=lambda index: (needs[index], index))
    for served, index in enumerate(least_first):
        shares[index] = min(needs[index], remaining // (len(needs) - served))
        remaining -= shares[index]
    return shares


def _render_line(message: Message, text: str, form: MessageForm) -> str:
    speaker = speaker_label(message)
    times = form.times_said.get(message.id, 1)
    again = f", said {times} times" if times > 1 else ""
    day = f"{message.created_at:%Y-%m-%d}"
    if form.bundle_format is BundleFormat.TAGS:
        return f"- {speaker}, {day}{again}: {' '.join(text.split())}"
    # Lines are indented so that none can look like a heading or another speaker.
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return f"\n**{speaker.capitalize()}**: " + "\n    ".join(lines) + f" ({day}{again})"

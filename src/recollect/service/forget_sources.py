"""
Blank words in sources, and keep what other memories quote.

A source is immutable, except that forgotten words are replaced by as many blanks. A span that
another memory quotes stays, because that memory would lose its evidence. The evidence of a memory
that is redacted itself (a session record) is renewed with the blanked quote.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from recollect.clock import Clock
from recollect.domain.source import BLANK, SHADE, Evidence, Source
from recollect.errors import InvalidInput
from recollect.store.protocol import Tables
from recollect.text.fingerprint import sha256_hex
from recollect.text.statement_context import statement_context

MAX_SHADED = 64  # characters; enough to make 2**64 contents different
BLANKED = "source spans blanked"

Span = tuple[int, int]


def blank_spans(
    tables: Tables,
    source: Source,
    spans: Sequence[Span],
    *,
    clock: Clock,
    removed: Counter[str],
    redacted_ids: Collection[str] = (),
) -> set[str]:
    """
    Blank *spans* of a source; return the ids of the memories that quote parts of them.

    What these memories quote stays. The evidence of *redacted_ids* does not protect its span.
    """
    quotes = tables.sources.evidence_in(source.id)
    renewed = [quote for quote in quotes if quote.memory_id in redacted_ids]
    others = [quote for quote in quotes if quote.memory_id not in redacted_ids]
    content, quoting = source.content, set()
    for span in spans:
        overlapping = [other for other in others if _overlap(span, other)]
        quoting |= {other.memory_id for other in overlapping}
        for start, end in _unquoted_parts(span, overlapping):
            content = content[:start] + BLANK * (end - start) + content[end:]
    if content == source.content:
        return quoting
    content = _make_unique(tables, source, content)
    tables.sources.overwrite(source.id, content, sha256_hex(content))
    _embed_again(tables, source, content, quotes)
    removed[BLANKED] += 1
    for quote in renewed:
        blanked = content[quote.start : quote.end]
        if blanked != quote.quote:
            tables.memories.add_evidence(replace(quote, id=clock.new_id(), quote=blanked))
            tables.memories.drop_evidence([quote.id])
    return quoting


def _embed_again(tables: Tables, source: Source, content: str, quotes: Sequence[Evidence]) -> None:
    """Delete the vectors of memories that were embedded with words that are blanked now."""
    turns = source.metadata.get("turns", ())
    changed = {
        quote.memory_id
        for quote in quotes
        if statement_context(source.content, turns, quote.start, quote.end)
        != statement_context(content, turns, quote.start, quote.end)
    }
    if changed:
        tables.embeddings.embed_again(sorted(changed))


def occurrences(content: str, quote: str) -> Iterator[Span]:
    """Yield where *quote* occurs in *content*."""
    at = content.find(quote)
    while at >= 0:
        yield at, at + len(quote)
        at = content.find(quote, at + len(quote))


def _make_unique(tables: Tables, source: Source, content: str) -> str:
    """
    Return *content* with some redaction characters varied, so that no source equals it.

    Two sources may differ only in words that were blanked, and the hash of a source is unique.
    """
    blanks = [at for at, char in enumerate(content) if char == BLANK][:MAX_SHADED]
    for number in range(1 << len(blanks)):
        shaded = {at for bit, at in enumerate(blanks) if number >> bit & 1}
        unique = "".join(SHADE if at in shaded else char for at, char in enumerate(content))
        same_content = tables.sources.with_hash(sha256_hex(unique), source.kind)
        if same_content is None or same_content.id == source.id:
            return unique
    raise InvalidInput(
        f"source {source.id} would equal {1 << len(blanks)} others without the forgotten words; "
        "forget one of those memories first"
    )


def _unquoted_parts(span: Span, others: Sequence[Evidence]) -> Iterator[Span]:
    at, last = span
    for other in sorted(others, key=lambda other: other.start):
        if other.start > at:
            yield at, min(other.start, last)
        at = max(at, other.end)
    if at < last:
        yield at, last


def _overlap(span: Span, quote: Evidence) -> bool:
    return span[0] < quote.end and quote.start < span[1]

"""
Remove secrets from a text before it is stored.

Secrets are issued keys with known prefixes, private key blocks, passwords inside URLs, and values
that are named password, secret, token or key and look random. `<private>…</private>` is removed
with its content. Ordinary text, hashes, ids, code that only names a password, and placeholders are
not changed; the tests list examples of both.
"""

import re
from collections.abc import Iterator

from recollect.domain.source import Redaction
from recollect.lazy_dataclass import dataclass
from recollect.text.redact_clues import ClueFinder
from recollect.text.redact_escapes import decoded_texts
from recollect.text.redact_headers import HEADER_CLUES, header_secrets
from recollect.text.redact_issued_keys import SecretSpan, issued_keys, private_keys
from recollect.text.redact_named_values import NAME_CLUES, named_values
from recollect.text.redact_spoken_values import NOUN_CLUES, spoken_values
from recollect.text.redact_values import MAX_JUDGED

MAX_ROUNDS = 5

_PRIVATE_TAG = re.compile(r"<\s*+(/?)\s*+private\s*>", re.IGNORECASE)

_CLUES = ClueFinder(HEADER_CLUES | NAME_CLUES | NOUN_CLUES)
_REST_OF_VALUE = re.compile(r"[^\s\"'`,;\\<>]*")
_REDACTION_MARK = re.compile(r"\[redacted:[a-z-]+\]")


@dataclass(frozen=True)
class RedactionResult:
    """A text without its secrets, and the position of each redaction mark."""

    text: str
    redactions: tuple[Redaction, ...]


def redact(text: str, *, keep_lines: bool = False) -> RedactionResult:
    """
    Return *text* with every secret replaced by `[redacted:kind]` and private parts removed.

    *keep_lines*: keep the line breaks inside removed text, so that lines keep their numbers.
    """
    redactions: list[Redaction] = []
    # A removal can join or expose the text around it, so repeat until nothing is found.
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or _secret_spans(text)
        if not spans:
            return RedactionResult(text, tuple(redactions))
        text, redactions = _replace_spans(text, spans, redactions, keep_lines)
    # Only a hostile text reaches this point. Rather remove too much than too little.
    if tag := _PRIVATE_TAG.search(text):
        rest = [(tag.start(), len(text), "private")]
        text, redactions = _replace_spans(text, rest, redactions, keep_lines)
    spans = _secret_spans(text)
    text, redactions = _replace_spans(text, spans, redactions, keep_lines)
    return RedactionResult(text, tuple(redactions))


def remove_multiline_secrets(text: str) -> str:
    """
    Return *text* without secrets of several lines: private parts and private keys.

    Line breaks stay. Much cheaper than `redact`, for a large text of which only a few lines are
    used; the caller redacts those lines.
    """
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or private_keys(text)
        if not spans:
            return text
        text, _redactions = _replace_spans(text, spans, [], keep_lines=True)
    tag = _PRIVATE_TAG.search(text)  # the rounds are over: a hostile text
    return text if tag is None else text[: tag.start()] + "\n" * text.count("\n", tag.start())


def _replace_spans(
    text: str, spans: list[SecretSpan], earlier: list[Redaction], keep_lines: bool
) -> tuple[str, list[Redaction]]:
    """Return *text* with *spans* replaced, and the *earlier* redactions moved along with it."""
    pieces: list[str] = []
    redactions: list[Redaction] = []
    at = shift = number = 0
    for start, end, kind in spans:
        while number < len(earlier) and earlier[number].end <= start:
            redactions.append(_shift_redaction(earlier[number], shift))
            number += 1
        while number < len(earlier) and earlier[number].start < end:
            number += 1  # inside a span that is removed now
        mark = "" if kind == "private" else f"[redacted:{kind}]"
        if keep_lines:
            mark += "\n" * text.count("\n", start, end)
        pieces += [text[at:start], mark]
        redactions.append(Redaction(kind, start + shift, start + shift + len(mark)))
        shift += len(mark) - (end - start)
        at = end
    redactions += [_shift_redaction(redaction, shift) for redaction in earlier[number:]]
    return "".join([*pieces, text[at:]]), redactions


def _shift_redaction(redaction: Redaction, offset: int) -> Redaction:
    return Redaction(redaction.kind, redaction.start + offset, redaction.end + offset)


def _private_spans(text: str) -> Iterator[SecretSpan]:
    if "<" not in text:
        return
    depth = start = 0
    for tag in _PRIVATE_TAG.finditer(text):
        if not tag[1]:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, tag.end(), "private"
    if depth:
        yield start, len(text), "private"  # never closed: private to the end


def _secret_spans(text: str) -> list[SecretSpan]:
    """Return the spans of secrets in order; overlapping ones are merged, with the first's kind."""
    secrets = list(_secrets(text))
    for decoded in decoded_texts(text):
        secrets += (
            (*decoded.original_span(start, end), kind)
            for start, end, kind in _secrets(decoded.text)
        )
    if not secrets:
        return []
    spans: list[SecretSpan] = []
    for start, end, kind in sorted(secrets, key=lambda span: span[0]):
        if not _REDACTION_MARK.sub("", text[start:end]):
            continue  # only redaction marks
        if spans and end <= spans[-1][1]:
            continue
        if end - start >= MAX_JUDGED:
            end = _REST_OF_VALUE.match(text, end).end()  # type: ignore[union-attr]
        if spans and start < spans[-1][1]:
            start, _end, kind = spans.pop()
        spans.append((start, end, kind))
    return spans


def _secrets(text: str) -> Iterator[SecretSpan]:
    """Yield every secret in *text*. Most texts have no clue to one, which is tested first."""
    if "[redacted:" in text:  # a mark holds no secret, and its kind is not the name of one
        text = _REDACTION_MARK.sub(lambda mark: "█" * len(mark[0]), text)
    yield from issued_keys(text)
    lowered = text.replace("İ", "I").lower()  # the only letter whose lower case is longer
    if positions := _CLUES.positions(lowered):
        yield from header_secrets(text, positions)
        yield from named_values(text, positions)
        yield from spoken_values(text, positions)

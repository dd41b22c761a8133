"""
Take secrets out of a text before anything is stored.

Only shapes that are secrets by themselves are touched: issued keys with their known prefixes,
private key blocks, passwords inside URLs, and values that are called a password, secret, token or
key and look like one. `<private>…</private>` is removed with everything in it. Ordinary text,
hashes, ids, code that merely names a password, and placeholders stay as they are: the tests list
both kinds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.domain.source import Redaction

_PRIVATE_TAG = re.compile(r"<\s*(/?)\s*private\s*>", re.IGNORECASE)

# kind: a pattern whose group "secret" (or whole match) is the secret
_SHAPES: tuple[tuple[str, str], ...] = (
    (
        "private-key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("age-key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai-key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    ("aws-access-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (
        "aws-secret-key",
        r"(?i:aws_?secret_?access_?key|aws_?secret_?key)[\"']?\s*[:=]\s*[\"']?"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    ("github-token", r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("gitlab-token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]+"),
    (
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9_/-]{20,})",
    ),
    ("google-key", r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])|\bGOCSPX-[0-9A-Za-z_-]{28}"),
    ("google-token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("stripe-key", r"\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}|\bwhsec_[0-9A-Za-z+/=]{24,}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("sendgrid-key", r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("twilio-key", r"\bSK[0-9a-f]{32}\b"),
    ("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("telegram-token", r"\b\d{8,10}:AA[\w-]{32,35}\b"),
    ("databricks-token", r"\bdapi[a-f0-9]{32}\b"),
    ("vault-token", r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}"),
    ("service-key", r"\b(?:gsk_|xai-|lin_api_|ntn_|r8_|tvly-|pplx-|fw_)[A-Za-z0-9]{32,}\b"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    (
        "url-password",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@\"'<>]*:(?P<secret>[^\s/@\"'<>]+)@(?=[^\s/])",
    ),
    (
        "authorization",
        r"\b(?i:bearer|authorization:\s*basic)\s+(?P<secret>(?=[^\s\"',]*\d)[A-Za-z0-9._~+/=-]{16,})",
    ),
    (
        "password",
        r"(?i:(?<![A-Za-z])(?:password|passphrase|passwd|pwd))\s+(?:is|was)\s*:?\s+[\"']?"
        r"(?P<secret>(?=[^\s\"']*\d)[^\s\"',;]{6,}[^\s\"',;.!?])",
    ),
    (
        "assigned-secret",
        r"(?i:(?<![A-Za-z])[A-Za-z0-9_-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key"
        r"|access[_-]?key|private[_-]?key|client[_-]?secret|credentials?))[\"']?\s*(?::|=(?!=))\s*"
        r"(?:\"(?P<secret>[^\"\s]{6,})\"|'(?P<secret2>[^'\s]{6,})'|(?P<secret3>[^\s\"'`,;]{8,}))",
    ),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _SHAPES)

# No shape above can match a text without one of these: most texts stop here.
_HINT = re.compile(
    r"-----BEGIN|AGE-SECRET|\bsk[-_]|\brk_|whsec_|A[KSBC][IC]A|gh[pousr]_|github_pat|\bgl\w+-|xox|xapp-"
    r"|hooks\.slack|AIza|GOCSPX|ya29|hf_|npm_|pypi-|SG\.|\bSK|_v1_|:AA|dapi|hv[sbr]\.|gsk_|xai-"
    r"|lin_api|ntn_|r8_|tvly|pplx|fw_|eyJ|://|(?i:bearer|basic|passw|passph|pwd|secret|token"
    r"|api.?key|access.?key|private.?key|credential)"
)

# An assigned value that is no secret: code, placeholders, masks, references to the environment.
_NO_SECRET = re.compile(
    r"^(?:[$%<{\[(*.#&]|(?i:your|my|the|xxx|changeme|example|placeholder|redacted|none|null|true"
    r"|false|undefined|process\.env|os\.|env\.|config\.|settings\.|self\.|this\.|args\.|request\.))"
    r"|[(){}<>$]|\*{3}|\.{3}|^[A-Za-z_]+(?:\.[A-Za-z_]+)+$"
)


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and where each one's mark stands."""

    text: str
    redactions: tuple[Redaction, ...]


def redact(text: str) -> Redacted:
    """Return *text* with every secret replaced by `[redacted:kind]` and private parts removed."""
    spans = sorted(_private_spans(text))
    if _HINT.search(text):
        spans = _without_overlaps(sorted([*spans, *_secret_spans(text)]))
    if not spans:
        return Redacted(text, ())
    pieces: list[str] = []
    redactions: list[Redaction] = []
    at = written = 0
    for start, end, kind in spans:
        mark = "" if kind == "private" else f"[redacted:{kind}]"
        pieces += [text[at:start], mark]
        written += start - at + len(mark)
        redactions.append(Redaction(kind, written - len(mark), written))
        at = end
    return Redacted("".join([*pieces, text[at:]]), tuple(redactions))


Span = tuple[int, int, str]


def _private_spans(text: str) -> Iterator[Span]:
    depth = start = 0
    for tag in _PRIVATE_TAG.finditer(text):
        closing = bool(tag.group(1))
        if not closing:
            start = tag.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, tag.end(), "private"
    if depth:
        yield start, len(text), "private"  # never closed: private to the end


def _secret_spans(text: str) -> Iterator[Span]:
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            group = next(
                (name for name in match.groupdict() if match.group(name) is not None), None
            )
            start, end = match.span(group) if group else match.span()
            if kind == "assigned-secret" and not _looks_secret(text[start:end]):
                continue
            yield start, end, kind


def _looks_secret(value: str) -> bool:
    if _NO_SECRET.search(value) or "://" in value:
        return False
    has_digit = any(ch.isdigit() for ch in value)
    has_letter = any(ch.isalpha() for ch in value)
    has_mark = any(not ch.isalnum() and ch not in "_-." for ch in value)
    return has_letter and (has_digit or has_mark)


def _without_overlaps(spans: list[Span]) -> list[Span]:
    """Keep private parts first, then whichever secret starts first; drop what overlaps them."""
    private = [span for span in spans if span[2] == "private"]
    kept: list[Span] = list(private)
    last_end = -1
    for span in spans:
        inside_private = any(p[0] < span[1] and span[0] < p[1] for p in private)
        if span[2] == "private" or inside_private or span[0] < last_end:
            continue
        kept.append(span)
        last_end = span[1]
    return sorted(kept)

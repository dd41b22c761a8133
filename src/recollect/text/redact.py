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

MAX_ROUNDS = 5

_PRIVATE_TAG = re.compile(r"<\s*+(/?)\s*+private\s*>", re.IGNORECASE)

# kind: a pattern whose group "secret" (or whole match) is the secret. The first kind listed wins
# where two match the same place. Every pattern is linear: no start is tried inside a run that an
# earlier start has already read, and no two repeats stand side by side that match the same.
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
    ("google-key", r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])|\bGOCSPX-[0-9A-Za-z_-]{28,}"),
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
    ("jwt", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    (
        "url-password",
        # From "://": a scheme in front would be read again from each of its letters. A user has no
        # "[", so that a mark in its place is no user. A password may hold an "@".
        r"(?<=[A-Za-z0-9+.-])://[^\s/:@\"'<>\[]*:(?P<secret>[^\s/\"'<>]+)@(?=[^\s/@])",
    ),
    (
        "authorization",
        r"\b(?i:bearer)\s+(?P<secret>(?=[^\s\"',]*\d)[A-Za-z0-9._~+/=-]{16,})"
        r"|\b(?i:authorization)\\?[\"']?\s*:\s*\\?[\"']?(?i:basic|token)\s+"
        r"(?P<secret2>[A-Za-z0-9+/=_-]{8,})",
    ),
    (
        "password",
        r"(?i:(?<![A-Za-z])(?:password|passphrase|passwd|pwd))\s+(?:is|was)(?:\s*:)?\s++[\"'`]?"
        r"(?P<secret>(?=[^\s\"'`]*\d)[^\s\"'`,;]{6,}[^\s\"'`,;.!?])",
    ),
    (
        "assigned-secret",
        # Name, then : = := => or an annotation, on one line, then a value, quoted or not.
        r"(?i:password|passwd|passphrase|pwd|secret|token|api[ _-]?key|access[ _-]?key"
        r"|private[ _-]?key|credentials?)\\?[\"'`]?[ \t]*"
        r"(?:=>|:[ \t]*(?:[A-Za-z]{2,16}[ \t]*)?=(?!=)|:|=(?!=))(?:\*\*)?[ \t]*"
        r"(?:\\?\"(?P<secret>[^\"\s\\]{6,})|\\?'(?P<secret2>[^'\s\\]{6,})"
        r"|`?(?P<secret3>[^\s\"'`,;]{6,}))",
    ),
    ("azure-key", r"\b(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{40,})"),
    (
        "option",
        # sshpass -p X, curl -u user:X, --password X
        r"(?:\bsshpass\s+-p\s*|(?:^|\s)-u\s+[\w.@-]{1,64}:|--(?:password|token|api-key|secret)[ =])"
        r"(?P<secret>(?=[^\s\"']*\d)[^\s\"'`,;]{6,})",
    ),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _SHAPES)

# What a text must contain before a shape is tried on it. Most have none of it, and looking for
# a few letters is far cheaper.
_NEEDED: dict[str, tuple[str, ...]] = {
    "private-key": ("-----BEGIN",),
    "age-key": ("AGE-SECRET",),
    "anthropic-key": ("sk-ant",),
    "openai-key": ("sk-",),
    "aws-access-key": ("AKIA", "ASIA", "ABIA", "ACCA"),
    "github-token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat"),
    "gitlab-token": ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
    "slack-token": ("xox", "xapp-"),
    "slack-webhook": ("hooks.slack",),
    "google-key": ("AIza", "GOCSPX"),
    "google-token": ("ya29",),
    "stripe-key": ("sk_", "rk_", "whsec_"),
    "huggingface-token": ("hf_",),
    "npm-token": ("npm_",),
    "pypi-token": ("pypi-",),
    "sendgrid-key": ("SG.",),
    "twilio-key": ("SK",),
    "digitalocean-token": ("_v1_",),
    "telegram-token": (":AA",),
    "databricks-token": ("dapi",),
    "vault-token": ("hvs.", "hvb.", "hvr."),
    "service-key": ("gsk_", "xai-", "lin_api_", "ntn_", "r8_", "tvly-", "pplx-", "fw_"),
    "jwt": ("eyJ",),
    "url-password": ("://",),
    "azure-key": ("Key=",),
    "option": ("sshpass", "-u", "--password", "--token", "--api-key", "--secret"),
}
# The same, in any case: looked for in the text case folded.
_NEEDED_FOLDED: dict[str, tuple[str, ...]] = {
    "aws-secret-key": ("secret",),
    "authorization": ("bearer", "authorization"),
    "password": ("passw", "passphrase", "pwd"),
    "assigned-secret": ("passw", "passphrase", "pwd", "secret", "token", "key", "credential"),
}
_CLUES = tuple((letters, kind) for kind, needed in _NEEDED.items() for letters in needed)
_FOLDED = tuple((letters, kind) for kind, needed in _NEEDED_FOLDED.items() for letters in needed)
EVERY_KIND = frozenset(_NEEDED) | frozenset(_NEEDED_FOLDED)
_LONG_KINDS = frozenset({"private-key"})

# A value that is no secret: code, placeholders, masks, paths, names of algorithms.
_NO_SECRET = re.compile(
    r"^(?:[$%<{\[(*.&!]|(?i:(?:your|my|the)(?![A-Za-z0-9])|(?:none|null|true|false)\b"
    r"|xxx|changeme|example|placeholder|redacted|undefined"
    r"|process\.env|os\.|env\.|config\.|settings\.|self\.|this\.|args\.|request\.))"
    r"|[(){}<>]|\*{3}|\.{3}"
    r"|^[A-Za-z_]+(?:\.[A-Za-z_]\w*)+$"  # user.password1
    r"|^[A-Za-z_][\w.]*\["  # tokens[0], Optional[str]
    r"|^[A-Za-z]+(?:\|[A-Za-z0-9:]+)+$"  # str|None, required|min:8
    r"|^[A-Z]+(?:_[A-Z0-9]+)+$"  # API_KEY_V2
    r"|^(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+$|^[A-Za-z]:[\\/]|^[A-Za-z][\w+.-]*://"
    r"|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$"
    r"|^(?i:sha-?\d|argon2|bcrypt|scrypt|pbkdf2)"
)
_URL_PLACEHOLDER = re.compile(r"^(?:[${%\[]|\*+$|(?i:x+)$)")
_MARK = re.compile(r"\[redacted:[a-z-]+\]")


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets, and where each one's mark stands."""

    text: str
    redactions: tuple[Redaction, ...]


def likely_kinds(text: str, among: frozenset[str] = EVERY_KIND) -> frozenset[str]:
    """Return the kinds of secrets of which *text* holds a first sign: nearly always too many."""
    folded = text.casefold()
    found = {kind for letters, kind in _CLUES if kind in among and letters in text}
    found |= {kind for letters, kind in _FOLDED if kind in among and letters in folded}
    return frozenset(found)


def redact(text: str, *, among: frozenset[str] = EVERY_KIND, keep_lines: bool = False) -> Redacted:
    """
    Return *text* with every secret replaced by `[redacted:kind]` and private parts removed.

    *among*: the only kinds to look for, where a larger text around this one was asked before.
    *keep_lines*: the line breaks inside what goes stay, so that lines keep their numbers.
    """
    redactions: list[Redaction] = []
    # What is taken out can join or bare what stood around it, so look again until nothing is found.
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or _secret_spans(text, among)
        if not spans:
            return Redacted(text, tuple(redactions))
        text, redactions = _replaced(text, spans, redactions, keep_lines)
        among = EVERY_KIND  # what is joined now may be of a kind that nobody saw before
    # Only a text made to be tricky comes here. Err on the side of taking out.
    if tag := _PRIVATE_TAG.search(text):
        rest = [(tag.start(), len(text), "private")]
        text, redactions = _replaced(text, rest, redactions, keep_lines)
    spans = _secret_spans(text, EVERY_KIND)
    text, redactions = _replaced(text, spans, redactions, keep_lines)
    return Redacted(text, tuple(redactions))


def without_long_secrets(text: str) -> str:
    """
    Return *text* without what reaches over many lines: private parts and private keys.

    Line breaks stay. Far cheaper than `redact`, for a large text of which few lines will be shown;
    those are redacted by themselves then.
    """
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or _secret_spans(text, _LONG_KINDS)
        if not spans:
            return text
        text, _redactions = _replaced(text, spans, [], keep_lines=True)
    tag = _PRIVATE_TAG.search(text)  # a text made to be tricky, as above
    return text if tag is None else text[: tag.start()] + "\n" * text.count("\n", tag.start())


Span = tuple[int, int, str]


def _replaced(
    text: str, spans: list[Span], earlier: list[Redaction], keep_lines: bool
) -> tuple[str, list[Redaction]]:
    """Return *text* with *spans* replaced, and the *earlier* redactions moved along with it."""
    pieces: list[str] = []
    redactions: list[Redaction] = []
    at = shift = number = 0
    for start, end, kind in spans:
        while number < len(earlier) and earlier[number].end <= start:
            redactions.append(_moved(earlier[number], shift))
            number += 1
        while number < len(earlier) and earlier[number].start < end:
            number += 1  # inside what goes now
        mark = "" if kind == "private" else f"[redacted:{kind}]"
        if keep_lines:
            mark += "\n" * text.count("\n", start, end)
        pieces += [text[at:start], mark]
        redactions.append(Redaction(kind, start + shift, start + shift + len(mark)))
        shift += len(mark) - (end - start)
        at = end
    redactions += [_moved(one, shift) for one in earlier[number:]]
    return "".join([*pieces, text[at:]]), redactions


def _moved(redaction: Redaction, by: int) -> Redaction:
    return Redaction(redaction.kind, redaction.start + by, redaction.end + by)


def _private_spans(text: str) -> Iterator[Span]:
    if "<" not in text:
        return
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


def _secret_spans(text: str, among: frozenset[str]) -> list[Span]:
    """Return where secrets stand, in order; those that overlap as one, of the first one's kind."""
    likely = likely_kinds(text, among) if among else among
    found = [
        (start, end, kind)
        for kind, pattern in (_PATTERNS if likely else ())
        if kind in likely
        for start, end in map(_span_of_secret, pattern.finditer(text))
        if _is_secret(kind, text[start:end])
    ]
    spans: list[Span] = []
    for start, end, kind in sorted(found, key=lambda span: span[0]):
        if spans and start < spans[-1][1]:
            first, last, first_kind = spans[-1]
            spans[-1] = (first, max(last, end), first_kind)
        else:
            spans.append((start, end, kind))
    return spans


def _span_of_secret(match: re.Match[str]) -> tuple[int, int]:
    group = next((name for name, value in match.groupdict().items() if value is not None), 0)
    return match.span(group)


def _is_secret(kind: str, value: str) -> bool:
    if not _MARK.sub("", value):
        return False  # a mark of ours
    match kind:
        case "assigned-secret":
            return not _NO_SECRET.search(value) and _looks_random(value)
        case "password" | "option":
            return not _NO_SECRET.search(value)
        case "url-password":
            return not _URL_PLACEHOLDER.search(value)
        case "openai-key" | "slack-token":  # sk-button-primary-large, xoxo-hugs-and-kisses
            return any(ch.isdigit() for ch in value)
    return True


def _looks_random(value: str) -> bool:
    has_digit = any(ch.isdigit() for ch in value)
    has_letter = any(ch.isalpha() for ch in value)
    has_mark = any(not ch.isalnum() and ch not in "_-." for ch in value)
    return has_letter and (has_digit or has_mark)

"""
Remove secrets from a text before it is stored.

Secrets are issued keys with known prefixes, private key blocks, passwords inside URLs, and values
that are named password, secret, token or key and look random. `<private>…</private>` is removed
with its content. Ordinary text, hashes, ids, code that only names a password, and placeholders are
not changed; the tests list examples of both.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.domain.source import Redaction

MAX_ROUNDS = 5

_PRIVATE_TAG = re.compile(r"<\s*+(/?)\s*+private\s*>", re.IGNORECASE)

# Kind, and a pattern whose group "secret" (or whole match) is the secret. If two kinds match at the
# same position, the first listed wins. Every pattern takes linear time: no start is tried inside a
# run that an earlier start has read, and no two adjacent repeats match the same characters.
_SECRET_PATTERNS: dict[str, str] = {
    "private-key": (
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)"
    ),
    "age-key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}",
    "anthropic-key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "openai-key": r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}",
    "aws-access-key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "aws-secret-key": (
        r"(?i:aws_?secret_?access_?key|aws_?secret_?key)[\"']?\s*[:=]\s*[\"']?"
        r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"
    ),
    "github-token": r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    "gitlab-token": r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20,}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]+",
    "slack-webhook": r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9_/-]{20,})",
    "google-key": r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])|\bGOCSPX-[0-9A-Za-z_-]{28,}",
    "google-token": r"\bya29\.[0-9A-Za-z_-]{20,}",
    "stripe-key": r"\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}|\bwhsec_[0-9A-Za-z+/=]{24,}",
    "huggingface-token": r"\bhf_[A-Za-z0-9]{30,}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-token": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "sendgrid-key": r"\bSG\.[\w-]{16,32}\.[\w-]{16,64}",
    "twilio-key": r"\bSK[0-9a-f]{32}\b",
    "digitalocean-token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "telegram-token": r"\b\d{8,10}:AA[\w-]{32,35}\b",
    "databricks-token": r"\bdapi[a-f0-9]{32}\b",
    "vault-token": r"\bhv[sbr]\.[A-Za-z0-9_-]{24,}",
    "service-key": r"\b(?:gsk_|xai-|lin_api_|ntn_|r8_|tvly-|pplx-|fw_)[A-Za-z0-9]{32,}\b",
    "jwt": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    "url-password": (
        # Starts at "://": a scheme before it would be matched again from each of its letters. A
        # user has no "[", so a redaction mark is not a user. A password may contain an "@".
        r"(?<=[A-Za-z0-9+.-])://[^\s/:@\"'<>\[]*:(?P<secret>[^\s/\"'<>]+)@(?=[^\s/@])"
    ),
    "authorization": (
        r"\b(?i:bearer)\s+(?P<secret>(?=[^\s\"',]*\d)[A-Za-z0-9._~+/=-]{16,})"
        r"|\b(?i:authorization)\\?[\"']?\s*:\s*\\?[\"']?(?i:basic|token)\s+"
        r"(?P<secret2>[A-Za-z0-9+/=_-]{8,})"
    ),
    "password": (
        r"(?i:(?<![A-Za-z])(?:password|passphrase|passwd|pwd))\s+(?:is|was)(?:\s*:)?\s++[\"'`]?"
        r"(?P<secret>(?=[^\s\"'`]*\d)[^\s\"'`,;]{6,}[^\s\"'`,;.!?])"
    ),
    "assigned-secret": (
        # Name, then : = := => or an annotation, on one line, then a value, quoted or not.
        r"(?i:password|passwd|passphrase|pwd|secret|token|api[ _-]?key|access[ _-]?key"
        r"|private[ _-]?key|credentials?)\\?[\"'`]?[ \t]*(?:=>|:[ \t]*(?:[A-Za-z]{2,16}[ "
        r"\t]*)?=(?!=)|:|=(?!=))(?:\*\*)?[ \t]*(?:\\?\"(?P<secret>[^\"\s\\]{6,})"
        r"|\\?'(?P<secret2>[^'\s\\]{6,})|`?(?P<secret3>[^\s\"'`,;]{6,}))"
    ),
    "azure-key": r"\b(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{40,})",
    "option": (
        # sshpass -p X, curl -u user:X, --password X
        r"(?:\bsshpass\s+-p\s*|(?:^|\s)-u\s+[\w.@-]{1,64}:|--(?:password|token|api-key|secret)[ =])"
        r"(?P<secret>(?=[^\s\"']*\d)[^\s\"'`,;]{6,})"
    ),
}
_COMPILED_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _SECRET_PATTERNS.items()}

# A pattern is tried only if the text contains one of these strings. Most texts contain none, and
# searching for a fixed string is much cheaper.
_REQUIRED_TEXT: dict[str, tuple[str, ...]] = {
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
# The same, ignoring case: searched in the casefolded text.
_REQUIRED_TEXT_CASEFOLDED: dict[str, tuple[str, ...]] = {
    "aws-secret-key": ("secret",),
    "authorization": ("bearer", "authorization"),
    "password": ("passw", "passphrase", "pwd"),
    "assigned-secret": ("passw", "passphrase", "pwd", "secret", "token", "key", "credential"),
}
ALL_KINDS = frozenset(_REQUIRED_TEXT) | frozenset(_REQUIRED_TEXT_CASEFOLDED)
_CLUES = [(word, kind) for kind, words in _REQUIRED_TEXT.items() for word in words]
_FOLDED = [(word, kind) for kind, words in _REQUIRED_TEXT_CASEFOLDED.items() for word in words]
_MULTILINE_KINDS = frozenset({"private-key"})

# A value that is not a secret: code, placeholders, masks, paths, names of algorithms.
_NOT_A_SECRET = re.compile(
    r"^(?:[$%<{\[(*.&!]|(?i:(?:your|my|the)(?![A-Za-z0-9])|(?:none|null|true|false)\b|xxx|changeme"
    r"|example|placeholder|redacted|undefined|process\.env|os\.|env\.|config\.|settings\.|self\."
    r"|this\.|args\.|request\.))|[(){}<>]|\*{3}|\.{3}"
    r"|^[A-Za-z_]+(?:\.[A-Za-z_]\w*)+$"  # user.password1
    r"|^[A-Za-z_][\w.]*\["  # tokens[0], Optional[str]
    r"|^[A-Za-z]+(?:\|[A-Za-z0-9:]+)+$"  # str|None, required|min:8
    r"|^[A-Z]+(?:_[A-Z0-9]+)+$"  # API_KEY_V2
    r"|^(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+$|^[A-Za-z]:[\\/]|^[A-Za-z][\w+.-]*://"
    r"|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|^(?i:sha-?\d|argon2|bcrypt|scrypt|pbkdf2)"
)
_URL_PLACEHOLDER = re.compile(r"^(?:[${%\[]|\*+$|(?i:x+)$)")
_REDACTION_MARK = re.compile(r"\[redacted:[a-z-]+\]")


@dataclass(frozen=True)
class RedactionResult:
    """A text without its secrets, and the position of each redaction mark."""

    text: str
    redactions: tuple[Redaction, ...]


def possible_kinds(text: str, kinds: frozenset[str] = ALL_KINDS) -> frozenset[str]:
    """Return the kinds of secrets that *text* may contain: a cheap test with false positives."""
    folded = text.casefold()
    possible = frozenset(kind for letters, kind in _CLUES if kind in kinds and letters in text)
    return possible | {kind for letters, kind in _FOLDED if kind in kinds and letters in folded}


def redact(
    text: str, *, kinds: frozenset[str] = ALL_KINDS, keep_lines: bool = False
) -> RedactionResult:
    """
    Return *text* with every secret replaced by `[redacted:kind]` and private parts removed.

    *kinds*: the only kinds to search, if `possible_kinds` was called on a larger text before.
    *keep_lines*: keep the line breaks inside removed text, so that lines keep their numbers.
    """
    redactions: list[Redaction] = []
    # A removal can join or expose the text around it, so repeat until nothing is found.
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or _secret_spans(text, kinds)
        if not spans:
            return RedactionResult(text, tuple(redactions))
        text, redactions = _replace_spans(text, spans, redactions, keep_lines)
        kinds = ALL_KINDS  # joined text may be a secret of any kind
    # Only a hostile text reaches this point. Rather remove too much than too little.
    if tag := _PRIVATE_TAG.search(text):
        rest = [(tag.start(), len(text), "private")]
        text, redactions = _replace_spans(text, rest, redactions, keep_lines)
    spans = _secret_spans(text, ALL_KINDS)
    text, redactions = _replace_spans(text, spans, redactions, keep_lines)
    return RedactionResult(text, tuple(redactions))


def remove_multiline_secrets(text: str) -> str:
    """
    Return *text* without secrets of several lines: private parts and private keys.

    Line breaks stay. Much cheaper than `redact`, for a large text of which only a few lines are
    used; the caller redacts those lines.
    """
    for _ in range(MAX_ROUNDS):
        spans = list(_private_spans(text)) or _secret_spans(text, _MULTILINE_KINDS)
        if not spans:
            return text
        text, _redactions = _replace_spans(text, spans, [], keep_lines=True)
    tag = _PRIVATE_TAG.search(text)  # a hostile text, as above
    return text if tag is None else text[: tag.start()] + "\n" * text.count("\n", tag.start())


_SecretSpan = tuple[int, int, str]


def _replace_spans(
    text: str, spans: list[_SecretSpan], earlier: list[Redaction], keep_lines: bool
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


def _private_spans(text: str) -> Iterator[_SecretSpan]:
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


def _secret_spans(text: str, kinds: frozenset[str]) -> list[_SecretSpan]:
    """Return the spans of secrets in order; overlapping ones are merged, with the first's kind."""
    possible = possible_kinds(text, kinds) if kinds and text else frozenset()
    secrets = [
        (start, end, kind)
        for kind, pattern in (_COMPILED_PATTERNS.items() if possible else ())
        if kind in possible
        for start, end in map(_span_of_secret, pattern.finditer(text))
        if _is_secret(kind, text[start:end])
    ]
    spans: list[_SecretSpan] = []
    for start, end, kind in sorted(secrets, key=lambda span: span[0]):
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
    if not _REDACTION_MARK.sub("", value):
        return False  # only redaction marks
    match kind:
        case "assigned-secret":
            return not _NOT_A_SECRET.search(value) and _looks_random(value)
        case "password" | "option":
            return not _NOT_A_SECRET.search(value)
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

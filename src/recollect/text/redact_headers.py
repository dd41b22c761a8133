"""
Find secrets in HTTP headers, cookies, URLs and command lines.

Their place makes them secrets: after `Authorization:`, between `://user:` and `@`, after
`--password`. A command is read to the end of its line at most.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping

from recollect.text.lazy_pattern import LazyPattern
from recollect.text.redact_issued_keys import SecretSpan
from recollect.text.redact_values import is_known_non_secret, is_ordinary_word, looks_random
from recollect.text.redaction_word_lists import COOKIE_ATTRIBUTES

_ARGUMENT = r"[\"']?(?P<secret>[^\s\"'`,;|<>\\]{4,400})"
_GAP = r"[^\n|;&]{0,160}?"  # between a command and its option

# Clue in lower case, kind, pattern from the clue on; a match begins after these characters.
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    (
        "authorization",
        "authorization",
        r"(?i:authorization)[\"']?\]?\s{0,4}[:=,]\s{0,4}[\"']?(?:(?i:basic|bearer|token|apikey|"
        r"api-key|ssws|digest|negotiate|key|hmac)\s+(?:token=|key=)?[\"']?)?"
        r"(?:username=[^\n]{0,200}?response=[\"']?)?(?P<secret>[A-Za-z0-9._~+/=:%-]{8,400})",
    ),
    ("bearer", "authorization", r"(?i:bearer)\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,400})"),
    (
        "://",
        "url-password",
        # A user has no "[", so a redaction mark is not a user. A password may contain an "@".
        r"://[^\s/:@\"'<>\[\\]{0,200}:(?P<secret>[^\s/\"'<>\\]{1,400})@(?=[^\s/@])",
    ),
    (
        "_auth",
        "authorization",
        r"_auth[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<secret>[A-Za-z0-9+/=]{8,400})",
    ),
    ('"auth"', "basic-auth", r"\"auth\"\s{0,2}:\s{0,2}\"(?P<secret>[A-Za-z0-9+/=]{8,400})"),
    (
        "auth",
        "auth-pair",
        r"auth\s{0,2}=\s{0,2}\([\"'][^\"'\n]{1,64}[\"'],\s{0,4}[\"'](?P<secret>[^\"'\n]{4,400})",
    ),
    (
        "x-auth",
        "authorization",
        r"(?i:x-auth)[\"']?\]?\s{0,4}[:=]\s{0,4}[\"']?(?P<secret>[\w.+/=-]{16,400})",
    ),
    ("sshpass", "option", r"sshpass\s+-p\s*" + _ARGUMENT),
    ("curl", "option", rf"curl\s{_GAP}(?:-u|--user)[ =]{{0,2}}[\"']?[\w.@+-]{{1,64}}:" + _ARGUMENT),
    (" -u ", "option", r" -u [\"']?[\w.@+-]{1,64}:" + _ARGUMENT),
    ("--user", "option", r"--user[ =][\"']?[\w.@+-]{1,64}:" + _ARGUMENT),
    ("mysql", "option", rf"mysql(?:dump|admin)?\s{_GAP}\s-p" + _ARGUMENT),
    ("docker login", "option", rf"docker login\s{_GAP}\s?-p\s" + _ARGUMENT),
    ("az login", "option", rf"az login\s{_GAP}\s-p\s" + _ARGUMENT),
    ("redis-cli", "option", rf"redis-cli\s{_GAP}\s?-a\s" + _ARGUMENT),
    ("unzip", "option", rf"unzip\s{_GAP}-P\s" + _ARGUMENT),
    ("7z", "option", rf"7za?\s{_GAP}\s-p" + _ARGUMENT),
    ("openssl", "option", rf"openssl\s{_GAP}\s-(?:k|K)\s" + _ARGUMENT),
    ("pass:", "option", r"pass:(?P<secret>[^\s\"'`,;|<>\\]{5,400})"),
    (
        "htpasswd",
        "option",
        r"htpasswd\s+-[a-zA-Z]*b[a-zA-Z]*\s+\S{1,200}\s+\S{1,64}\s+" + _ARGUMENT,
    ),
    ("smbclient", "option", rf"smbclient\s{_GAP}-U\s[\w.\\-]{{1,64}}%" + _ARGUMENT),
    ("sudo", "option", r"sudo\s+-S\s+<<<\s*" + _ARGUMENT),
    (
        "echo",
        "option",
        r"echo\s+(?:-n\s+)?" + _ARGUMENT + r"[\"']?\s*\|\s*(?:sudo\s+-S|[^\n|]{0,60}-stdin)",
    ),
    ("--with-token", "option", r"--with-token\s+<<<\s*" + _ARGUMENT),
    ("vault login", "option", r"vault login\s+(?:token=)?" + _ARGUMENT),
    ("setx", "option", r"setx\s+\w{0,40}(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|PAT)\s+" + _ARGUMENT),
    (
        "--",
        "option",
        r"--(?:[a-z]+-){0,3}(?:password|passwd|passphrase|token|api-?key|secret|account-key|pwd"
        r"|secret-key|access-key|auth-token)[\"']?(?:[ =]|,\s{0,4}(?=\"))[\"']?"
        r"(?P<secret>[^\s\"'`,;|<>\\]{5,400})",
    ),
    ("_authtoken", "option", r"(?i:_authtoken)\s+" + _ARGUMENT),
    ("secret_access_key", "option", r"(?i:secret_access_key)\s+(?P<secret>[A-Za-z0-9/+]{40})\b"),
    ("requirepass", "option", r"requirepass\s+" + _ARGUMENT),
    ("masterauth", "option", r"masterauth\s+" + _ARGUMENT),
    ("webdav", "option", r"webdav\s+[^\n]{0,80}?\bpass\s+" + _ARGUMENT),
)
_COMPILED = {clue: (kind, LazyPattern(pattern)) for clue, kind, pattern in _PATTERNS}
HEADER_CLUES = frozenset({*_COMPILED, "cookie"})
_COOKIE = LazyPattern(r"(?i:cookie)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<pairs>[^\r\n\"'\\]{4,4000})")
_CURL_COOKIE = LazyPattern(
    r"curl\s[^\n|;&]{0,160}?(?:-b|--cookie)\s[\"']?(?P<pairs>[^\r\n\"'\\]{4,4000})"
)
_PAIR = LazyPattern(r"([\w.-]{1,64})=([^\s;,]{6,4000})")
_URL_PLACEHOLDER = LazyPattern(
    r"^(?:[${%\[]|\*+$|(?i:x+|user|username|pass|passwd|password|pwd|secret|postgres|mysql|root"
    r"|guest|admin|example|changeme|token|your[-_]?\w*)$)"
)


def header_secrets(text: str, positions: Mapping[str, list[int]]) -> Iterator[SecretSpan]:
    """Yield the span and the kind of each secret in the headers, URLs and commands in *text*."""
    for clue, places in positions.items():
        if clue not in _COMPILED:
            continue
        kind, pattern = _COMPILED[clue]
        for at in places:
            if (match := pattern.match(text, at)) and _is_secret(kind, match["secret"]):
                yield (*match.span("secret"), "authorization" if "auth" in kind else kind)
    for clue, pattern in (("cookie", _COOKIE), ("curl", _CURL_COOKIE)):
        end = 0
        for at in positions.get(clue, ()):
            if at >= end and (match := pattern.match(text, at)):
                end = match.end()
                yield from _cookies(text, *match.span("pairs"))


def _cookies(text: str, start: int, end: int) -> Iterator[SecretSpan]:
    for pair in _PAIR.finditer(text, start, end):
        name, value = pair.groups()
        if name.casefold() in COOKIE_ATTRIBUTES or is_known_non_secret(value):
            continue
        if looks_random(value) and len(value) > 7:
            yield (*pair.span(2), "cookie")


def _is_secret(kind: str, value: str) -> bool:
    if not value or "[redacted" in value:
        return False
    match kind:
        case "url-password":
            return not _URL_PLACEHOLDER.search(value) and "<" not in value
        case "basic-auth":
            return _is_user_and_password(value)
        case "authorization":
            if is_known_non_secret(value) or is_ordinary_word(value):
                return False
            return looks_random(value) or _is_user_and_password(value)
    is_option = value.startswith("-")
    return not (is_option or is_known_non_secret(value) or is_ordinary_word(value))


def _is_user_and_password(value: str) -> bool:
    """Return whether *value* is the Base64 form of "user:password"."""
    try:
        decoded = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return ":" in decoded and decoded.isprintable()

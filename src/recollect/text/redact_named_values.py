"""
Find values that are assigned to the name of a secret: DB_PASS=…, "apiKey": "…", <token>…</token>.

The search starts at words such as "pass" or "key", reads the whole name around them, then the
operator and the value. `is_named_secret` gives the same judgement for a name and a value that are
known already, as in parsed JSON.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from recollect.text.lazy_pattern import LazyPattern
from recollect.text.redact_issued_keys import SecretSpan
from recollect.text.redact_values import (
    is_known_non_secret,
    is_ordinary_word,
    is_stop_word,
    looks_random,
)
from recollect.text.redaction_word_lists import (
    COUNTED,
    NAME_SUFFIXES,
    OTHER_KEYS,
    PASSWORD_NAMES,
    SECRET_KEYS,
    SECRET_NAMES,
)

KIND = "assigned-secret"
NAME_CLUES = frozenset(
    (
        *("pass", "pwd", "pw", "secret", "token", "key", "_pat", "psk", "credential", "kennwort"),
        *("contraseña", "contrasena", "mdp"),
    )
)
_MAX_NAME = 48
_WEAK_KEY_LENGTH = 16

_NAME_WORD = LazyPattern(r"[A-Z]+(?![a-zà-ÿ])|[A-Z]?[a-zà-ÿ]+")
_VALUE = (
    r"(?:\"(?P<double>(?:[^\"\\\n]|\\.){3,400})|'(?P<single>(?:[^'\\\n]|\\.){3,400})"
    r"|`(?P<back>[^`\\\n]{3,400})"
    r"|(?P<bare>[^\s\"'`,;\\<>][^\s\"'`,;\\<>]{3,399}))"
)
_ASSIGNED = LazyPattern(
    r"(?P<rest>[\w-]{0,24})"
    r"(?:(?P<op>[\"'`]?\]?[ \t]*"
    r"(?:=>|:=|->|→|:[ \t]*[A-Za-z][\w.\[\]|]{0,24}[ \t]*=(?!=)|[:=：＝](?!=)(?:\*\*)?)[ \t]*"
    r"|(?P<pair>[\"']?[ \t]*[,{]?\s{0,40}[\"']?(?:value|default)[\"']?[ \t]*[:=][ \t]*)"
    r"|(?P<comma>[\"'],\s{0,8}(?=[\"']))"
    r")(?:[rbf](?=[\"']))?(?:\[\]byte\()?" + _VALUE + r"|[\"']?>(?P<xml>[^<>\s]{4,400})<)"
)

_WORDS_OF_LINE = LazyPattern(r"(?:[ ][a-z]{2,12}){1,12}(?=\s*$|\n|[\\\"'])")


def named_values(text: str, positions: Mapping[str, list[int]]) -> Iterator[SecretSpan]:
    """Yield the span and the kind of each secret in *text* that is assigned to a name."""
    for clue, places in positions.items():
        if clue not in NAME_CLUES:
            continue
        removed_to = 0
        for at in places:
            if at < removed_to or not (match := _ASSIGNED.match(text, at + len(clue))):
                continue
            start = _name_start(text, at)
            name = text[start : match.end("rest")]
            strength = _name_strength(name, _word_before(text, start, name))
            if strength and (span := _secret_span(text, start, name, strength, match)):
                removed_to = span[1]
                yield (*span, KIND)


def is_named_secret(name: str, value: str) -> bool:
    """Return whether *value* is a secret because it is called *name*."""
    strength = _name_strength(name.lstrip("-"), "")
    return bool(strength) and len(value) > 3 and _is_secret(name, strength, value, quoted=True)


def _secret_span(
    text: str, start: int, name: str, strength: str, match: re.Match[str]
) -> tuple[int, int] | None:
    group = next(
        group for group in ("double", "single", "back", "bare", "xml") if match[group] is not None
    )
    value, (first, last) = match[group], match.span(group)
    if group == "bare" and value.endswith((".", ")", "!", "?", ":")) and "=" not in match["op"]:
        value = value.rstrip(".)!?:")
        last = first + len(value)
    if group == "bare" and "phrase" in name.casefold() and match["op"]:
        last = (_WORDS_OF_LINE.match(text, last) or match).end()
        value = text[first:last]
        return None if is_known_non_secret(value) or is_ordinary_word(value) else (first, last)
    if group == "bare":
        is_word = not looks_random(value)
        if is_word and not _is_bare_word_secret(text, start, name, strength, match):
            return None
        is_secret = _is_secret(name, strength, value, quoted=is_word)
    else:
        is_secret = _is_secret(name, strength, value, quoted=match["comma"] is None)
    return (first, last) if is_secret else None


def _is_bare_word_secret(
    text: str, start: int, name: str, strength: str, match: re.Match[str]
) -> bool:
    """Return whether an unquoted word can be a secret: in an environment or alone on its line."""
    if match["bare"].isdigit():
        return strength == "password"
    if match["op"] is None:
        return False
    if name.isupper():
        return match["op"] == "=" or strength == "password"
    line_end = text[match.end() : match.end() + 2]
    alone = not line_end or line_end[0] in "\r\n"
    before = text[max(0, start - 4) : start].rpartition("\n")[2].strip(" \t-")
    return strength == "password" and alone and not before and ":" in match["op"]


def _is_secret(name: str, strength: str, value: str, *, quoted: bool) -> bool:
    if is_known_non_secret(value):
        return False
    if value.isdigit():
        return strength == "password" and len(value) > 3
    if strength == "weak":
        return (
            len(value) >= _WEAK_KEY_LENGTH
            and " " not in value
            and looks_random(value)
            and any(char.isdigit() for char in value)
            and not _is_slug(value)
        )
    if " " in value.strip():
        return "phrase" in name.casefold() or name.casefold().endswith("mnemonic")
    if len(value) > 4 and looks_random(value):
        return not (value.isalpha() and is_stop_word(value))
    if not quoted or not value.isascii():
        return False
    if strength == "password":
        return not is_ordinary_word(value) and not _names_itself(name, value)
    return name.isupper() and len(value) > 11 and not is_stop_word(value) and "_" not in value


def _is_slug(value: str) -> bool:
    """Return whether *value* is words and numbers joined by dashes: user-profile-v2."""
    return all(
        part.isdigit() or part.isalpha() or len(part) < 4 for part in re.split("[-_.:/]", value)
    )


def _names_itself(name: str, value: str) -> bool:
    folded = value.casefold()
    return "password" in folded or folded in name.casefold()


def _name_start(text: str, at: int) -> int:
    start = at
    while (
        start > 0
        and at - start < _MAX_NAME
        and (text[start - 1].isalnum() or text[start - 1] in "_-.")
    ):
        start -= 1
    return start


def _word_before(text: str, start: int, name: str) -> str:
    """Return the word before a name that is only "key" or the like: "API key"."""
    if name.casefold() not in ("key", "token", "secret") or text[start - 1 : start] != " ":
        return ""
    return re.split(r"[^A-Za-z]", text[max(0, start - 16) : start - 1])[-1].casefold()


@lru_cache(maxsize=4096)
def _name_strength(name: str, word_before: str) -> str:
    """Return what *name* promises: a "password", a "secret", "weak" for some key, or ""."""
    words = [word.casefold() for word in _NAME_WORD.findall(name)]
    while len(words) > 1 and words[-1] in NAME_SUFFIXES:
        words.pop()
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else word_before
    if last in PASSWORD_NAMES or last.endswith(
        ("password", "passwd", "passphrase", "passwort", "kennwort")
    ):
        return "password"
    if last in SECRET_NAMES or last.endswith(
        ("token", "secret", "apikey", "secretkey", "accesskey")
    ):
        return "" if COUNTED.intersection(words) else "secret"
    if last != "key" and not last.endswith("_key"):
        return ""
    if before in SECRET_KEYS:
        return "secret"
    return "weak" if before and before not in OTHER_KEYS and name.upper() == name else ""

"""
Find secrets in sentences: "my token is …", "das Passwort lautet …", "密码是…".

The search starts at a noun (password, PIN, API key, …) in one of six languages. A value follows a
verb or a colon, stands directly behind the noun, or comes before it ("… is my password"). A word
without digits is a secret only if it cannot be said of a password ("the password is wrong").
"""

import re
from collections.abc import Iterator, Mapping

from recollect.text.lazy_pattern import LazyPattern
from recollect.text.redact_issued_keys import SecretSpan
from recollect.text.redact_values import is_known_non_secret, is_ordinary_word, looks_random
from recollect.text.redaction_word_lists import OTHER_KEYS

KIND = "password"

# Nouns in lower case, and what their value may be: "password" (also a word), "pin" (also digits),
# "key" (only something that looks random), "login" (user and password). "random password" is for
# languages in which nothing here knows what is said of a password ("la password è sbagliata").
_NOUNS_OF: dict[str, str] = {
    "password": (
        "password, passwd, pw, passphrase, pwd, passwort, kennwort, contraseña, contrasena, mdp, "
        "mot de passe, phrase de passe, phrase secrète, "
        "パスワード, 合言葉, パスフレーズ, 密码, 密碼, 口令"
    ),
    "pin": (
        "pin, passcode, door code, access code, security code, one-time code, verification code, "
        "entry code, gate code, recovery code, backup code, 2fa code, geheimzahl, zugangscode, "
        "sicherheitscode, code d'accès, code de sécurité, código de acceso, código de seguridad, "
        "暗証番号, 验证码, 驗證碼"
    ),
    "key": (
        "token, secret, api key, api-key, secret key, access key, private key, license key, "
        "master key, wifi key, key for the, schlüssel, geheimnis, jeton, clé, clef, clave, "
        "secreto, トークン, シークレット, apiキー, "
        "秘密鍵, アクセスキー, 令牌, 密钥, 密鑰, 金鑰, 秘钥, 私钥, 暗号"
    ),
    "any key": "key",
    "login": (
        "login, log in, creds, credentials, zugangsdaten, identifiants, credenciales, "
        "ログイン, 账号"
    ),
    "random password": "senha, пароль",
    "phrase": "seed phrase, recovery phrase, mnemonic, wallet phrase",
}
_NOUNS = {noun: nature for nature, nouns in _NOUNS_OF.items() for noun in nouns.split(", ")}
NOUN_CLUES = frozenset(_NOUNS)

_QUOTED = (
    r"[\"'`“„‘«「『”][ \u00a0]?(?P<quoted>[^\"'`“”„‘’«»「」『』\n\\]{3,80}?)"
    r"[ \u00a0]?[\"'`”“’»」』]"
)
_BARE = r"(?P<bare>[!#-&(-+\--:=?-\[\]-_a-~]{3,400})"
_VERB = (
    r"(?:is(?: now)?|was|are|will be|'s|’s|=|:|->|→|=>|lautet|ist(?: jetzt)?|heißt|war|sind|est"
    r"|c['’]est|sera|était|sont|es|era|será|son|è|é|[-–—])(?:\s?:)?"
)
_GAP = r"(?P<gap>s?(?:\*\*|__)?(?:[ \u00a0]?,)?(?:[ \u00a0]+[^\s.,:;!?\"“„«=→]{1,24}){0,6}?)"
_TOLD = LazyPattern(
    rf"{_GAP}(?:[ \u00a0]*(?P<verb>{_VERB})[ \u00a0]+|[ \u00a0]*(?P<colon>[:=：＝?])[ \u00a0]*)"
    rf"(?:{_QUOTED}|{_BARE})"
)
_VERBS_BEFORE_ANY_WORD = ("è", "é")
_CHANGED = LazyPattern(
    rf"{_GAP}[ \u00a0]+(?P<verb>to|auf|en|a|à|in|zu|from|von|de)[ \u00a0]+(?:{_QUOTED}|{_BARE})"
)
_CHANGE = LazyPattern(
    r"(?i)\b(?:chang|set\b|reset|updat|rotat|cambi|änder|geändert|setz|gesetzt|actualic|pus)"
)
_THEN = LazyPattern(r" (?:to|auf|en|a|à|zu) (?P<bare>[!#-&(-+\--:=?-\[\]-_a-~]{5,400})")
_IS_KEY = LazyPattern(r" (?:is|was|ist|est|es):? [\"'`]?(?P<bare>[A-Za-z0-9]{16,400})(?![\w-])")
_DIRECT = LazyPattern(rf"(?P<gap>)(?P<verb>)[ \u00a0]+(?![:=(\[])(?:{_QUOTED}|{_BARE})")
_CJK_AFTER = LazyPattern(
    r"(?P<gap>[^\s!-~。、，「『“：＝は是为為]{0,8})(?:[ \u3000]*"
    r"(?P<verb>は|が|を|是|为|為|改成|改为|设为|：|:|＝|=))?"
    rf"[ \u3000]*(?:{_QUOTED}|{_BARE})"
)
_LATIN_BEFORE = LazyPattern(
    r"(?:^|[\s\"'`“„«(])(?P<bare>[^\s\"'`“„«»”(),]{6,})[\"'`”“»]?,?[ \u00a0]+"
    r"(?:is|as|ist|als|est|comme|es|como|that['’]s)[ ]+(?:[^\s.,;:!?]{1,12}[ ]+){0,3}"
    r"(?:[^\s.,;:!?]{1,12}-)?$"
)
_CJK_BEFORE = LazyPattern(r"(?P<bare>[!-~]{6,})(?:を|が|作为|作為|当作|是|做)(?:我的|新的|私の)?$")
_LOGIN_AFTER = LazyPattern(
    r"[^\n/]{0,24}?[ :：]\s?(?P<user>[\w.@+-]{1,40})(?:\s?/\s?|:)(?P<bare>[^\s\"'`,;]{5,400})"
)
_PHRASE_AFTER = LazyPattern(
    r"[ \t]*(?:is|:|=)[ \t]*[\"'“]?(?P<bare>(?:[a-z]{3,8}[ \t]+){11,23}[a-z]{3,8})"
)
_CODES_AFTER = LazyPattern(
    r"(?:s| codes)?[ \t]*(?:are|is|:)[ \t]*(?P<bare>\w{4,12}(?:[ ,-]+\w{4,12}){0,11})"
)
_END_OF_CLAUSE = LazyPattern(
    r"[.!?。！,;，、)）]?(?:[\s\"'`”’»」』\\}\])]|$)|です|だ|で|に|了|登|の"
)
_CLAUSE_GOES_ON = LazyPattern(
    r"[ ]+(?!(?:for|btw|by the way|ok|on|now|please|pour|für|para)\b|$)\w"
)
_PROSE = LazyPattern(r"[A-Za-z]+['’][a-z]{1,4}$|[A-Za-z]+(?:[/-][A-Za-z]+)+$")
_TRAILING = ".,;:!?。，、）)"
_MAX_BEFORE = 90
_CJK = LazyPattern("[\u3040-\u30ff\u3400-\u9fff]")


def spoken_values(text: str, positions: Mapping[str, list[int]]) -> Iterator[SecretSpan]:
    """Yield the span and the kind of each secret that a sentence in *text* tells."""
    for noun, places in positions.items():
        if noun not in NOUN_CLUES:
            continue
        removed_to = 0
        for at in places:
            end = at + len(noun)
            if at >= removed_to and _is_whole_word(text, at, end, noun):
                for span in _values(text, at, end, noun):
                    removed_to = max(removed_to, span[1])
                    yield (*span, KIND)


def _values(text: str, at: int, end: int, noun: str) -> Iterator[tuple[int, int]]:
    nature = _NOUNS[noun]
    if nature == "phrase":
        if match := _PHRASE_AFTER.match(text, end):
            yield match.span("bare")
        return
    if nature == "login":
        match = _LOGIN_AFTER.match(text, end)
        if match and looks_random(match["bare"]) and not is_known_non_secret(match["bare"]):
            yield match.span("bare")
        return
    if noun.endswith(" code") and (match := _CODES_AFTER.match(text, end)):
        if any(char.isdigit() for char in match["bare"]):
            yield match.span("bare")
        return
    if nature == "any key":
        yield from _any_key(text, at, end)
        return
    cjk = bool(_CJK.match(noun[-1]) or _CJK.match(text, end))
    for pattern in (_CJK_AFTER,) if cjk else (_TOLD, _CHANGED, _DIRECT):
        if pattern is _CHANGED and not _CHANGE.search(text, max(0, at - 40), end + 60):
            continue
        match = pattern.match(text, end)
        if match and (spans := list(_told_spans(text, match, nature, cjk=cjk))):
            yield from spans
            break
    window = text[max(0, at - _MAX_BEFORE) : at]
    before = (_CJK_BEFORE if cjk else _LATIN_BEFORE).search(window)
    if before and _is_random_value(before["bare"]):
        start = at - len(window) + before.start("bare")
        yield start, start + len(before["bare"])


def _any_key(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what a key "is", if it is long and random and the key is not a public or cache key."""
    match = _IS_KEY.match(text, end)
    word_before = re.split(r"[^a-z]", text[max(0, at - 16) : at].casefold().rstrip())[-1]
    if match and word_before not in OTHER_KEYS and _is_random_value(match["bare"]):
        yield match.span("bare")


def _told_spans(
    text: str, match: re.Match[str], nature: str, *, cjk: bool
) -> Iterator[tuple[int, int]]:
    """Yield the value of *match* if it is a secret, and the new value that follows an old one."""
    has_verb = bool(match["verb"] or match.groupdict().get("colon"))
    if match["quoted"]:
        value = match["quoted"]
        if not is_known_non_secret(value) and _is_quoted_secret(value, nature, has_verb=has_verb):
            yield match.span("quoted")
        return
    value = _without_markup(match["bare"])
    span = match.start("bare"), match.start("bare") + len(value)
    rest = text[span[1] : span[1] + 24]
    if is_known_non_secret(value) or len(value) < 4 or rest.startswith("\\u"):
        return
    ends = not rest or _END_OF_CLAUSE.match(rest) is not None
    if value.isdigit():
        if has_verb and ends and nature in ("pin", "password"):
            yield span
    elif _is_random_value(value) and (nature != "key" or has_verb or cjk or _is_long_key(value)):
        yield span
        if second := _THEN.match(text, span[1]):
            yield second.span("bare")
    elif (
        nature == "password"
        and has_verb
        and match["verb"] not in _VERBS_BEFORE_ANY_WORD
        and _is_word_secret(value, rest, match["gap"], ends=ends)
    ):
        yield span


def _is_quoted_secret(value: str, nature: str, *, has_verb: bool) -> bool:
    if " " in value:
        return nature == "password" and has_verb and value.count(" ") >= 2
    if _is_random_value(value):
        return True
    return nature == "password" and _is_word(value) and not is_ordinary_word(value)


def _is_random_value(value: str) -> bool:
    return (
        len(value) >= 5
        and looks_random(value)
        and not is_known_non_secret(value)
        and not _is_prose(value)
    )


def _is_word_secret(value: str, rest: str, gap: str, *, ends: bool) -> bool:
    """Return whether a word without digits is the password itself, and not said of it."""
    if not ends or _CLAUSE_GOES_ON.match(rest) or "?" in rest[:2] or len(gap.split()) > 4:
        return False
    return len(value) > 4 and _is_word(value) and not is_ordinary_word(value)


def _is_long_key(value: str) -> bool:
    """Return whether *value* is so long and mixed that it needs no verb before it."""
    return len(value) >= 16 and value.isalnum()


def _is_word(value: str) -> bool:
    return len(value) > 3 and value.isascii() and "_" not in value  # an underscore is from code


def _is_prose(value: str) -> bool:
    """Return whether *value* is "don't", "and/or", "JWT-based" or a number with its unit."""
    if value[0].isdigit():
        return not any(char.isalpha() for char in value) or (value[1:].islower() and len(value) < 6)
    return _PROSE.match(value) is not None


def _without_markup(value: str) -> str:
    value = value.rstrip(_TRAILING)
    for mark in "\"'`*)":
        value = value.rstrip(mark)
    return value.rstrip(_TRAILING)


def _is_whole_word(text: str, at: int, end: int, noun: str) -> bool:
    """Return whether the noun is not part of a longer Latin word or of a name in code."""
    if not noun[0].isascii():
        return True
    before, after = text[max(0, at - 1) : at] or " ", text[end : end + 1] or " "
    plural = after == "s" and _NOUNS[noun] != "key"  # "tokens: gpt-4" counts them
    if after.isascii() and (after.isalnum() or after in "_-(.[") and not plural:
        return False
    if noun in ("passwort", "kennwort", "schlüssel"):  # the last part of German compounds
        return True
    return not (before.isascii() and (before.isalnum() or before in "_.$"))

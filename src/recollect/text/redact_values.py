"""
Judge whether a value that is called a password, token or key is a secret.

Placeholders, code that only reads a secret, types, paths, names of algorithms and ordinary words
are not. These functions see the value and nothing around it.
"""

from functools import lru_cache

from recollect.text.lazy_pattern import LazyPattern
from recollect.text.redaction_word_lists import NON_SECRET_WORDS, PREDICATE_ENDINGS

MAX_JUDGED = 400  # characters of a value that are read; a longer one is removed to its end

# Code, placeholders, masks, paths, names of algorithms.
_NOT_A_SECRET = LazyPattern(
    r"^(?:[$%<{\[(*.&!•#@|]|(?i:(?:your|my|the|insert|replace|enter|some|any)(?![A-Za-z0-9])"
    r"|(?:your|insert|replace|enter|change)[-_ ]?(?:me|your|the|a|api|key|token|pass"
    r"|secret|with|this|it)"
    r"|(?:none|null|nil|true|false|undefined|todo|tbd|test|dummy|fake|sample|foo|bar|string|str"
    r"|bytes|optional|required|any)\b(?![-_.!@#$%^&*+]\w)"
    r"|x{3}|changeme|example|placeholder|redacted|hidden|masked|process\.env|import\.meta|os\."
    r"|env\.|env::|config\.|settings\.|self\.|this\.|args\.|request\.|ctx\.|opts\.|options\."
    r"|params\.|props\.|data\.|var\.|local\.|module\.|secrets\.|github\.|v\d+(?:\.\d+)*$))"
    r"|(?i:[-_ ]your[-_ ])|(?i:[-_]here$)|[(){}<>]|\*{3}|\.{3}|•|(?i:xxxx)|…"
    # user.password1, Config.DB_PASSWORD
    r"|^[A-Za-z_]+(?:\.(?:[a-z_]+|[a-z]*(?:[A-Z][a-z]+)+|[A-Z_]+)\d{0,2})+$"
    r"|^[A-Za-z_][\w.]*\["  # tokens[0], Optional[str]
    r"|^[A-Za-z]+(?:\|[A-Za-z0-9:]*)+$"  # str|None, required|min:8
    r"|^[A-Z]+(?:_[A-Z0-9]+)+$|^__\w+__$"  # API_KEY_V2
    r"|^(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+/?$|^[A-Za-z]:[\\/]|^[A-Za-z][\w+.-]*://"
    r"|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$"
    r"|^(?i:sha-?\d|md5|argon2|bcrypt|scrypt|pbkdf2|hs\d|rs\d|es\d|hmac|aes-?\d|rsa-?\d|oauth"
    r"|utf-?\d|base-?64|ed25519|x509|rfc|jwt\b|1password|bitwarden|keepass|vault\b|hashicorp)[\w-]{0,8}$"
    r"|^\d+[-+]?(?:[a-z]{1,2}|[a-z]*(?:chars?|characters?|digits?|letters?|days?|hours?|bits?"
    r"|bytes?|min|minutes?|months?|weeks?|years?|stellig))$"
    r"|^(?:[A-Z]?[a-z]+\()|\[redacted"
)
_CHUNK = LazyPattern(r"[A-Z]?[a-zà-ÿ]+|[A-Z]+(?![a-z])")
# Pairs of letters that are in hardly any word of a European language.
_RARE_PAIR = LazyPattern(
    "q[^u]|[jv][bcdfgjkmpqtwxz]|[bcdfgjkmpqtvwxz][qx]|z[bcdfgjkpqrsvx]|[bcghkpqtvwxz]j"
)
_VOWELS = frozenset("aeiouyäöüáéíóúàèâêô")


def is_known_non_secret(value: str) -> bool:
    """Return whether *value* stands for a secret that is elsewhere."""
    if _NOT_A_SECRET.search(value):
        return True
    return len(set(value)) < 3 and len(value) > 4


def looks_random(value: str) -> bool:
    """Return whether *value* is not a word: letters with digits, symbols or irregular case."""
    has_letter = has_other = False
    for char in value:
        if char.isalpha():
            has_letter = True
        elif char not in "_-. /":
            has_other = True
        if has_letter and has_other:
            return True
    return has_letter and _letters_look_random(value)


def is_ordinary_word(value: str) -> bool:
    """Return whether *value* is something that is said of a password rather than a password."""
    folded = value.casefold().strip(" .,;:!?")
    if folded in NON_SECRET_WORDS:
        return True
    return folded.endswith(PREDICATE_ENDINGS) and folded.isalpha() and not looks_random(value)


def is_stop_word(value: str) -> bool:
    """Return whether *value* is the name of a field, a type or another word found in forms."""
    folded = value.casefold().strip(" .,;:!?")
    return folded in NON_SECRET_WORDS


@lru_cache(maxsize=1024)
def _letters_look_random(value: str) -> bool:
    """Return whether letters without digits are not made of words: changing case, no vowels."""
    letters = "".join(char for char in value if char.isalpha())
    if len(letters) < 6 or not letters.isascii():
        return False
    if not letters.islower() and not letters.isupper():
        chunks = _CHUNK.findall(value)
        odd = sum(len(chunk) < 3 or _VOWELS.isdisjoint(chunk.casefold()) for chunk in chunks)
        return len(letters) >= 8 and odd > 1 and odd / len(chunks) >= 0.3
    folded = letters.casefold()
    run = longest = 0
    for char in folded:
        run = 0 if char in _VOWELS else run + 1
        longest = max(longest, run)
    vowels = sum(char in _VOWELS for char in folded)
    if len(folded) == len(value) >= 10 and _RARE_PAIR.search(folded):
        return True
    return "-" not in value and "_" not in value and (longest >= 6 or vowels / len(folded) < 0.1)

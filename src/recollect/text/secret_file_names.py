"""
Recognise files and folders that hold secrets, by name only.

The check runs before a file is opened. Secrets inside a text are removed by text/redact.py.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

_FOLDERS = {
    ".git": "git keeps credentials and hooks in it",
    ".ssh": "it holds keys",
    ".gnupg": "it holds keys",
    ".aws": "it holds credentials",
    ".azure": "it holds credentials",
    ".gcloud": "it holds credentials",
    ".kube": "it holds credentials",
    ".docker": "it holds credentials",
}
_KEY_REASON = "its name is that of a key"
_CREDENTIALS_REASON = "its name is that of stored credentials"
_FILES = {
    ".env": "it sets secrets of an environment",
    ".env.*": "it sets secrets of an environment",
    "*.env": "it sets secrets of an environment",
    ".envrc": "it sets secrets of an environment",
    "id_rsa*": _KEY_REASON,
    "id_dsa*": _KEY_REASON,
    "id_ecdsa*": _KEY_REASON,
    "id_ed25519*": _KEY_REASON,
    "*.pem": _KEY_REASON,
    "*.key": _KEY_REASON,
    "*.ppk": _KEY_REASON,
    "*.p12": _KEY_REASON,
    "*.pfx": _KEY_REASON,
    "*.jks": _KEY_REASON,
    "*.keystore": _KEY_REASON,
    "*.kdbx": _CREDENTIALS_REASON,
    "*.tfstate": _CREDENTIALS_REASON,
    ".netrc": _CREDENTIALS_REASON,
    "_netrc": _CREDENTIALS_REASON,
    ".pgpass": _CREDENTIALS_REASON,
    ".npmrc": _CREDENTIALS_REASON,
    ".pypirc": _CREDENTIALS_REASON,
    ".htpasswd": _CREDENTIALS_REASON,
    ".git-credentials": _CREDENTIALS_REASON,
    ".vault-token": _CREDENTIALS_REASON,
    "credentials": _CREDENTIALS_REASON,
    "credentials.json": _CREDENTIALS_REASON,
    "secrets.json": _CREDENTIALS_REASON,
    "secrets.toml": _CREDENTIALS_REASON,
    "secrets.yaml": _CREDENTIALS_REASON,
    "secrets.yml": _CREDENTIALS_REASON,
}
# Files that are published on purpose: public keys and example settings.
_HARMLESS = ("*.pub", "*.example", "*.sample", "*.template", "*.dist")


def secret_path_reason(parts: Iterable[str]) -> str:
    """Return why the path of these *parts* is treated as secret, or '' if it is not."""
    names = [_normalize_name(part) for part in parts]
    for name in names:
        if reason := _FOLDERS.get(name):
            return reason
    if not names or any(fnmatchcase(names[-1], pattern) for pattern in _HARMLESS):
        return ""
    return next(
        (reason for pattern, reason in _FILES.items() if fnmatchcase(names[-1], pattern)), ""
    )


def _normalize_name(part: str) -> str:
    # Some file systems ignore case; Windows ignores dots and spaces at the end, and text after ":".
    return (part.partition(":")[0].rstrip(". ") or part).casefold()

"""
Names of files and folders that are there to hold secrets.

By name alone, before anything is opened. What a file says is text/redact.py's business.
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
_KEY = "its name is that of a key"
_CREDENTIALS = "its name is that of stored credentials"
_FILES = {
    ".env": "it sets secrets of an environment",
    ".env.*": "it sets secrets of an environment",
    "*.env": "it sets secrets of an environment",
    ".envrc": "it sets secrets of an environment",
    "id_rsa*": _KEY,
    "id_dsa*": _KEY,
    "id_ecdsa*": _KEY,
    "id_ed25519*": _KEY,
    "*.pem": _KEY,
    "*.key": _KEY,
    "*.ppk": _KEY,
    "*.p12": _KEY,
    "*.pfx": _KEY,
    "*.jks": _KEY,
    "*.keystore": _KEY,
    "*.kdbx": _CREDENTIALS,
    "*.tfstate": _CREDENTIALS,
    ".netrc": _CREDENTIALS,
    "_netrc": _CREDENTIALS,
    ".pgpass": _CREDENTIALS,
    ".npmrc": _CREDENTIALS,
    ".pypirc": _CREDENTIALS,
    ".htpasswd": _CREDENTIALS,
    ".git-credentials": _CREDENTIALS,
    ".vault-token": _CREDENTIALS,
    "credentials": _CREDENTIALS,
    "credentials.json": _CREDENTIALS,
    "secrets.json": _CREDENTIALS,
    "secrets.toml": _CREDENTIALS,
    "secrets.yaml": _CREDENTIALS,
    "secrets.yml": _CREDENTIALS,
}
# What is published on purpose: public halves, and examples that show which settings there are.
_HARMLESS = ("*.pub", "*.example", "*.sample", "*.template", "*.dist")


def why_secret(parts: Iterable[str]) -> str:
    """Return why the path of these *parts* is taken for secret, or nothing where it is not."""
    names = [_plain(part) for part in parts]
    for name in names:
        if why := _FOLDERS.get(name):
            return why
    if not names or any(fnmatchcase(names[-1], harmless) for harmless in _HARMLESS):
        return ""
    return next((why for shape, why in _FILES.items() if fnmatchcase(names[-1], shape)), "")


def _plain(part: str) -> str:
    # Some file systems ignore case, and Windows dots and spaces at the end and streams after ":".
    return (part.partition(":")[0].rstrip(". ") or part).casefold()

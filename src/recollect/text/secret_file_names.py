"""
Recognise files and folders that hold secrets, by name only.

The check runs before a file is opened. Secrets inside a text are removed by text/redact.py.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

_FOLDERS = {
    ".git": "git keeps credentials and hooks in it",
    **dict.fromkeys((".ssh", ".gnupg"), "it holds keys"),
    **dict.fromkeys((".aws", ".azure", ".gcloud", ".kube", ".docker"), "it holds credentials"),
}
_FILES = {
    "it sets secrets of an environment": ".env .env.* *.env .envrc",
    "its name is that of a key": """
        id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.ppk *.p12 *.pfx *.jks *.keystore
    """,
    "its name is that of stored credentials": """
        *.kdbx *.tfstate .netrc _netrc .pgpass .npmrc .pypirc .htpasswd .git-credentials
        .vault-token credentials credentials.json secrets.json secrets.toml secrets.yaml secrets.yml
    """,
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
    for reason, patterns in _FILES.items():
        if any(fnmatchcase(names[-1], pattern) for pattern in patterns.split()):
            return reason
    return ""


def _normalize_name(part: str) -> str:
    # Some file systems ignore case; Windows ignores dots and spaces at the end, and text after ":".
    return (part.partition(":")[0].rstrip(". ") or part).casefold()

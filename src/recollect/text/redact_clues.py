"""
Find the places in a text where a secret may be told or assigned.

A clue is a name such as "password", a command such as "curl", or a noun in another language. Every
clue contains one of a few stems, and each stem is searched once. Most texts contain none of them.
"""

from collections.abc import Iterable

_STEMS = (
    *(
        "pass",
        "pwd",
        "pw",
        "pin",
        "code",
        "token",
        "secret",
        "key",
        "phrase",
        "mnemonic",
        "kennwort",
        "senha",
    ),
    *("contrasena", "mdp", "geheim", "jeton", "clef", "clave", "log", "cred", "zugangsdaten"),
    *("identifiants", "_pat", "psk", "auth", "bearer", "cookie", "://", "setx", "webdav"),
)
_COMMAND_STEMS = (  # a secret follows an option, which has a dash
    *(" -u ", "--", "curl", "mysql", "redis-cli", "unzip", "7z", "openssl", "smbclient", "sudo"),
    "echo",
)
_OTHER_STEMS = (
    *(
        "contraseña",
        "schlüssel",
        "clé",
        "código",
        "пароль",
        "パス",
        "キー",
        "合言葉",
        "トークン",
        "シークレット",
    ),
    *("ログイン", "密", "口令", "暗", "验证码", "驗證碼", "秘", "令牌", "金鑰", "私钥", "账号"),
)


class ClueFinder:
    """Finds where each of many clues occurs in a text."""

    def __init__(self, clues: Iterable[str]) -> None:
        all_stems = (*_STEMS, *_COMMAND_STEMS, *_OTHER_STEMS)
        by_stem: dict[str, list[tuple[str, int]]] = {stem: [] for stem in all_stems}
        for clue in sorted(set(clues)):
            stem = next(stem for stem in all_stems if stem in clue)
            by_stem[stem].append((clue, clue.index(stem)))
        self._by_stem = by_stem

    def positions(self, lowered: str) -> dict[str, list[int]]:
        """Return where each clue occurs in a lower-case text; leave out absent clues."""
        stems = [stem for stem in _STEMS if stem in lowered]
        if "-" in lowered:
            stems += (stem for stem in _COMMAND_STEMS if stem in lowered)
        if not lowered.isascii():
            stems += (stem for stem in _OTHER_STEMS if stem in lowered)
        positions: dict[str, list[int]] = {}
        for stem in stems:
            clues = self._by_stem[stem]
            at = lowered.find(stem)
            while at >= 0:
                for clue, offset in clues:
                    if at >= offset and lowered.startswith(clue, at - offset):
                        positions.setdefault(clue, []).append(at - offset)
                at = lowered.find(stem, at + len(stem))
        return positions

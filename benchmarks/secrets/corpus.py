"""
Read the labelled texts and fill them with made-up values.

A file has sections `[group language]` and one text per line. `«…»` marks a secret; `{hex:32}` and
the like stand for random characters, drawn at run time so that no file holds anything that a
scanner of repositories could take for a leaked key. The characters depend on the line only, so
every run sees the same texts.
"""

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

HALVES = ("development", "heldout")

_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "num": string.digits,
    "lo": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + "234567",
    "an": string.ascii_letters + string.digits,
    "Abc": string.ascii_letters,
    "b64": string.ascii_letters + string.digits + "+/",
    "url": string.ascii_letters + string.digits + "_-",
}
_PLACEHOLDER = re.compile(r"\{(?:(" + "|".join(_ALPHABETS) + r"):(\d+)|(uuid|jwt|basic))\}")
_SECRET = re.compile("«([^«»]+)»")
_PLAIN_RUN = re.compile(r"[A-Za-z0-9_.-]+")  # characters that no carrier escapes
_WINDOW = 8


@dataclass(frozen=True)
class CorpusText:
    """A text, the secrets in it (none in a look-alike), and where it comes from."""

    half: str
    group: str
    language: str
    text: str
    secrets: tuple[str, ...] = ()


def read_secrets(half: str) -> list[CorpusText]:
    """Return the texts of *half* that hold secrets."""
    return list(_read(half, "secrets"))


def read_lookalikes(half: str) -> list[CorpusText]:
    """Return the texts of *half* that hold no secret."""
    return list(_read(half, "lookalikes"))


def leaks(secret: str, redacted: str) -> bool:
    """Return whether *redacted* still shows eight characters in a row of *secret*."""
    runs = _PLAIN_RUN.findall(secret.replace("\\n", "\n"))
    size = min(_WINDOW, max(map(len, runs)))
    return any(
        run[start : start + size] in redacted
        for run in runs
        for start in range(len(run) - size + 1)
    )


def _in_json(text: str) -> str:
    return json.dumps({"command": f"cat .env\n\t{text}\nexit 0"}, ensure_ascii=False)


CARRIERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "chat": lambda text: f"Sure, as you wrote:\n> {text}\n\nWhat is next?",
    "markdown": lambda text: f"Then:\n\n```\n{text}\n```\n",
    "YAML": lambda text: "run: |\n  " + text.replace("\n", "\n  ") + "\n  exit 0\n",
    "Python": lambda text: f"OUTPUT = {'start' + chr(10) + text!r}",
    "JSON": _in_json,
    "JSON, ASCII": lambda text: json.dumps([{"output": f"\n{text}"}]),
    "JSON in JSON": lambda text: json.dumps({"arguments": _in_json(text)}),
    "JSON in JSON in JSON": lambda text: json.dumps({"body": json.dumps({"x": _in_json(text)})}),
    "URL": lambda text: "https://acme.io/search?q=" + quote(f"\n{text}\n", safe=""),
}


def _read(half: str, name: str) -> Iterator[CorpusText]:
    lines = Path(__file__).with_name(f"{half}_{name}.txt").read_text(encoding="utf-8").splitlines()
    group = language = ""
    for line in lines:
        if section := re.fullmatch(r"\[(\w+) (\w+)\]", line):
            group, language = section.groups()
        elif line and not line.startswith("# "):
            text = _filled(line).replace("⏎", "\n").replace("⇥", "\t")
            secrets = tuple(_SECRET.findall(text))
            unmarked = _SECRET.sub(lambda match: match[1], text)
            yield CorpusText(half, group, language, unmarked, secrets)


def _filled(line: str) -> str:
    """Return *line* with its placeholders replaced by random values that depend on it only."""
    rng = random.Random(line)

    def value(match: re.Match[str]) -> str:
        alphabet, length, special = match.groups()
        if special == "uuid":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if special == "basic":
            return base64.b64encode(f"deploy:{_characters(rng, 'an', 12)}".encode()).decode()
        if special == "jwt":
            payload = base64.urlsafe_b64encode(f'{{"sub":"{rng.random()}"}}'.encode()).decode()
            return f"eyJhbGciOiJIUzI1NiJ9.{payload.rstrip('=')}.{_characters(rng, 'url', 43)}"
        return _characters(rng, alphabet, int(length))

    return _PLACEHOLDER.sub(value, line)


def _characters(rng: random.Random, alphabet: str, length: int) -> str:
    """Return random characters: a letter first and last, and a digit where the alphabet has one."""
    letters = _ALPHABETS[alphabet]
    while True:
        drawn = "".join(rng.choices(letters, k=length))
        has_digit = any(char.isdigit() for char in drawn)
        if length < 5 or (
            drawn[0].isalnum() and drawn[-1].isalnum() and has_digit == (alphabet != "Abc")
        ):
            return drawn

"""
The words of an action that is about to be taken, for a comparison with statements of the user.

A command is compared part by part (`a && b`), without prose in quotation marks and without parts
that only look. A change of a file is compared by its path, and by the text that it adds. Pure.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from recollect.engine.learn.shell_commands import command_pieces, is_inspection
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.rule_clauses import word_root
from recollect.text.transcripts.json_fields import records_at, text_at

MAX_TEXT_CHARS = 20_000
PROSE_SUFFIXES = frozenset({".md", ".txt", ".rst", ".adoc"})  # a text may mention what is rejected

_PROSE = LazyPattern(r"""(["'])(?:(?!\1).)*\s(?:(?!\1).)*\1""", flags=re.DOTALL)
_TOKEN = re.compile(r"[^\s\"'`=,;()<>|&]+")
_NAME = re.compile(r"[A-Za-z][\w.+#-]*")
_CAMEL_PARTS = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NEW_TEXT_KEYS = ("content", "new_string", "new_source", "new_str", "text", "code_edit")
# Subcommands that add packages to a project or a machine; their other words are names of packages.
_ADDS_PACKAGES = frozenset({"add", "install", "i", "require"})
# A comment may mention what is rejected, like prose. `#include`, `#[derive]` and `#!` are none.
_COMMENT = LazyPattern(
    r"^[ \t]*(?://|\#(?![!\[]|\w)|/?\*+(?:\s|/|$)|--\s|<!--).*$|\s//\s.*$|\s\#\s.*$",
    flags=re.MULTILINE,
)
_ADDED_LINE = re.compile(r"^\+(?!\+\+)(.*)$", re.MULTILINE)


def command_word_sets(command: str) -> list[frozenset[str]]:
    """Return the words of each part of *command* that does something."""
    pieces = command_pieces(_PROSE.sub(" ", command))
    return [frozenset(_command_words(piece)) for piece in pieces if not is_inspection(piece)]


def path_words(path: str) -> frozenset[str]:
    """Return the words of the folders and of the name of a file."""
    parts = PurePath(path).parts
    words = {word_root(part) for part in parts}
    words.update(word_root(word) for part in parts for word in re.split(r"[\W_]+", part) if word)
    return frozenset(words)


def added_text(arguments: Mapping[str, object]) -> str:
    """
    Return the text that a call adds to a file: whole, by a replacement, or by a patch.

    Comments are left out.
    """
    texts = [text_at(arguments, key) for key in _NEW_TEXT_KEYS]
    texts += [text_at(edit, *_NEW_TEXT_KEYS) for edit in records_at(arguments, "edits")]
    patch = text_at(arguments, "patch", "input", "diff")
    texts += _ADDED_LINE.findall(patch)
    text = "\n".join(filter(None, texts))[:MAX_TEXT_CHARS]
    return _COMMENT.sub("", text)


def text_words(text: str) -> frozenset[str]:
    """Return the words of a program's text: names, and the parts of names."""
    words: set[str] = set()
    for name in _NAME.findall(text):
        words.add(word_root(name.strip(".-")))
        parts = [
            part for piece in re.split(r"[\W_]+", name) for part in _CAMEL_PARTS.findall(piece)
        ]
        words.update(word_root(part) for part in parts if len(part) > 2)
    return frozenset(words)


def _command_words(piece: str) -> Iterator[str]:
    tokens = _TOKEN.findall(piece)
    adds_packages = not _ADDS_PACKAGES.isdisjoint(tokens[1:3])
    for token in tokens:
        name = token.partition("@")[0] or token  # a package with its version
        yield word_root(name.rstrip(":"))
        first, hyphen, _ = name.partition("-")
        if adds_packages and first and hyphen:
            yield word_root(first)  # `openssl-sys` is part of openssl
        if "/" in token and "://" not in token:
            yield from (word_root(part) for part in token.split("/") if part)

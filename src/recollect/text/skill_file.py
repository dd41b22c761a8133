"""
Read and write SKILL.md: front matter with a name and a description, then instructions.

Reading never fails. A skill that somebody wrote carelessly is still of use, so every fault is a
sentence in `problems` that says what, where, and what to do. Writing is strict: what comes out
reads back as what went in. This file opens no file and knows no folder but by name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.domain.skill import Skill, SkillOrigin
from recollect.errors import InvalidInput, TooLarge
from recollect.text.clean import clean
from recollect.text.front_matter import (
    MOST_CHARS,
    MOST_DEPTH,
    read_front_matter,
    write_front_matter,
)

MOST_NAME = 64
MOST_DESCRIPTION = 1_024
MOST_CONTENT = 1_048_576
MOST_PROBLEMS = 20  # said about one file: who has more begins with these

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NO_NAME = re.compile(r"[^a-z0-9]+")
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")  # Read, Bash(git add:*)
_OWN = ("license", "compatibility", "allowed-tools")  # beside `metadata`, by the format
_KNOWN = frozenset(
    {
        *("name", "description", "metadata", "category", "tags", *_OWN),
        # What well-known programs read as well.
        *("version", "author", "model", "agent", "context", "hooks", "paths", "argument-hint"),
        *("disable-model-invocation", "user-invocable", "when_to_use"),
    }
)


def read_skill(
    content: str, *, folder: str, origin: SkillOrigin, path: str, files: Iterable[str] = ()
) -> Skill:
    """Return the skill that *content* describes; *folder* is the name of the folder it lies in."""
    content, problems = _readable(content)
    found = read_front_matter(content)
    problems += found.problems
    fields = found.fields
    body = found.body.strip()
    if not body:
        problems.append("There are no instructions below the front matter; write what to do.")
    metadata = _metadata(fields, problems)
    return Skill(
        name=_name(fields.get("name"), folder, problems),
        description=_description(fields.get("description"), body, problems),
        origin=origin,
        path=path,
        content=content,
        body=body,
        category=_category(metadata.get("category"), problems),
        tags=_tags(metadata.get("tags"), problems),
        metadata=metadata,
        files=tuple(files),
        problems=tuple(dict.fromkeys(problems))[:MOST_PROBLEMS],
    )


def write_skill(
    name: str, description: str, body: str, metadata: Mapping[str, Any] | None = None
) -> str:
    """
    Return a SKILL.md that reads back as *name*, *description*, *body* and *metadata*.

    Metadata are texts, lists and mappings; numbers and truth values are written as their text.
    Raises `InvalidInput` for what would not read back.
    """
    if problem := name_problem(name):
        raise InvalidInput(problem)
    description, body = _lines(clean(description)).strip(), _lines(clean(body)).strip()
    if not description or not body:
        empty = "body" if description else "description"
        raise InvalidInput(f"the {empty} of the skill {name} is empty; say what it does")
    if len(description) > MOST_DESCRIPTION:
        raise TooLarge(
            f"the description of the skill {name} has {len(description):,} characters; the most is "
            f"{MOST_DESCRIPTION:,}. Put the rest into the body"
        )
    told = _plain(metadata or {}, depth=2)
    own = {key: told.pop(key) for key in _OWN if key in told}
    fields = {"name": name, "description": description, **own}
    front = write_front_matter({**fields, "metadata": told} if told else fields)
    if len(front) > MOST_CHARS or len(front) + len(body) >= MOST_CONTENT:
        raise TooLarge(
            f"the skill {name} is too long: the most is {MOST_CHARS:,} characters of front matter "
            f"and {MOST_CONTENT:,} in all. Move parts of it into files beside SKILL.md"
        )
    return f"{front}\n{body}\n"


def name_problem(name: str) -> str:
    """Return what is wrong with *name* as the name of a skill, '' where nothing is."""
    if not name:
        return "the skill has no name; give one such as deploy-site"
    if len(name) > MOST_NAME:
        return f"the name “{name[:MOST_NAME]}…” has {len(name)} characters; the most is {MOST_NAME}"
    if not _NAME.fullmatch(name):
        return (
            f"the name “{name}” is not made of lower-case letters, digits and single hyphens; "
            f"write {_slug(name) or 'one such as deploy-site'}"
        )
    return ""


def _readable(content: str) -> tuple[str, list[str]]:
    problems = []
    content = content.removeprefix("\ufeff")
    if len(content) > MOST_CONTENT:
        problems.append(
            f"The file has {len(content):,} characters, and only the first {MOST_CONTENT:,} were "
            "read; move parts of it into files beside it."
        )
        content = content[:MOST_CONTENT]
    if (cleaned := clean(content)) != content:
        problems.append(
            "The file holds NUL or broken characters, shown as U+FFFD; save it as UTF-8 text."
        )
    return _lines(cleaned), problems


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _slug(text: str) -> str:
    return _NO_NAME.sub("-", text[:1_000].lower())[:MOST_NAME].strip("-")


def _name(given: object, folder: str, problems: list[str]) -> str:
    """Return the name in the file where it is one, else the folder's, else what comes closest."""
    sound = "" if name_problem(folder) else folder
    if given is None or given == "":
        name = sound or _slug(folder) or "unnamed"
        problems.append(f"The front matter has no name; write `name: {name}`.")
        return name
    if not isinstance(given, str):
        name = sound or _slug(folder) or "unnamed"
        problems.append(f"The name in the front matter is no text; write `name: {name}`.")
        return name
    if problem := name_problem(given):
        name = sound or _slug(given) or _slug(folder) or "unnamed"
        problems.append(f"In the front matter, {problem}. It is known as {name}.")
        return name
    if given != folder:
        problems.append(
            f"The name in the front matter, {given}, is not that of the folder, {folder[:100]}; "
            f"rename one of them. It is known as {given}."
        )
    return given


def _description(given: object, body: str, problems: list[str]) -> str:
    if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
        problems.append("The description is a list; write it as one text.")
        given = " ".join(given)
    if isinstance(given, str) and given.strip():
        return _within("description", given.strip(), problems)
    problems.append(
        "The front matter has no description; write one that says what the skill does and when "
        "to use it. Its first paragraph stands in."
    )
    pieces = (piece.strip() for piece in body.split("\n\n", 20)[:20])
    prose = next((one for one in pieces if one and not one.startswith(("#", "```", "---"))), "")
    return " ".join(prose.split())[:MOST_DESCRIPTION]


def _within(what: str, text: str, problems: list[str]) -> str:
    if len(text) > MOST_DESCRIPTION:
        problems.append(
            f"The {what} has {len(text):,} characters and is cut at {MOST_DESCRIPTION:,}; put the "
            "rest below the front matter."
        )
    return text[:MOST_DESCRIPTION]


def _metadata(fields: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return everything but name and description, `metadata` and its neighbours as one."""
    nested = fields.get("metadata", {})
    if not isinstance(nested, dict):
        if nested:
            problems.append("`metadata` holds no fields; write `key: value` lines below it.")
        nested = {}
    beside = {
        key: value
        for key, value in fields.items()
        if key not in ("name", "description", "metadata")
    }
    unknown = sorted(key for key in beside if key not in _KNOWN)
    if unknown:
        some = ", ".join(f"`{key[:64]}`" for key in unknown[:5])
        problems.append(f"The format has no {some} in the front matter; move it below `metadata:`.")
    metadata = {**nested, **beside}
    if "allowed-tools" in metadata:
        metadata["allowed-tools"] = _tools(metadata["allowed-tools"], problems)
    return metadata


def _tools(given: object, problems: list[str]) -> list[str]:
    items = given if isinstance(given, list) else [given]
    if not all(isinstance(item, str) for item in items):
        problems.append("`allowed-tools` is neither a text nor a list of texts; write `Read Grep`.")
    return [tool for item in items if isinstance(item, str) for tool in _TOOL.findall(item)]


def _category(given: object, problems: list[str]) -> str:
    if given is not None and not isinstance(given, str):
        problems.append("`category` is no text; write one word or a few.")
    return given.strip() if isinstance(given, str) else ""


def _tags(given: object, problems: list[str]) -> tuple[str, ...]:
    items = given.split(",") if isinstance(given, str) else given
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        if given is not None:
            problems.append("`tags` is neither a list nor a text with commas; write `[one, two]`.")
        items = [] if not isinstance(items, list) else [it for it in items if isinstance(it, str)]
    tags = (item.strip() for item in items)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _plain(value: Mapping[str, Any], *, depth: int) -> dict[str, Any]:
    """Return *value* as fields that read back as they are."""
    return {_lines(clean(str(key))): _plain_value(one, depth) for key, one in value.items()}


def _plain_value(value: object, depth: int) -> Any:
    if depth >= MOST_DEPTH - 1:
        raise InvalidInput("the metadata of the skill are nested too deeply; make them flat")
    match value:
        case str():
            return _lines(clean(value))
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case Mapping():
            return _plain(value, depth=depth + 1)
        case Sequence() if not isinstance(value, bytes | bytearray):
            return [_plain_value(one, depth + 1) for one in value]
    raise InvalidInput(
        f"the metadata of a skill are texts, lists and mappings, not {type(value).__name__}"
    )

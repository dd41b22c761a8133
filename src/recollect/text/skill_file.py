"""
Parse and render SKILL.md: front matter with a name and a description, then instructions.

Parsing never fails: a skill with mistakes is still useful, so each mistake becomes a sentence in
`problems` that says what is wrong, where, and how to fix it. Rendering is strict: parsing its
output returns the same values. This module opens no files.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.domain.skill import Skill, SkillOrigin
from recollect.errors import InvalidInput, TooLarge
from recollect.text import front_matter
from recollect.text.clean_text import clean
from recollect.text.front_matter import MAX_CHARS, MAX_DEPTH

MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1_024
MAX_CONTENT_CHARS = 1_048_576
MAX_PROBLEMS = 20  # reported for one file

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_NAME_CHARS = re.compile(r"[^a-z0-9]+")
_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")  # Read, Bash(git add:*)
_FORMAT_FIELDS = ("license", "compatibility", "allowed-tools")  # beside `metadata`
_KNOWN_FIELDS = frozenset(
    {
        *("name", "description", "metadata", "category", "tags", *_FORMAT_FIELDS),
        # Fields that well-known programs read as well.
        *("version", "author", "model", "agent", "context", "hooks", "paths", "argument-hint"),
        *("disable-model-invocation", "user-invocable", "when_to_use"),
    }
)


def parse_skill(
    content: str, *, folder: str, origin: SkillOrigin, path: str, files: Iterable[str] = ()
) -> Skill:
    """Return the skill described by *content*; *folder* is the name of its folder."""
    content, problems = _prepare_content(content)
    front = front_matter.parse_front_matter(content)
    problems += front.problems
    fields, body = front.fields, front.body.strip()
    if not body:
        problems.append("There are no instructions below the front matter; write what to do.")
    metadata = _skill_metadata(fields, problems)
    return Skill(
        name=_skill_name(fields.get("name"), folder, problems),
        description=_skill_description(fields.get("description"), body, problems),
        origin=origin,
        path=path,
        content=content,
        body=body,
        category=_category(metadata.get("category"), problems),
        tags=_tags(metadata.get("tags"), problems),
        metadata=metadata,
        files=tuple(files),
        problems=tuple(dict.fromkeys(problems))[:MAX_PROBLEMS],
    )


def render_skill(
    name: str, description: str, body: str, metadata: Mapping[str, Any] | None = None
) -> str:
    """
    Return the text of a SKILL.md that parses back to *name*, *description*, *body* and *metadata*.

    Metadata values are texts, lists and mappings; numbers and booleans are written as text.
    Raises `InvalidInput` for values that would not parse back unchanged.
    """
    if problem := name_problem(name):
        raise InvalidInput(problem)
    description, body = (_normalize_line_ends(clean(t)).strip() for t in (description, body))
    if not description or not body:
        empty = "body" if description else "description"
        raise InvalidInput(f"the {empty} of the skill {name} is empty; say what it does")
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise TooLarge(
            f"the description of the skill {name} has {len(description):,} characters; the most is "
            f"{MAX_DESCRIPTION_CHARS:,}. Put the rest into the body"
        )
    extra = _to_plain_fields(metadata or {}, depth=2)
    format_fields = {key: extra.pop(key) for key in _FORMAT_FIELDS if key in extra}
    fields = {"name": name, "description": description, **format_fields}
    front = front_matter.render_front_matter({**fields, "metadata": extra} if extra else fields)
    if len(front) > MAX_CHARS or len(front) + len(body) >= MAX_CONTENT_CHARS:
        raise TooLarge(
            f"the skill {name} is too long: the most is {MAX_CHARS:,} characters of front matter "
            f"and {MAX_CONTENT_CHARS:,} in all. Move parts of it into files beside SKILL.md"
        )
    return f"{front}\n{body}\n"


def name_problem(name: str) -> str:
    """Return what is wrong with *name* as the name of a skill, or '' if it is valid."""
    if not name:
        return "the skill has no name; give one such as deploy-site"
    if len(name) > MAX_NAME_CHARS:
        short_name = name[:MAX_NAME_CHARS]
        return f"the name “{short_name}…” has {len(name)} characters; the most is {MAX_NAME_CHARS}"
    if not _NAME.fullmatch(name):
        return (
            f"the name “{name}” is not made of lower-case letters, digits and single hyphens; "
            f"write {_slug(name) or 'one such as deploy-site'}"
        )
    return ""


def _prepare_content(content: str) -> tuple[str, list[str]]:
    problems = []
    content = content.removeprefix("\ufeff")
    if len(content) > MAX_CONTENT_CHARS:
        problems.append(
            f"The file has {len(content):,} characters, and only the first {MAX_CONTENT_CHARS:,} "
            "were read; move parts of it into files beside it."
        )
        content = content[:MAX_CONTENT_CHARS]
    if (cleaned := clean(content)) != content:
        broken = "The file holds NUL or broken characters, shown as U+FFFD; save it as UTF-8 text."
        problems.append(broken)
    return _normalize_line_ends(cleaned), problems


def _normalize_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _slug(text: str) -> str:
    return _NOT_NAME_CHARS.sub("-", text[:1_000].lower())[:MAX_NAME_CHARS].strip("-")


def _skill_name(value: object, folder: str, problems: list[str]) -> str:
    """Return the name in the file if it is valid, else the folder's name, else the closest slug."""
    valid_folder = "" if name_problem(folder) else folder
    if not isinstance(value, str) or not value:
        name = valid_folder or _slug(folder) or "unnamed"
        missing = value is None or value == ""
        problem = (
            "front matter has no name" if missing else "name in the front matter is not a text"
        )
        problems.append(f"The {problem}; write `name: {name}`.")
        return name
    if problem := name_problem(value):
        name = valid_folder or _slug(value) or _slug(folder) or "unnamed"
        problems.append(f"In the front matter, {problem}. It is known as {name}.")
        return name
    if value != folder:
        problems.append(
            f"The name in the front matter, {value}, is not that of the folder, {folder[:100]}; "
            f"rename one of them. It is known as {value}."
        )
    return value


def _skill_description(value: object, body: str, problems: list[str]) -> str:
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        problems.append("The description is a list; write it as one text.")
        value = " ".join(value)
    if isinstance(value, str) and value.strip():
        return _truncate_description("description", value.strip(), problems)
    problems.append(
        "The front matter has no description; write one that says what the skill does and when "
        "to use it. Its first paragraph is used instead."
    )
    paragraphs = (paragraph.strip() for paragraph in body.split("\n\n", 20)[:20])
    prose = (text for text in paragraphs if text and not text.startswith(("#", "```", "---")))
    return " ".join(next(prose, "").split())[:MAX_DESCRIPTION_CHARS]


def _truncate_description(what: str, text: str, problems: list[str]) -> str:
    if len(text) > MAX_DESCRIPTION_CHARS:
        problems.append(
            f"The {what} has {len(text):,} characters and is cut at {MAX_DESCRIPTION_CHARS:,}; put "
            "the rest below the front matter."
        )
    return text[:MAX_DESCRIPTION_CHARS]


def _skill_metadata(fields: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return all fields except name and description, with those below `metadata` merged in."""
    nested = fields.get("metadata", {})
    if not isinstance(nested, dict):
        if nested:
            problems.append("`metadata` has no fields; write `key: value` lines below it.")
        nested = {}
    own_fields = ("name", "description", "metadata")
    beside = {key: value for key, value in fields.items() if key not in own_fields}
    unknown = sorted(key for key in beside if key not in _KNOWN_FIELDS)
    if unknown:
        some = ", ".join(f"`{key[:64]}`" for key in unknown[:5])
        problems.append(f"The format has no {some} in the front matter; move it below `metadata:`.")
    metadata = {**nested, **beside}
    if "allowed-tools" in metadata:
        metadata["allowed-tools"] = _allowed_tools(metadata["allowed-tools"], problems)
    return metadata


def _allowed_tools(value: object, problems: list[str]) -> list[str]:
    items = value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in items):
        problems.append("`allowed-tools` is neither a text nor a list of texts; write `Read Grep`.")
    return [tool for item in items if isinstance(item, str) for tool in _TOOL.findall(item)]


def _category(value: object, problems: list[str]) -> str:
    if value is not None and not isinstance(value, str):
        problems.append("`category` is not a text; write one word or a few.")
    return value.strip() if isinstance(value, str) else ""


def _tags(value: object, problems: list[str]) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        if value is not None:
            problems.append("`tags` is neither a list nor a text with commas; write `[one, two]`.")
        items = [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
    tags = (item.strip() for item in items)
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _to_plain_fields(fields: Mapping[str, Any], *, depth: int) -> dict[str, Any]:
    """Return *fields* with values that parse back unchanged."""
    return {
        _normalize_line_ends(clean(str(key))): _to_plain_value(value, depth)
        for key, value in fields.items()
    }


def _to_plain_value(value: object, depth: int) -> Any:
    if depth >= MAX_DEPTH - 1:
        raise InvalidInput("the metadata of the skill are nested too deeply; make them flat")
    match value:
        case str():
            return _normalize_line_ends(clean(value))
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case Mapping():
            return _to_plain_fields(value, depth=depth + 1)
        case Sequence() if not isinstance(value, bytes | bytearray):
            return [_to_plain_value(item, depth + 1) for item in value]
    raise InvalidInput(
        f"the metadata of a skill are texts, lists and mappings, not {type(value).__name__}"
    )

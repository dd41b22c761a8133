"""
The front matter of a Markdown file: the fields between two lines of `---`, and what follows them.

People write it by hand, so nothing here fails: what is wrong becomes a sentence, and what can be
read is read. Every value is the text that stands in the file (`version: 1.10` is "1.10", `name: on`
is "on"), a list, or further fields. YAML's own dangers are refused before anything is built:
aliases, tags, depth, size. This file does not know which fields there should be.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

MOST_CHARS = 16_384  # real ones have a few hundred; the parser is slow on large ones
MOST_DEPTH = 16

_FENCE = "---"
_ENDS = (_FENCE, "...")
_HOW = (
    "begin the file with a line `---`, the fields `name` and `description`, and a line `---` again"
)
_FIELD = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ ]*:(?:[ ]+(?P<value>.*))?$")
_BREAK = re.compile("[\n\x85\u2028\u2029]")
_BLOCK = re.compile(r"[|>][+-]?\d?$")


@dataclass(frozen=True)
class FrontMatter:
    """What was read: the fields, the text after them, and what is wrong, in sentences."""

    fields: Mapping[str, Any]
    body: str
    problems: tuple[str, ...] = ()


class _Refused(Exception):
    """The YAML is not read as YAML; the message says why."""


def read_front_matter(text: str) -> FrontMatter:
    """Return the fields and the body of *text*, whose lines end in a line feed."""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[first].rstrip() != _FENCE:
        return FrontMatter({}, text, (f"The file has no front matter; {_HOW}.",))
    end = next(
        (at for at in range(first + 1, len(lines)) if lines[at].rstrip() in _ENDS), len(lines)
    )
    if end < len(lines):
        fields, problems = _fields("\n".join(lines[first + 1 : end]))
        return FrontMatter(fields, "\n".join(lines[end + 1 :]), tuple(problems))
    # Never closed: the fields end where prose begins.
    end = next(
        (at for at in range(first + 1, len(lines)) if not lines[at] or lines[at][0] == "#"), end
    )
    fields, problems = _fields("\n".join(lines[first + 1 : end]))
    unclosed = "The front matter is never closed; write a line `---` after its last field."
    return FrontMatter(fields, "\n".join(lines[end:]), (unclosed, *problems))


def write_front_matter(fields: Mapping[str, Any]) -> str:
    """Return *fields*, texts, lists and mappings of them, as front matter with its two fences."""
    import yaml  # only those who read or write skills need it

    class Dumper(yaml.SafeDumper):
        """Writes line breaks as escapes: YAML would fold some of them, and lose others."""

    def text(dumper: Dumper, value: str) -> yaml.ScalarNode:
        style = '"' if _BREAK.search(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    inside = yaml.dump(
        dict(fields),
        Dumper=Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=1_000_000,  # one line a value, so that no piece of a text stands alone on a line
    )
    return f"{_FENCE}\n{inside}{_FENCE}\n"


def _fields(front: str) -> tuple[dict[str, Any], list[str]]:
    problems: list[str] = []
    if len(front) > MOST_CHARS:
        too_long = f"The front matter has {len(front):,} characters and was not read; the most is "
        return {}, [f"{too_long}{MOST_CHARS:,}. Move what is long below it."]
    if "\t" in front:
        problems.append("The front matter holds tabs, which YAML refuses; use spaces.")
        front = front.replace("\t", "  ")
    try:
        fields = _from_yaml(front, problems)
    except _Refused as why:
        problems.append(f"{why} Its plain `key: value` lines were read.")
        fields = _from_lines(front.split("\n"), problems)
    return fields, problems


def _from_yaml(front: str, problems: list[str]) -> dict[str, Any]:
    import yaml  # only those who read or write skills need it

    try:
        _check(yaml.parse(front, Loader=yaml.BaseLoader))
        node = yaml.compose(front, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise _Refused(
            f"The front matter is not valid YAML (line {line}: {error.problem}); put a value with "
            "a colon or other signs in quotes."
        ) from error
    except yaml.YAMLError as error:  # characters that YAML does not allow
        raise _Refused(
            "The front matter holds characters that YAML does not allow; remove them."
        ) from error
    if node is None:
        problems.append(f"The front matter is empty; {_HOW}.")
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _Refused("The front matter is no list of `key: value` fields; write one on a line.")
    value: dict[str, Any] = _value(node, problems)
    return value


def _check(events: "Iterable[yaml.events.Event]") -> None:
    """Raise `_Refused` for what could grow or mean anything but what stands there."""
    depth = 0
    for event in events:
        name = type(event).__name__
        line = event.start_mark.line + 2 if event.start_mark else 1
        if name == "AliasEvent" or getattr(event, "anchor", None) is not None:
            raise _Refused(
                f"The front matter has a YAML anchor or alias on line {line}, which is not "
                "followed; write the value out, or put it in quotes."
            )
        if getattr(event, "tag", None) is not None:
            raise _Refused(
                f"The front matter has a YAML tag on line {line}, which is not followed; put the "
                "value in quotes."
            )
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if depth > MOST_DEPTH:
            raise _Refused(f"The front matter is nested too deeply on line {line}; make it flat.")


def _value(node: Any, problems: list[str]) -> Any:
    if node.id == "scalar":
        # How YAML writes that there is no value, unless it is in quotes.
        return "" if node.style is None and node.value in ("null", "~") else str(node.value)
    if node.id == "sequence":
        return [_value(one, problems) for one in node.value]
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar":
            problems.append(
                f"A key on line {key.start_mark.line + 2} of the front matter is no plain word, "
                "and was left out; write `key: value`."
            )
            continue
        if key.value in fields:
            problems.append(_twice(key.value))
        fields[key.value] = _value(value, problems)
    return fields


def _twice(key: str) -> str:
    return f"The front matter has `{key[:64]}` more than once; the last one counts. Remove others."


def _from_lines(lines: list[str], problems: list[str]) -> dict[str, Any]:
    """Return the fields of front matter that is no YAML: `key: value`, and what is below a key."""
    fields: dict[str, Any] = {}
    key, below = "", list[str]()
    for line in lines:
        match = _FIELD.match(line)
        if match is None:
            below.append(line)
            continue
        _end_field(fields, key, below)
        key, below = match["key"], []
        if key in fields:
            problems.append(_twice(key))
        fields[key] = _unquoted(match["value"] or "")
    _end_field(fields, key, below)
    return fields


def _end_field(fields: dict[str, Any], key: str, below: list[str]) -> None:
    """Put the lines *below* a key where they belong: more text, a list, or fields of its own."""
    told = [line.strip() for line in below if line.strip() and not line.strip().startswith("#")]
    if not key or not told:
        return
    value = fields[key]
    if value and not _BLOCK.match(value):
        fields[key] = " ".join([value, *told])
    elif all(line.startswith("- ") for line in told):
        fields[key] = [_unquoted(line[2:].strip()) for line in told]
    elif not value and all(_FIELD.match(line) for line in told):
        pairs = [line.partition(":") for line in told]
        fields[key] = {name.strip(): _unquoted(told.strip()) for name, _, told in pairs}
    else:
        fields[key] = ("\n" if value.startswith("|") else " ").join(told)


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value

"""
Parse and render the front matter of a Markdown file: the fields between two lines of `---`.

People write it by hand, so parsing never fails: each mistake becomes a sentence in `problems`, and
the rest is parsed. Every value is text as written (`version: 1.10` is "1.10", `name: on` is "on"),
a list, or nested fields. YAML aliases, tags, deep nesting and large input are rejected before any
value is built. Which fields are expected is the caller's concern.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import yaml

MAX_CHARS = 16_384  # real ones have a few hundred; the parser is slow on large ones
MAX_DEPTH = 16

_FENCE = "---"
_END_MARKERS = (_FENCE, "...")
_ADVICE = (
    "begin the file with a line `---`, the fields `name` and `description`, and a line `---` again"
)
_FIELD = re.compile(r"(?P<key>[A-Za-z][\w-]*)[ ]*:(?:[ ]+(?P<value>.*))?$")
_BREAK = re.compile("[\n\x85\u2028\u2029]")
_BLOCK = re.compile(r"[|>][+-]?\d?$")


@dataclass(frozen=True)
class FrontMatter:
    """The fields, the text after them, and the problems found, as sentences."""

    fields: Mapping[str, Any]
    body: str
    problems: tuple[str, ...] = ()


class _UnsupportedYaml(Exception):
    """The front matter cannot be parsed as YAML; the message says why."""


def parse_front_matter(text: str) -> FrontMatter:
    """Return the fields and the body of *text*, whose lines end in a line feed."""
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[first].rstrip() != _FENCE:
        return FrontMatter({}, text, (f"The file has no front matter; {_ADVICE}.",))
    after = range(first + 1, len(lines))
    end = next((at for at in after if lines[at].rstrip() in _END_MARKERS), len(lines))
    if end < len(lines):
        fields, problems = _parse_fields("\n".join(lines[first + 1 : end]))
        return FrontMatter(fields, "\n".join(lines[end + 1 :]), tuple(problems))
    # Never closed: the fields end at the first empty line or heading.
    end = next((at for at in after if not lines[at] or lines[at][0] == "#"), end)
    fields, problems = _parse_fields("\n".join(lines[first + 1 : end]))
    unclosed = "The front matter is never closed; write a line `---` after its last field."
    return FrontMatter(fields, "\n".join(lines[end:]), (unclosed, *problems))


def render_front_matter(fields: Mapping[str, Any]) -> str:
    """Return *fields* (texts, lists and mappings) as front matter between two lines of `---`."""
    import yaml  # only those who read or write skills need it

    class Dumper(yaml.SafeDumper):
        """Writes line breaks as escapes, because YAML folds some of them and loses others."""

    def represent_text(dumper: Dumper, value: str) -> yaml.ScalarNode:
        style = '"' if _BREAK.search(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, represent_text)
    yaml_text = yaml.dump(
        dict(fields),
        Dumper=Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=1_000_000,  # one line per value
    )
    return f"{_FENCE}\n{yaml_text}{_FENCE}\n"


def _parse_fields(front: str) -> tuple[dict[str, Any], list[str]]:
    problems: list[str] = []
    if len(front) > MAX_CHARS:
        too_long = f"The front matter has {len(front):,} characters and was not read; the most is "
        return {}, [f"{too_long}{MAX_CHARS:,}. Move what is long below it."]
    if "\t" in front:
        problems.append("The front matter holds tabs, which YAML refuses; use spaces.")
        front = front.replace("\t", "  ")
    try:
        fields = _from_yaml(front, problems)
    except _UnsupportedYaml as error:
        problems.append(f"{error} Its plain `key: value` lines were read.")
        fields = _from_lines(front.split("\n"), problems)
    return fields, problems


def _from_yaml(front: str, problems: list[str]) -> dict[str, Any]:
    import yaml  # only those who read or write skills need it

    try:
        _check_events(yaml.parse(front, Loader=yaml.BaseLoader))
        node = yaml.compose(front, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise _UnsupportedYaml(
            f"The front matter is not valid YAML (line {line}: {error.problem}); put a value with "
            "a colon or other signs in quotes."
        ) from error
    except yaml.YAMLError as error:  # characters that YAML does not allow
        raise _UnsupportedYaml(
            "The front matter holds characters that YAML does not allow; remove them."
        ) from error
    if node is None:
        problems.append(f"The front matter is empty; {_ADVICE}.")
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _UnsupportedYaml(
            "The front matter is not a list of `key: value` fields; write one per line."
        )
    value: dict[str, Any] = _node_value(node, problems)
    return value


def _check_events(events: "Iterable[yaml.events.Event]") -> None:
    """Raise `_UnsupportedYaml` for anchors, aliases, tags and deep nesting."""
    depth = 0
    for event in events:
        name = type(event).__name__
        line = event.start_mark.line + 2 if event.start_mark else 1
        if name == "AliasEvent" or getattr(event, "anchor", None) is not None:
            raise _UnsupportedYaml(
                f"The front matter has a YAML anchor or alias on line {line}, which is not "
                "followed; write the value out, or put it in quotes."
            )
        if getattr(event, "tag", None) is not None:
            raise _UnsupportedYaml(
                f"The front matter has a YAML tag on line {line}, which is not followed; put the "
                "value in quotes."
            )
        depth += name.endswith("StartEvent") - name.endswith("EndEvent")
        if depth > MAX_DEPTH:
            problem = f"The front matter is nested too deeply on line {line}; make it flat."
            raise _UnsupportedYaml(problem)


def _node_value(node: Any, problems: list[str]) -> Any:
    if node.id == "scalar":
        # YAML's null, unless it is in quotes.
        return "" if node.style is None and node.value in ("null", "~") else str(node.value)
    if node.id == "sequence":
        return [_node_value(item, problems) for item in node.value]
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar":
            problems.append(
                f"A key on line {key.start_mark.line + 2} of the front matter is not plain text "
                "and was left out; write `key: value`."
            )
            continue
        if key.value in fields:
            problems.append(_duplicate_key_problem(key.value))
        fields[key.value] = _node_value(value, problems)
    return fields


def _duplicate_key_problem(key: str) -> str:
    return f"The front matter has `{key[:64]}` more than once; the last one counts. Remove others."


def _from_lines(lines: list[str], problems: list[str]) -> dict[str, Any]:
    """Return the fields of front matter that is not YAML: `key: value`, and lines below a key."""
    fields: dict[str, Any] = {}
    key, below = "", list[str]()
    for line in lines:
        match = _FIELD.match(line)
        if match is None:
            below.append(line)
            continue
        _add_lines_below(fields, key, below)
        key, below = match["key"], []
        if key in fields:
            problems.append(_duplicate_key_problem(key))
        fields[key] = _strip_quotes(match["value"] or "")
    _add_lines_below(fields, key, below)
    return fields


def _add_lines_below(fields: dict[str, Any], key: str, below: list[str]) -> None:
    """Add the lines *below* a key to its value: as more text, a list, or nested fields."""
    stripped = (line.strip() for line in below)
    below_lines = [line for line in stripped if line and not line.startswith("#")]
    if not key or not below_lines:
        return
    value = fields[key]
    if value and not _BLOCK.match(value):
        fields[key] = " ".join([value, *below_lines])
    elif all(line.startswith("- ") for line in below_lines):
        fields[key] = [_strip_quotes(line[2:].strip()) for line in below_lines]
    elif not value and all(_FIELD.match(line) for line in below_lines):
        pairs = [line.partition(":") for line in below_lines]
        fields[key] = {name.strip(): _strip_quotes(text.strip()) for name, _, text in pairs}
    else:
        fields[key] = ("\n" if value.startswith("|") else " ").join(below_lines)


def _strip_quotes(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value

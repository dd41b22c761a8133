"""JSON with comments: it is read as it is meant, and changed without touching the rest."""

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.setup.jsonc_edit import append, delete, put, remove_empty
from recollect.setup.jsonc_parser import MalformedJson, node_at, scan, value_of
from tables import each_row

PATH = ("mcpServers", "recollect")
ENTRY = {"command": "/opt/re collect", "args": ["mcp", "é\n"]}

KEYS = st.sampled_from(["a", "mcpServers", "hooks", "ключ", 'q"', "//", "recollect!"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", "// no comment", "/* none */", '"', "\\", "}", ",", "\u2028"])
)
BLANKS = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\r\n\t", "// c\n", " /* c */ ", "/* a\n b */", "\n// x\r\n  "]
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """Return *value* as somebody may have written it: blanks, comments, trailing commas."""

    def gap() -> str:
        return draw(BLANKS)

    def listed(parts: list[str]) -> str:
        ends = bool(draw(st.sampled_from(["", ","]))) and bool(parts)
        return (",".join(parts) or gap()) + ("," + gap() if ends else "")

    if isinstance(value, dict):
        parts = [
            f"{gap()}{json.dumps(key, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}"
            f"{draw(written(inner))}{gap()}"
            for key, inner in value.items()
        ]
        return "{" + listed(parts) + "}"
    if isinstance(value, list):
        parts = [f"{gap()}{draw(written(inner))}{gap()}" for inner in value]
        return "[" + listed(parts) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


VALUES = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    value = draw(VALUES)
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return f"{bom}{draw(BLANKS)}{draw(written(value))}{draw(BLANKS)}", value


def untouched(old: str, new: str) -> bool:
    """Return whether *new* has every character of *old* in its order, blanks aside."""
    rest = iter(re.sub(r"\s", "", new))
    return all(char in rest for char in re.sub(r"\s", "", old))


@pytest.mark.fuzz
@given(texts())
def test_what_is_read_is_what_was_meant(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given

    assert value_of(scan(text)) == value


@pytest.mark.fuzz
@given(texts())
def test_a_member_put_and_dropped_leaves_the_text_as_it_was(
    given: tuple[str, dict[str, Any]],
) -> None:
    text, value = given
    assume(isinstance(value.get("mcpServers", {}), dict))

    new, made = put(text, PATH, ENTRY)
    back = remove_empty(delete(new, PATH), [PATH[:1], ()], made)

    servers = {**value.get("mcpServers", {}), "recollect": ENTRY}
    assert value_of(scan(new)) == {**value, "mcpServers": servers}
    assert untouched(text, new)
    assert back == text


@pytest.mark.fuzz
@given(texts(), st.integers(1, 3))
def test_elements_appended_and_dropped_leave_the_text_as_it_was(
    given: tuple[str, dict[str, Any]], count: int
) -> None:
    text, value = given
    hooks = value.get("hooks", {})
    assume(isinstance(hooks, dict) and isinstance(hooks.get("a", []), list))
    former = hooks.get("a", [])

    new, made = append(text, ("hooks", "a"), ENTRY)
    for _ in range(count - 1):
        new, more = append(new, ("hooks", "a"), ENTRY)
        made |= more
    back = new
    for _ in range(count):
        back = delete(back, ("hooks", "a", len(former)))
    back = remove_empty(back, [("hooks", "a"), ("hooks",), ()], made)

    assert value_of(scan(new)) == {**value, "hooks": {**hooks, "a": [*former, *[ENTRY] * count]}}
    assert untouched(text, new)
    assert back == text


@pytest.mark.fuzz
@given(texts(), SCALARS)
def test_a_value_is_replaced_where_it_stands(
    given: tuple[str, dict[str, Any]], new_value: Any
) -> None:
    text, value = given
    assume(value)
    key = next(iter(value))

    new, _ = put(text, (key,), new_value)

    node = node_at(scan(text), (key,))
    assert node is not None
    assert new.startswith(text[: node.start])
    assert new.endswith(text[node.end :])
    assert value_of(scan(new)) == {**value, key: new_value}


@pytest.mark.fuzz
@given(texts())
def test_any_member_can_be_dropped_and_the_others_stay(given: tuple[str, dict[str, Any]]) -> None:
    text, value = given
    for key in value:
        new = delete(text, (key,))

        assert value_of(scan(new)) == {name: item for name, item in value.items() if name != key}
        assert untouched(new, text)


@given(st.text(alphabet='{}[]",:/* \n1atrue', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value_of(scan(text))
    except MalformedJson as error:
        output = str(error)
    else:
        output = "line 1, column 1: nothing"

    assert re.match(r"line \d+, column \d+: ", output)


@each_row(
    "text",
    [
        "",
        "{",
        '{"a": }',
        '{"a": 1 "b": 2}',
        '{"a" 1}',
        "{,}",
        "{'a': 1}",
        '{"a": 1} x',
        '{"a": NaN}',
        '{"a": 01}',
        '{"a": "\n"}',
        '{"a": "\\x"}',
        "{ /* never closed }",
        "[" * 100_000,
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(MalformedJson):
        scan(text)


def test_a_key_that_occurs_twice_is_an_error() -> None:
    with pytest.raises(MalformedJson, match="twice"):
        put('{"mcpServers": {}, "mcpServers": {}}', PATH, ENTRY)


@each_row("text", ['{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_member_is_not_put_into_a_value_that_is_not_an_object(text: str) -> None:
    with pytest.raises(MalformedJson, match="mcpServers is not an object"):
        put(text, PATH, ENTRY)


@each_row(
    ("text", "new"),
    [
        ('{"a":1}', '{"a":1,"b":[1,2]}'),
        ('{ "a": 1 }', '{ "a": 1, "b": [1, 2] }'),
        ("{}", '{\n  "b": [\n    1,\n    2\n  ]\n}'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"b": [\n\t\t1,\n\t\t2\n\t]\n}'),
        ('{\r\n "a": 1,\r\n}', '{\r\n "a": 1,\r\n "b": [\r\n  1,\r\n  2\r\n ],\r\n}'),
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "b": [\n    1,\n    2\n  ]\n}'),
    ],
)
def test_what_is_added_is_written_as_the_rest_is(text: str, new: str) -> None:
    assert put(text, ("b",), [1, 2])[0] == new

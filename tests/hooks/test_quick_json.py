"""The JSON reader of hooks agrees with the standard library's."""

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.hooks.quick_json import parse_json, quote
from tables import each_row

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@each_row(
    "text",
    [
        '{"a": 1, "a": 2}',
        ' \n\t[1, -2.5e3, "\\ud83d\\ude00", "\\ud800", null, true]\r\n ',
        "[Infinity, -Infinity]",
        '"é\\u00e9"',
        "{}",
        "12345678901234567890",
    ],
)
def test_it_reads_what_the_standard_library_reads(text: str) -> None:
    assert parse_json(text) == json.loads(text)


def test_it_reads_a_number_that_is_none() -> None:
    value = parse_json("NaN")

    assert isinstance(value, float)
    assert math.isnan(value)


@each_row(
    "text", ["", " ", "{", '{"a": 1}}', "{'a': 1}", '{"a": 1,}', '"\n"', "[1] 2", "nul", "\xa0{}"]
)
def test_it_refuses_what_the_standard_library_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json.loads(text)
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.door
def test_incomplete_json_is_refused_also_while_the_package_json_is_not_loaded() -> None:
    code = (
        "import sys; from recollect.hooks.quick_json import parse_json\n"
        "assert 'json' not in sys.modules\n"
        'try: parse_json(\'{"a": "}\')\n'
        "except ValueError as error: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "refused\n"


@pytest.mark.fuzz
@given(ANYTHING)
def test_any_value_is_read_as_it_was_written(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=1)) == value


@pytest.mark.fuzz
@given(st.text())
def test_any_text_is_quoted_as_json(text: str) -> None:
    assert json.loads(quote(text)) == text

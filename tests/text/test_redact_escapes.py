"""Decoding escapes and finding the original span of what was decoded."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.redact import redact
from recollect.text.redact_escapes import MAX_LEVELS, decoded_texts

SECRET = "ghp_" + "a1B2" * 9


def test_a_key_behind_any_number_of_escaped_line_breaks_is_removed_alone() -> None:
    text = f"start\n{SECRET}\nend"
    for _ in range(MAX_LEVELS):
        text = json.dumps(text)

        redacted = redact(text).text

        assert SECRET not in redacted
        assert redacted == text.replace(SECRET, "[redacted:github-token]")


def test_a_secret_that_is_itself_escaped_is_removed_to_its_end() -> None:
    assert redact(r'{"password": "p\u0040ss\"w0rd"}').text == (
        '{"password": "[redacted:assigned-secret]"}'
    )


def test_redacted_json_is_still_json() -> None:
    inner = json.dumps({"command": f"export TOKEN={SECRET}\n\tpassword: hunter22x"})
    value = {"arguments": inner, "Cookie": "sid=a1b2c3d4e5f6", "note": 'my token is "a1b2c3d4"'}

    parsed = json.loads(redact(json.dumps(value)).text)

    assert json.loads(parsed["arguments"])["command"].startswith("export TOKEN=[redacted:")


@given(st.text(alphabet="ab\\nu0041\"'%25&amp;\n ", max_size=60), st.data())
def test_the_original_span_of_a_decoded_character_decodes_to_it(
    text: str, data: st.DataObject
) -> None:
    for decoded in decoded_texts(text):
        at = data.draw(st.integers(0, len(decoded.text) - 1))

        start, end = decoded.original_span(at, at + 1)

        assert 0 <= start < end <= len(text)
        if end - start == 1:
            assert text[start] == decoded.text[at]

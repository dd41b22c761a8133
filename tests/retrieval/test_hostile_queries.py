"""Any text is a valid query and valid content; nothing a caller writes raises a database error."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import InvalidInput, LocalRecollect
from support import open_memory

pytestmark = pytest.mark.fuzz

HOSTILE = {
    "quotes": '"\'`"" OR 1=1 --',
    "operators": "AND OR NOT NEAR(a b, 3) col:x a* ^b -c (d",
    "sql": "'; DROP TABLE memories; --",
    "nul": "a\x00b\x00",
    "only nul": "\x00",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 ☕",
    "surrogates": "half \ud83d of an emoji \udc00",
    "controls": "\x1b[31mred\x07\x08\r\n\t",
    "right to left": "\u202eabc עברית العربية",
    "combining": "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘",
    "cjk": "我喜欢简短的回答",
    "a megabyte": "word " * 200_000,
    "one long word": "x" * 1_000_000,
    "stop words": "to be or not to be",
    "blank": " \n\t ",
    "empty": "",
    "percent": "%s %d {0} {name} $1 :a ?1 @b",
    "json": '{"a": [1, "b"]}]}',
    "path": "../../etc/passwd",
    "zero width": "\u200b\u200c\u200d\ufeff",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_query_is_answered(rec: LocalRecollect, name: str) -> None:
    rec.ingest("An ordinary fact about a red fox.")

    rec.search(HOSTILE[name])
    rec.context_for(HOSTILE[name])

    assert rec.maintenance.verify().ok


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_content_is_stored_and_found_again(rec: LocalRecollect, name: str) -> None:
    content = HOSTILE[name][:200_000]
    if not content.strip():
        with pytest.raises(InvalidInput, match="nothing to remember"):
            rec.ingest(content)
        return
    stored = rec.ingest(content, title=content[:100], tags=[content[:50]])

    hits = rec.search(content)

    assert rec.memories.get(stored.id).content == re.sub("[\x00\ud800-\udfff]", "\ufffd", content)
    assert rec.maintenance.verify().ok
    assert name in ("only nul", "zero width") or stored.id in [hit.memory.id for hit in hits]


@settings(max_examples=80)
@given(query=st.text(max_size=200), content=st.text(min_size=1, max_size=200))
def test_any_text_is_a_query_and_any_text_is_content(query: str, content: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), words_only=True) as rec,
    ):
        if content.strip():
            rec.ingest(content)

        rec.search(query)
        rec.search(content)

        assert rec.maintenance.verify().ok


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 0},
        {"limit": 10_000},
        {"limit": True},
        {"limit": "3"},
        {"types": ["fact"]},
        {"statuses": "open"},
        {"scopes": ["everywhere"]},
        {"scopes": 3},
        {"tags": ["x" * 200]},
        {"tags": [f"t{n}" for n in range(100)]},
        {"since": "yesterday-ish"},
        {"until": 3},
        {"asked_at": "9999-12-31T23:59:59-12:00"},
        {"project": ""},
        {"project": "x" * 5000},
        {"project": "a\nb"},
        {"agent": " "},
        {"session": 3},
    ],
    ids=str,
)
def test_an_invalid_argument_is_rejected_with_a_helpful_message(
    rec: LocalRecollect, arguments: dict[str, object]
) -> None:
    with pytest.raises(InvalidInput) as error:
        rec.search("question", **arguments)  # type: ignore[arg-type]

    assert len(str(error.value)) > 20


def test_a_query_that_is_not_text_is_rejected(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput, match="must be text"):
        rec.search(None)  # type: ignore[arg-type]

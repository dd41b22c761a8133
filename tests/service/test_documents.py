"""Documents: JSON by namespace and key, changed in place, searched, gone after their time."""

from pathlib import Path
from typing import Any

import pytest

from recollect import DocumentHit, InvalidInput, LocalRecollect, RevisionConflict, TooLarge
from support import FakeClock, open_memory

SECRET = "ghp_" + "a1B2c3D4e5" * 4
ALICE, BOB = ("users", "alice"), ("users", "bob")


def keys(hits: list[DocumentHit]) -> list[str]:
    return [hit.document.key for hit in hits]


def test_a_value_is_replaced_in_place_and_a_late_writer_is_refused(rec: LocalRecollect) -> None:
    first = rec.documents.put(ALICE, "food", {"text": "pizza"}, expected_revision=0)
    second = rec.documents.put(ALICE, "food", ["pasta", 1.5, None], expected_revision=1)

    assert (second.id, second.revision, second.value) == (first.id, 2, ["pasta", 1.5, None])
    assert rec.documents.get(ALICE, "food") == second
    with pytest.raises(RevisionConflict, match="has revision 2; expected was 1") as conflict:
        rec.documents.put(ALICE, "food", "late", expected_revision=1)
    assert conflict.value.revision == 2
    with pytest.raises(RevisionConflict, match="does not exist"):
        rec.documents.delete(BOB, "food", expected_revision=1)
    assert rec.documents.delete(ALICE, "food")
    assert not rec.documents.delete(ALICE, "food")
    assert rec.documents.get(ALICE, "food") is None


def test_an_exact_value_comes_back_equal_and_its_text_has_no_secret(rec: LocalRecollect) -> None:
    value = {"note": f"the key is {SECRET}", "raw": "\x00"}
    exact = rec.documents.put(ALICE, "exact", value, exact=True)
    plain = rec.documents.put(ALICE, "plain", value)

    assert exact.value == value
    assert SECRET not in exact.text
    assert SECRET not in str(plain.value)


def test_a_search_gives_the_best_of_a_namespace_and_always_as_many_as_were_asked(
    rec: LocalRecollect,
) -> None:
    for number in range(12):
        rec.documents.put(ALICE, f"note {number}", {"text": f"Note number {number}.", "n": number})
    rec.documents.put((*ALICE, "cars"), "car", {"text": "Alice drives a red Volvo.", "n": 3})
    rec.documents.put(BOB, "car", {"text": "Bob drives a red Volvo."})
    rec.documents.put(ALICE, "silent", {"text": "A red Volvo."}, text="")

    best = rec.documents.search(ALICE, "red Volvo", limit=20)
    assert keys(best)[0] == "car"
    assert set(best[0].matched_words) == {"red", "Volvo"}
    assert len(best) == 14
    assert {hit.document.namespace[1] for hit in best} == {"alice"}
    pages = [rec.documents.search(ALICE, "red Volvo", limit=5, offset=n) for n in (0, 5, 10)]
    assert [key for page in pages for key in keys(page)] == keys(best)
    assert keys(rec.documents.search(ALICE, "red Volvo", filter={"n": 3})) == ["car", "note 3"]
    assert rec.documents.search(("nobody",), "red Volvo") == []


def test_documents_are_listed_and_filtered(rec: LocalRecollect, clock: FakeClock) -> None:
    values: list[Any] = [{"n": 1, "s": "x"}, {"n": 2.5}, {"s": "y"}, 7, {"o": {"m": 2, "k": 1}}]
    for key, value in zip("abcde", values, strict=True):
        rec.documents.put(ALICE, key, value)
        clock.advance(minutes=1)
    table: dict[str, tuple[dict[str, Any], str]] = {
        "": ({}, "edcba"),
        "equal": ({"n": 1}, "a"),
        "not equal": ({"n": {"$ne": 1}}, "edcb"),
        "a range": ({"n": {"$gt": 0.5, "$lte": 2.5}}, "ba"),
        "texts": ({"s": {"$gte": "y"}}, "c"),
        "another type": ({"s": {"$lt": 5}}, ""),
        "two fields": ({"n": {"$gte": 1}, "s": {"$eq": "x"}}, "a"),
        "not an object": ({"n": {"m": 1}}, ""),
        "an object": ({"o": {"m": {"$gt": 1}}}, "e"),
        "a path": ({"o.m": {"$gt": 1}}, "e"),
        "a path into a number": ({"n.m": 1}, ""),
        "a path to nothing": ({"o.x": None, "o.k": 1}, "e"),
    }

    for name, (conditions, expected) in table.items():
        assert keys(rec.documents.search(ALICE, filter=conditions)) == list(expected), name
    assert keys(rec.documents.search(limit=2, offset=1)) == ["d", "c"]
    with pytest.raises(InvalidInput, match=r"unknown operator '\$in'"):
        rec.documents.search(filter={"n": {"$in": [1]}})
    with pytest.raises(InvalidInput, match=r"\$or is not the name of a field"):
        rec.documents.search(filter={"$or": [{"n": 1}]})
    rec.documents.put(ALICE, "f", {"o.m": 3})
    assert keys(rec.documents.search(ALICE, filter={"o.m": 3})) == ["f"]


def test_a_document_is_gone_after_its_lifetime_unless_it_is_extended(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    rec.documents.put(ALICE, "short", {"text": "soon gone"}, lifetime_s=60)
    rec.documents.put(ALICE, "used", {"text": "used again"}, lifetime_s=60)
    clock.advance(seconds=50)
    assert rec.documents.extend(ALICE, "used") is not None
    clock.advance(seconds=20)

    assert rec.documents.get(ALICE, "short") is None
    assert rec.documents.extend(ALICE, "short") is None
    assert keys(rec.documents.search(ALICE, "soon gone")) == ["used"]
    assert keys(rec.documents.search(ALICE)) == ["used"]
    assert rec.maintenance.status().counts["documents"] == 2
    rec.maintenance.run()
    assert rec.maintenance.status().counts["documents"] == 1
    clock.advance(seconds=60)
    rec.documents.put(BOB, "new", 1)
    assert rec.maintenance.status().counts["documents"] == 1
    assert rec.maintenance.verify().problems == ()


def test_documents_are_no_memories_and_no_context(rec: LocalRecollect) -> None:
    rec.documents.put(ALICE, "car", {"text": "Alice drives a red Volvo."})

    assert rec.search("which car does Alice drive?") == []
    assert "Volvo" not in rec.context_for("which car does Alice drive?").text


def test_forgetting_reaches_the_values_and_texts_of_documents(rec: LocalRecollect) -> None:
    statement = "The zanzibar launch code is umbrella."
    memory = rec.ingest(statement, project="site")
    rec.documents.put(ALICE, "note", {"text": statement, "n": 1})
    rec.forget(memory.id)

    document = rec.documents.get(ALICE, "note")
    assert document is not None
    assert "zanzibar" not in str(document.value) + document.text
    assert document.value["n"] == 1
    assert rec.maintenance.verify().problems == ()


def test_documents_are_exported_and_imported_and_the_stored_one_stays(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.documents.put(ALICE, "food", {"text": "pizza"})
    rec.documents.put(BOB, "food", {"text": "pasta"})
    rec.export(tmp_path / "all.jsonl")
    with open_memory(tmp_path / "other.db") as other:
        other.documents.put(ALICE, "food", {"text": "salad"})
        imported = other.import_(tmp_path / "all.jsonl", trust=True)

        food = {n: other.documents.get(n, "food") for n in (ALICE, BOB)}
        assert [d.value["text"] for d in food.values() if d] == ["salad", "pasta"]
        assert any("documents food: differs here" in line for line in imported.conflicts)
        assert keys(other.documents.search(BOB, "pasta")) == ["food"]
        assert other.maintenance.verify().problems == ()


def test_what_cannot_be_a_key_is_refused(rec: LocalRecollect) -> None:
    for namespace, key in ((ALICE, ""), (("a", ""), "k"), (ALICE, "a\nb"), (["n"] * 21, "k")):
        with pytest.raises(InvalidInput):
            rec.documents.put(namespace, key, 1)
    with pytest.raises(InvalidInput, match="looks like a secret"):
        rec.documents.put(ALICE, SECRET, 1)
    with pytest.raises(TooLarge):
        rec.documents.put(ALICE, "k" * 1_001, 1)
    with pytest.raises(InvalidInput, match="seconds above 0"):
        rec.documents.put(ALICE, "k", 1, lifetime_s=0)

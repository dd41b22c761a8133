"""Documents."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import InvalidInput
from recollect.domain.document import namespace_owner
from recollect.domain.scope import ItemKind
from recollect.store.protocol import Store, Tables
from store_records import count_matches, document
from support import START

HOUR = timedelta(hours=1)
ANNA = namespace_owner(("users", "anna"))


def test_a_document_comes_back_as_it_was_written_and_changes_in_place(store: Store) -> None:
    value = {"any": ["\x00", "é", 1e300, 2**70, None, {}]}
    first = document("d1", value, text="zebra", lifetime_s=1.5, expires_at=START + HOUR)
    second = replace(first, value="plain", text="horse", revision=2, updated_at=START + HOUR)
    silent = replace(second, text="")
    store.write(lambda tables: tables.documents.add(first))

    with store.read() as tables:
        assert tables.documents.get(("users", "anna"), "d1") == first
        assert tables.documents.get(("users",), "d1") is None
        assert tables.documents.get_many(["unknown", "d1"]) == [first]
    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.documents.add(replace(first, id="d2")))
    assert count_matches(store, ItemKind.DOCUMENT, ANNA, "zebra") == 1
    store.write(lambda tables: tables.documents.set(second, first))
    assert count_matches(store, ItemKind.DOCUMENT, ANNA, "zebra") == 0
    assert count_matches(store, ItemKind.DOCUMENT, ANNA, "horse") == 1
    with store.read() as tables:
        assert tables.documents.get(("users", "anna"), "d1") == second
    store.write(lambda tables: tables.documents.set(silent, second))
    assert count_matches(store, ItemKind.DOCUMENT, ANNA, "horse") == 0
    store.write(lambda tables: tables.documents.set(second, silent))
    assert store.check()[1] == []
    store.write(lambda tables: tables.documents.delete(second))
    with store.read() as tables:
        assert tables.documents.get(("users", "anna"), "d1") is None
    assert count_matches(store, ItemKind.DOCUMENT, ANNA, "horse") == 0
    assert store.check()[1] == []


def test_a_prefix_holds_its_own_namespace_and_those_below_it(store: Store) -> None:
    namespaces = [(), ("users",), ("users", "anna"), ("users", 'a"-,]'), ("users2",), ("user",)]

    def write(tables: Tables) -> None:
        for number, namespace in enumerate(namespaces):
            updated_at = START + number * HOUR
            tables.documents.add(
                replace(document(f"d{number}", 1), namespace=namespace, updated_at=updated_at)
            )

    store.write(write)
    with store.read() as tables:
        under = tables.documents.under
        assert [d.id for d in under((), now=START, limit=9)] == [f"d{n}" for n in range(5, -1, -1)]
        assert [d.id for d in under(("users",), now=START, limit=9)] == ["d3", "d2", "d1"]
        assert [d.id for d in under(("users",), now=START, limit=1, offset=1)] == ["d2"]
        assert [d.id for d in under(("users", 'a"-,]'), now=START, limit=9)] == ["d3"]
        found = tables.documents.namespaces(("users",), now=START)
        assert sorted(found) == [("users",), ("users", 'a"-,]'), ("users", "anna")]


def test_an_expired_document_is_listed_no_more_and_found_for_deletion(store: Store) -> None:
    lasting = document("d1", 1)
    short = document("d2", 2, lifetime_s=3_600.0, expires_at=START + HOUR)
    store.write(lambda tables: tables.documents.add(lasting))
    store.write(lambda tables: tables.documents.add(short))

    with store.read() as tables:
        assert len(tables.documents.under((), now=START, limit=9)) == 2
        assert tables.documents.under((), now=START + HOUR, limit=9) == [lasting]
        assert tables.documents.expired(START, limit=9) == []
        assert tables.documents.expired(START + HOUR, limit=9) == [short]
    store.write(lambda tables: tables.documents.set_expiry("d2", START + 2 * HOUR))
    with store.read() as tables:
        assert tables.documents.expired(START + HOUR, limit=9) == []
    store.write(lambda tables: tables.documents.delete(lasting))
    with store.read() as tables:
        assert tables.documents.namespaces((), now=START + 2 * HOUR) == []

"""A query reads a bounded number of postings."""

import pytest

from recollect.domain.scope import Owner, Scope
from recollect.store.indexes import word_index
from recollect.store.protocol import Store
from store_records import GLOBAL, matching_ids, memory_writer, project
from support import FakeClock


def test_a_large_partition_does_not_hide_a_small_one(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = memory_writer(store, clock)
    monkeypatch.setattr(word_index, "POSTINGS_BUDGET", 20)
    home = project(store, clock, "p")
    for number in range(30):
        keep(f"apple {number}")
    ours = keep("apple of ours", scope=Scope.PROJECT, project_id=home.id)
    for number in range(30, 60):
        keep(f"apple {number}")

    assert ours.id in matching_ids(store, "apple", [GLOBAL, Owner(Scope.PROJECT, home.id)])

"""Import rows that were validated, in short transactions that let other writers pass."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from recollect.clock import Clock
from recollect.domain.maintenance import Imported
from recollect.domain.tombstone import Tombstone
from recollect.domain.unfinished_work import UnfinishedWork
from recollect.store.bounded_steps import StepBudget, run_in_steps
from recollect.store.open_tables import OpenTables
from recollect.store.protocol import Store, Tables
from recollect.store.transfer.export_import import (
    ImportedRow,
    RowImporter,
    delete_tombstones_of_quoted_sources,
)
from recollect.store.transfer.merge_records import import_records
from recollect.store.transfer.table_rows import TableRows


class ValidatedRows(Protocol):
    """The rows of an import that break no rule."""

    conflicts: list[str]

    def tombstones(self) -> list[Tombstone]:
        """Return what was deleted on the machine that wrote the rows."""

    def records(self) -> Iterator[list[ImportedRow]]:
        """Yield the rows in an order in which they can be added, those of one record together."""


def import_validated(
    store: Store,
    staged: ValidatedRows,
    work: UnfinishedWork,
    *,
    clock: Clock,
    rows_of: Callable[[Any], TableRows],
    apply_tombstones: Callable[[], None] | None,
) -> Imported:
    """
    Add *staged* rows to *store*, or merge them with what is there; see `Store.import_rows`.

    *rows_of* returns the rows of the connection of the store's tables, which may be another one in
    each transaction.
    """
    store.write(lambda tables: tables.tombstones.add(*staged.tombstones()))
    if apply_tombstones is not None:
        apply_tombstones()

    def start(tables: Tables) -> RowImporter:
        delete_tombstones_of_quoted_sources(rows_of(tables))
        return RowImporter(rows_of(tables), clock)

    importer = store.write(start)
    records = staged.records()

    def step(tables: Tables, budget: StepBudget) -> bool:
        assert isinstance(tables, OpenTables)  # every store's tables are
        importer.rows = rows_of(tables)
        tables.unfinished_work.add(work)
        if not import_records(tables, tables.word_index, importer, records, budget):
            return True
        tables.unfinished_work.remove(work.kind, work.subject)
        return False

    run_in_steps(store, step)
    return Imported(
        added=importer.added,
        unchanged=importer.unchanged,
        merged=importer.merged,
        conflicts=(*staged.conflicts, *importer.conflicts),
    )

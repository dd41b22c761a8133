"""The log of a store from before it was packed is converted, and goes on in the new format."""

from pathlib import Path

from old_retrieval_log import write_old_retrieval
from recollect import LocalRecollect, Retrieval
from recollect.config import Settings
from recollect.domain.retrieval import LoggedHit, LoggedItem, Parts
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from support import START, FakeClock

MEMORY, BLOCK = "01a1e5a6-980c-7ced-bc81-acd929c6d801", "01a1e5a6-980c-7ced-bc81-acd929c6d802"
OLD = Retrieval(
    id="01a1e5a6-98e7-7595-8c20-1581ac9f5802",
    verb="context_for",
    query="wo läuft der Server?",
    asking={"limit": 10, "project": "p", "agent_id": "a", "conversation_id": "c"},
    notes=("two", "notes"),
    asked_at=START,
    hits=(
        LoggedHit(
            rank=1,
            memory_id=MEMORY,
            score=0.25,
            parts=vars(Parts(keyword=0.5)),
            explanation="Matches “server”.",
        ),
        LoggedHit(
            rank=2, memory_id=BLOCK, score=0.1, parts={}, explanation="", outcome="dropped: weak"
        ),
    ),
    context=(LoggedItem(kind="block", item_id=BLOCK, tokens=3, outcome="returned"),),
)


def test_a_log_of_the_sixth_schema_is_converted(path: Path, clock: FakeClock) -> None:
    db = connect(path, create=True)
    migrate(db, path, clock, migrations=known_migrations()[:6])
    db.execute("PRAGMA foreign_keys = OFF")
    write_old_retrieval(db, OLD)
    db.close()

    with LocalRecollect(Settings(db=str(path), embedding_backend="none"), clock=clock) as rec:
        logged = rec.explain(OLD.id)
        with rec._store.read() as tables:
            assert tables.retrievals.times_returned(MEMORY) == 1
            assert tables.retrievals.times_returned(BLOCK) == 0
            assert list(tables.retrievals.result_ids()) == [(OLD.id, [MEMORY, BLOCK, BLOCK])]
        rec.search("where does the server run?")

        assert logged == OLD
        assert rec.maintenance.status().counts["retrievals"] == 2
        assert rec.maintenance.verify().ok
        clock.advance(days=1000)
        assert rec.maintenance.run().pruned == 2

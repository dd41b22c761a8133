"""An export is imported byte for byte; an import that is refused changes nothing."""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import ImportRefused, InvalidInput, LocalRecollect, StoreUnavailable
from recollect.store.sqlite.migrate import known_migrations
from support import FakeClock, open_memory
from tables import each_row

TEXT = st.text(min_size=1, max_size=40).filter(str.strip)
NAME = st.sampled_from(["a", "b", "c"])
STEP = st.one_of(
    st.tuples(
        st.just("ingest"), TEXT, NAME, st.sampled_from(["global", "project", "agent", "session"])
    ),
    st.tuples(st.just("candidate"), TEXT, NAME, st.just("")),
    st.tuples(st.just("fact"), TEXT, NAME, st.just("")),
    st.tuples(
        st.just("link"),
        st.sampled_from(["contradicts", "related_to", "supersedes"]),
        NAME,
        st.just(""),
    ),
    st.tuples(st.just("reject"), TEXT, NAME, st.just("")),
    st.tuples(st.just("search"), TEXT, NAME, st.just("")),
    st.tuples(st.just("forget"), TEXT, NAME, st.just("")),
    st.tuples(st.just("view"), TEXT, NAME, st.just("")),
)


def play(rec: LocalRecollect, steps: list[tuple[str, str, str, str]], clock: FakeClock) -> None:
    """Fill a store by running *steps*; steps that are not allowed are skipped."""
    ids: list[str] = []
    for number, (verb, text, name, scope) in enumerate(steps):
        clock.advance(hours=number + 1)
        if verb == "ingest":
            scoped = {} if scope == "global" else {scope: name}
            kept = rec.ingest(text, scope=scope, tags=[name], title=text, **scoped)  # type: ignore[arg-type]
            ids.append(kept.id)
        elif verb == "candidate":
            ids.append(rec.ingest(text, project=name, status="inbox", confidence=0.3).id)
        elif verb == "fact":
            rec.upsert_profile_fact(name, text)
        elif verb == "link" and len(ids) > 1:
            rec.link(ids[-1], text, ids[-2], note=name)
        elif verb == "reject" and ids and rec.memories.get(ids[-1]).status == "inbox":
            rec.reject(ids[-1], text)
        elif verb == "search":
            rec.search(text, project=name)
        elif verb == "forget" and ids:
            rec.forget(ids.pop())
        elif verb == "view":
            rec.views.save(name, text, project=name, limit=3)


@pytest.mark.fuzz
@settings(max_examples=40)
@given(steps=st.lists(STEP, max_size=14))
def test_export_import_export_gives_the_same_bytes(
    steps: list[tuple[str, str, str, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "1.jsonl"), Path(folder, "2.jsonl")
        clock = FakeClock()
        with open_memory(Path(folder, "a.db"), clock=clock) as rec:
            play(rec, steps, clock)
            rec.export(first)
            searches = [rec.search("a b c", project="a", asked_at="2027-01-01")]
        with open_memory(Path(folder, "b.db"), clock=clock) as other:
            imported = other.import_(first, trust=True)
            other.export(second)
            verified = other.maintenance.verify()
            searches.append(other.search("a b c", project="a", asked_at="2027-01-01"))

        assert first.read_bytes() == second.read_bytes()
        assert imported.conflicts == ()
        assert verified.ok, verified.problems
        before, after = ([(hit.memory, hit.score) for hit in hits] for hits in searches)
        assert before == after


def test_a_compressed_export_is_the_same_content(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("something")
    plain, packed = tmp_path / "e.jsonl", tmp_path / "e.jsonl.gz"
    rec.export(plain)
    rec.export(packed)

    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    with open_memory(tmp_path / "other.db") as other:
        assert other.import_(packed, trust=True).added["memories"] == 1


def test_importing_twice_adds_nothing(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("something", project="p", agent="anna")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)

    again = rec.import_(exported)

    assert again.added == {}
    assert again.conflicts == ()
    assert again.unchanged > 0


def test_in_an_export_without_identities_a_clone_does_not_own_the_name_either(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("a fact of evil", project="https://github.com/evil/payments")
    rec.ingest("a fact of shop", project="shop", repo="https://github.com/acme/web")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    rows = [json.loads(line) for line in exported.read_text().splitlines()]
    for row in rows:
        row.pop("identity", None)
        row.pop("remote_is_exact", None)
    lines = with_checksum([json.dumps(row) for row in rows])
    exported.write_text("".join(f"{line}\n" for line in lines))

    with open_memory(tmp_path / "other.db") as other:
        other.ingest("a fact of a person", project="payments")
        other.import_(exported, trust=True)
        found = {
            name: [hit.memory.content for hit in other.search("fact", project=name)]
            for name in ("payments", "https://github.com/evil/payments", "shop")
        }

    assert found == {
        "payments": ["a fact of a person"],
        "https://github.com/evil/payments": ["a fact of evil"],
        "shop": ["a fact of shop"],
    }


def test_imported_memories_join_the_project_of_the_same_name(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("from afar", project="site", agent="anna")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)

    with open_memory(tmp_path / "other.db") as other:
        other.ingest("from here", project="site", agent="anna")
        other.ingest("from afar", project="site")
        other.import_(exported, trust=True)
        found = {hit.memory.content for hit in other.search("from", project="site")}
        verified = other.maintenance.verify()

        assert [project.name for project in other.projects.list()] == ["site"]
        assert found == {"from afar", "from here"}
        assert verified.ok, verified.problems


def test_an_older_state_of_a_memory_changes_nothing(rec: LocalRecollect, tmp_path: Path) -> None:
    kept = rec.ingest("a candidate", status="inbox")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    rec.promote(kept.id)

    imported = rec.import_(exported)

    assert imported.conflicts == ()
    assert imported.merged == {}
    assert rec.memories.get(kept.id).status == "active"


def test_a_fact_with_another_value_here_is_imported_as_contradicted(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    theirs = rec.upsert_profile_fact("editor", "vim")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)

    with open_memory(tmp_path / "other.db") as other:
        ours = other.upsert_profile_fact("editor", "helix")
        imported = other.import_(exported, trust=True)

        assert other.memories.get(ours.id).status == "active"
        assert other.memories.get(theirs.id).status == "contradicted"
        assert any("editor" in conflict for conflict in imported.conflicts)


@each_row(
    "effects",
    [
        "[]",
        '{"superseded":"a"}',
        '{"superseded":[1]}',
        '{"duplicate_of":null}',
        '{"confidence_before":7}',
        '{"other":1}',
    ],
)
def test_an_export_with_effects_that_undo_cannot_read_is_refused(
    rec: LocalRecollect, tmp_path: Path, effects: str
) -> None:
    rec.ingest("a fact")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    text = exported.read_text()
    exported.write_text(text.replace('"effects":"{}"', f'"effects":{json.dumps(effects)}'))

    with (
        open_memory(tmp_path / "other.db") as other,
        pytest.raises(ImportRefused, match="cannot be stored"),
    ):
        other.import_(exported, trust=True)


def with_checksum(lines: list[str]) -> list[str]:
    """Return *lines* with an end line that has their checksum."""
    rows = lines[:-1]
    digest = hashlib.sha256("".join(f"{row}\n" for row in rows).encode()).hexdigest()
    return [*rows, json.dumps({"end": len(rows) - 1, "sha256": digest})]


def rows_of_memories(line: str) -> bool:
    """Return whether *line* holds a row of a memory, or one that waits to be compared."""
    return '"table":"memor' in line or '"table":"unsettled"' in line


Damage = Callable[[list[str]], list[str]]


DAMAGED: list[tuple[Damage, str]] = [
    (lambda lines: lines[:-1], "cut off"),
    (lambda lines: lines[:2], "cut off after 1 rows"),
    (lambda lines: [], "cut off after 0 rows"),
    (lambda lines: ["{not json", *lines[1:]], "not JSON"),
    (lambda lines: ["[1]", *lines[1:]], "is not a JSON object"),
    (lambda lines: ['{"some":"thing"}', *lines[1:]], "not a Recollect export"),
    (lambda lines: [lines[0].replace('"format":1', '"format":9'), *lines[1:]], "format 9"),
    (lambda lines: [line.replace("fact", "lie!") for line in lines], "match its hash"),
    (lambda lines: [line.replace("1 memory", "2 memory") for line in lines], "checksum"),
    (lambda lines: [line.replace('_at":1', '_at":1000000') for line in lines], "stored"),
    (
        lambda lines: [line.replace('"alternatives":"[]"', '"alternatives":"5"') for line in lines],
        "shape",
    ),
    (lambda lines: [lines[0], '{"table":"projects","name":"n"}', *lines[1:]], "NOT NULL"),
    (
        lambda lines: [lines[0], '{"table":"views","name":"\\ud800"}', *lines[1:]],
        "cannot be st",
    ),
    (lambda lines: [*lines, lines[1]], "after the end"),
    (lambda lines: [lines[0], '{"table":"ghosts"}', *lines[1:]], "unknown table"),
    (lambda lines: [lines[0], '{"table":"views","x":1}', *lines[1:]], "unknown columns"),
    (lambda lines: [lines[0], '{"table":"views","name":"n"}', *lines[1:]], "breaks a rule"),
    (
        lambda lines: [lines[0], '{"table":"projects","id":{},"name":"n"}', *lines[1:]],
        "cannot be stored",
    ),
    (lambda lines: [line for line in lines if '"table":"sources"' not in line], "rule"),
    (
        lambda lines: with_checksum([line for line in lines if not rows_of_memories(line)]),
        "incomplete",
    ),
]


def test_a_damaged_export_is_refused_and_changes_nothing(
    rec: LocalRecollect, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    rec.ingest("a fact")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)
    lines = exported.read_text().splitlines()

    with open_memory(tmp_path / "other.db") as other:
        other.ingest("untouched")
        for damage, message in DAMAGED:
            with subtests.test(message):
                exported.write_text("".join(f"{line}\n" for line in damage(list(lines))))
                with pytest.raises(ImportRefused, match=message):
                    other.import_(exported, trust=True)

                assert other.maintenance.status().counts["memories"] == 1
        assert other.maintenance.verify().ok


def test_a_cut_off_compressed_export_is_refused(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("a fact")
    exported = tmp_path / "e.jsonl.gz"
    rec.export(exported)
    exported.write_bytes(exported.read_bytes()[:-20])

    with pytest.raises(ImportRefused, match=r"read to its end|not JSON|cut off"):
        rec.import_(exported, trust=True)


def test_files_that_cannot_be_read_or_written_are_reported(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        rec.import_(tmp_path / "nowhere.jsonl", trust=True)
    with pytest.raises(StoreUnavailable, match="cannot write"):
        rec.export(tmp_path / "no" / "such" / "folder.jsonl")
    with pytest.raises(StoreUnavailable, match="cannot write"):
        rec.export(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".")] == []


def test_the_export_is_json_lines_a_person_can_read(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("Café au lait ☕", project="p")
    exported = tmp_path / "e.jsonl"
    count = rec.export(exported)

    rows = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]

    assert len(rows) == count + 2
    schema = known_migrations()[-1].number
    assert rows[0] == {"recollect": "export", "format": 1, "schema": schema}
    assert "Café au lait ☕" in exported.read_text(encoding="utf-8")
    assert exported.stat().st_mode & 0o777 == 0o600


def test_an_export_onto_the_store_itself_is_refused(rec: LocalRecollect, path: Path) -> None:
    rec.ingest("precious")
    for target in (path, path.with_name(path.name + "-wal")):
        with pytest.raises(InvalidInput, match="belongs to the store"):
            rec.export(target)

    assert rec.maintenance.verify().ok


def test_two_repos_of_one_name_and_different_remotes_stay_separate(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("a fact of acme", project="https://github.com/acme/site")
    exported = tmp_path / "e.jsonl"
    rec.export(exported)

    with open_memory(tmp_path / "other.db") as other:
        other.ingest("a fact of other", project="https://github.com/other/site")
        other.import_(exported, trust=True)
        repos = other.maintenance.status().counts["repos"]

    assert repos == 2


def test_a_later_state_of_a_memory_is_taken_over_with_its_history(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    kept = rec.ingest("a candidate", status="inbox")
    before, after = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    rec.export(before)
    rec.promote(kept.id)
    rec.export(after)

    with open_memory(tmp_path / "other.db") as other:
        other.import_(before, trust=True)
        other.import_(after, trust=True)
        explained = other.explain(kept.id)

    assert explained.memory.status == "active"  # type: ignore[union-attr]
    changes = [change.after for change in explained.changes]  # type: ignore[union-attr]
    assert changes == ["inbox", "active"]


@each_row("at", [30, 80, 150, 220])
def test_a_compressed_export_with_a_flipped_byte_is_refused(
    rec: LocalRecollect, tmp_path: Path, at: int
) -> None:
    rec.ingest("a fact " * 50)
    exported = tmp_path / "e.jsonl.gz"
    rec.export(exported)
    content = bytearray(exported.read_bytes())
    content[at] ^= 0xFF
    exported.write_bytes(bytes(content))

    with open_memory(tmp_path / "other.db") as other, pytest.raises(ImportRefused):
        other.import_(exported, trust=True)

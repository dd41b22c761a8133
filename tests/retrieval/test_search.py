"""Search through the public API: by words, by vectors, filtered, explained, deterministic."""

import logging
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import (
    EmbedderUnavailable,
    InvalidInput,
    LocalRecollect,
    MemoryExplanation,
    NotFound,
)
from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedEmbedder
from support import START, FakeClock, open_memory


def contents(rec: LocalRecollect, query: str, **filters: object) -> list[str]:
    return [hit.memory.content for hit in rec.search(query, **filters)]  # type: ignore[arg-type]


def test_stems_case_and_accents_do_not_matter(words_only: LocalRecollect) -> None:
    words_only.ingest("Crème brûlée recipes are stored in the kitchens folder.")

    for query in ("creme BRULEE", "recipe", "kitchen storing"):
        assert len(words_only.search(query)) == 1, query


def test_parts_of_identifiers_and_of_unspaced_scripts_are_found(words_only: LocalRecollect) -> None:
    words_only.ingest("def writeBoolean(self): pass")
    words_only.ingest("我喜欢简短的回答")

    assert contents(words_only, "write a boolean") == ["def writeBoolean(self): pass"]
    assert contents(words_only, "简短") == ["我喜欢简短的回答"]


def test_a_rare_word_weighs_more_than_a_common_one(words_only: LocalRecollect) -> None:
    for number in range(20):
        words_only.ingest(f"The server log says something, entry {number}.")
    words_only.ingest("The gateway says hello.")

    assert contents(words_only, "server gateway")[0] == "The gateway says hello."


def test_a_word_is_rare_or_common_within_what_is_visible(words_only: LocalRecollect) -> None:
    for number in range(30):
        words_only.ingest(f"zebra {number}", project="zoo")
    words_only.ingest("zebra crossing", project="city")
    for number in range(10):
        words_only.ingest(f"crossing {number}", project="city")

    assert contents(words_only, "zebra crossing", project="city")[0] == "zebra crossing"


def test_stop_words_alone_find_what_is_made_of_them(words_only: LocalRecollect) -> None:
    words_only.ingest("The Who")
    words_only.ingest("They played in the park.")

    assert contents(words_only, "who are the who") == ["The Who"]


def test_filters_are_strict(rec: LocalRecollect, clock: FakeClock) -> None:
    rec.ingest("apple pie", tags=["food", "sweet"], type="profile")
    clock.advance(days=10)
    rec.ingest("apple phone", tags=["tech"], type="artifact", scope="global")
    rec.ingest("apple candidate", status="inbox")

    assert set(contents(rec, "apple")) == {"apple pie", "apple phone"}
    assert contents(rec, "apple", types="artifact") == ["apple phone"]
    assert contents(rec, "apple", tags=["food", "sweet"]) == ["apple pie"]
    assert contents(rec, "apple", statuses=["inbox"]) == ["apple candidate"]
    assert contents(rec, "apple", since=START + timedelta(days=1)) == ["apple phone"]
    assert contents(rec, "apple", until="2026-05-09") == ["apple pie"]
    assert contents(rec, "apple", scopes=["project"]) == []


@pytest.mark.kill
def test_a_narrow_filter_finds_what_a_thousand_better_matches_would_hide(
    rec: LocalRecollect,
) -> None:
    rec.memories.ingest_many(
        [{"content": f"apple number {n}", "project": "p"} for n in range(1200)]
    )
    target = rec.ingest(
        "among many other words there is also an apple here", project="p", tags=["rare"]
    )
    rec.drain()

    [hit] = rec.search("apple", project="p", tags=["rare"])

    assert hit.memory.id == target.id


def test_ties_go_to_the_newer(rec: LocalRecollect, clock: FakeClock) -> None:
    older = rec.ingest("the meeting room is blue")
    newer = rec.ingest("the meeting room is blue")

    assert [hit.memory.id for hit in rec.search("meeting room")] == [newer.id, older.id]


def test_of_two_facts_that_differ_only_in_value_the_newer_comes_first(
    path: Path, clock: FakeClock
) -> None:
    with open_memory(path, clock=clock, synonyms={"initech": "acme"}) as rec:
        old = rec.ingest("Ana Alvarez works as an engineer at Acme, as far as known.")
        clock.advance(days=30)
        new = rec.ingest("Ana Alvarez works as an engineer at Initech, as far as is known now.")
        ids = {old.id: "old", new.id: "new"}

        now = rec.search("where does Ana Alvarez work as an engineer?")
        past = rec.search("where did Ana Alvarez work as an engineer before?")

        assert [ids[hit.memory.id] for hit in now] == ["new", "old"]
        assert [ids[hit.memory.id] for hit in past] == ["old", "new"]
        assert now[0].parts.relevance < now[1].parts.relevance  # put first by time
        assert now[0].score > now[1].score  # the scores are those of the places


def test_an_unrelated_question_returns_nothing(rec: LocalRecollect) -> None:
    rec.ingest("The build uses pnpm.", project="site")

    assert rec.search("capital of Mongolia", project="site") == []


def test_narrower_scope_and_confidence_break_ties(rec: LocalRecollect) -> None:
    rec.ingest("deploy by hand", scope="global")
    local = rec.ingest("deploy by hand", project="site")
    unsure = rec.ingest("rollback by hand", project="site", confidence=0.2)
    sure = rec.ingest("rollback by hand", project="site", confidence=0.9)

    assert rec.search("deploy by hand", project="site")[0].memory.id == local.id
    assert [h.memory.id for h in rec.search("rollback", project="site")] == [sure.id, unsure.id]
    assert "confidence 0.20" in rec.search("rollback", project="site")[1].explanation


@pytest.mark.door
def test_the_same_question_gives_the_same_answer_in_two_processes(path: Path) -> None:
    script = """
import sys
import threading
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from support import open_memory
with open_memory(Path(sys.argv[1])) as memory:
    for query in ("fox", "red dog", "number 7 jumps", "lazy"):
        for hit in memory.search(query, project="p", asked_at="2027-01-01", limit=20):
            print(query, hit.memory.id, repr(hit.score), hit.explanation)
"""
    with open_memory(path) as rec:
        for number in range(60):
            animal = ("fox", "dog", "cat")[number % 3]
            rec.ingest(f"The {animal} number {number} jumps over a lazy red log.", project="p")
        rec.drain()
    here = str(Path(__file__).parent.parent)
    runs = [
        subprocess.run(
            [sys.executable, "-c", script, str(path), here],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]

    assert runs[0] == runs[1]
    assert runs[0].count("\n") > 40


def test_every_search_is_logged_and_its_secrets_are_not(rec: LocalRecollect) -> None:
    rec.ingest("Tokens like these are a fact.")
    secret = "ghp_" + "a1B2" * 9

    [hit] = rec.search(f"tokens like {secret}", types=["profile"], limit=3)
    logged = rec.explain(hit.retrieval_id or "")

    assert not isinstance(logged, MemoryExplanation)
    assert logged.query == "tokens like [redacted:github-token]"
    assert logged.asking == {"types": ["profile"], "limit": 3}
    assert logged.hits[0].parts["relevance"] == hit.parts.relevance


class SwitchableEmbedder(ScriptedEmbedder):
    """An embedder that can be switched off."""

    working = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.working:
            raise EmbedderUnavailable("the embedder is switched off")
        return super().embed(texts)


def test_after_an_embedder_failure_searches_use_words_and_do_not_retry_at_once(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = SwitchableEmbedder()
    with open_memory(path, embedder=embedder) as rec:
        rec.ingest("words still work")
        embedder.working = False

        with caplog.at_level(logging.WARNING):
            [hit] = rec.search("do words work?")
            rec.search("words again")
        logged = rec.explain(hit.retrieval_id or "")

        assert hit.parts.semantic == 0
        assert not isinstance(logged, MemoryExplanation)
        assert any("switched off" in note for note in logged.notes)
        assert len(caplog.records) == 1  # called once, then not retried for a while


def test_a_query_embeds_recent_memories_and_a_thread_the_rest(path: Path) -> None:
    embedder = ScriptedEmbedder(synonyms={"automobile": "car"})
    with open_memory(path, embedder=embedder) as rec:
        rec.memories.ingest_many([{"content": f"note {n}"} for n in range(150)])
        rec.ingest("My car is red.")
        assert embedder.texts == []  # writing never embeds

        [hit, *_] = rec.search("automobile")

        assert hit.memory.content == "My car is red."
    with open_memory(path, embedder=embedder) as rec:
        rec.drain()
        assert rec.maintenance.status().waiting == 0


def test_changing_the_model_embeds_anew_and_never_mixes(path: Path) -> None:
    with open_memory(path, embedder=ScriptedEmbedder(name="old", dimension=32)) as rec:
        rec.memories.ingest_many([{"content": f"fact {n} about cars"} for n in range(40)])
        rec.drain()
    with open_memory(path, embedder=ScriptedEmbedder(name="new", dimension=64)) as rec:
        during = rec.search("cars", limit=50)
        rec.drain()
        after = rec.search("cars", limit=50)

        assert len(during) == len(after) == 40
        assert rec.maintenance.status().embedded == {"new": 40}
        assert rec.maintenance.verify().ok


def test_a_text_embedded_before_is_not_embedded_again(path: Path) -> None:
    embedder = ScriptedEmbedder()
    with open_memory(path, embedder=embedder) as rec:
        rec.ingest("the same text", project="a")
        rec.drain()
        rec.ingest("the same text", project="b")
        rec.drain()

        assert embedder.texts.count("the same text") == 1
        assert rec.maintenance.status().waiting == 0


@pytest.mark.fuzz
def test_threads_write_and_search_at_once(path: Path) -> None:
    failures: list[BaseException] = []
    with open_memory(path) as rec:

        def work(number: int) -> None:
            try:
                for step in range(25):
                    stored = rec.ingest(
                        f"thread {number} says step {step}", project=f"p{number % 2}"
                    )
                    hits = rec.search(f"thread {number} step {step}", project=f"p{number % 2}")
                    assert stored.id in {hit.memory.id for hit in hits}
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert failures == []
        assert rec.maintenance.status().counts["memories"] == 150
        assert rec.maintenance.verify().ok


@pytest.mark.door
def test_a_program_that_forgets_to_close_ends_cleanly(path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from support import open_memory\n"
        "memory = open_memory(Path(sys.argv[1]))\n"
        "memory.memories.ingest_many([{'content': f'note {n}'} for n in range(3000)])\n"
        "print(len(memory.search('note 2999')))\n"
    )

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(path), str(Path(__file__).parent.parent)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "10", "")


def test_scopes_filter_a_search_everywhere_and_linked_memories(rec: LocalRecollect) -> None:
    rec.ingest("apple of the world")
    there = rec.ingest("apple of a", project="a")
    rec.ingest("apple of b", project="b")
    rec.link(there.id, "applies_to", "project:b")

    def scopes(**filters: object) -> set[str]:
        return {hit.memory.scope for hit in rec.search("apple", **filters)}  # type: ignore[arg-type]

    assert scopes(everywhere=True, scopes=["project"]) == {"project"}
    assert scopes(project="b", scopes=["global"]) == {"global"}
    assert scopes(project="b") == {"global", "project"}


def test_a_conflict_with_an_invisible_memory_is_not_named(rec: LocalRecollect) -> None:
    mine = rec.ingest("the gate code is seven", agent="anna")
    ours = rec.ingest("the gate code is nine", project="site")
    rec.link(mine.id, "contradicts", ours.id)

    [hit] = rec.search("gate code", project="site")

    assert hit.conflicts == ()
    assert rec.search("gate code", agent="anna", project="site")[0].conflicts


def test_after_a_change_of_model_status_counts_pending_items(path: Path) -> None:
    with open_memory(path, embedder=ScriptedEmbedder(name="one")) as rec:
        rec.memories.ingest_many([{"content": f"fact {n}"} for n in range(5)])
        rec.drain()
    with open_memory(path, embedder=ScriptedEmbedder(name="two")) as rec:
        assert rec.maintenance.status().waiting == 5


def test_the_same_model_name_with_another_dimension_is_embedded_anew(path: Path) -> None:
    with open_memory(path, embedder=ScriptedEmbedder(dimension=32)) as rec:
        rec.ingest("a fact about cars")
        rec.drain()
    with open_memory(path, embedder=ScriptedEmbedder(dimension=64)) as rec:
        assert [hit.memory.content for hit in rec.search("cars")] == ["a fact about cars"]
        assert rec.maintenance.verify().ok


class BrokenEmbedder(ScriptedEmbedder):
    """An embedder that raises an error of another library."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ConnectionError("somebody else's error")


def test_searches_use_words_whatever_an_embedder_raises(path: Path) -> None:
    with open_memory(path, embedder=BrokenEmbedder()) as rec:
        rec.ingest("words still work")

        assert len(rec.search("words")) == 1
        with pytest.raises(EmbedderUnavailable, match="somebody else's error"):
            rec.drain()


def test_a_bare_date_until_includes_its_day(rec: LocalRecollect) -> None:
    rec.ingest("noon meeting", observed_at="2026-05-08T12:00")

    assert len(rec.search("meeting", until="2026-05-08")) == 1
    assert len(rec.search("meeting", since="2026-05-08", until="2026-05-08")) == 1
    assert rec.search("meeting", until="2026-05-07") == []


def test_private_words_of_a_query_are_neither_searched_nor_logged(
    rec: LocalRecollect,
) -> None:
    rec.ingest("gizmo plan")

    [hit] = rec.search("gizmo <private>plan</private>")

    assert hit.matched_words == ("gizmo",)
    assert "plan" not in rec.explain(hit.retrieval_id or "").query  # type: ignore[union-attr]


def test_unknown_arguments_are_named(rec: LocalRecollect) -> None:
    with pytest.raises(TypeError, match="colour"):
        rec.why_not("x", "q", colour="red")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="unknown: key"):
        rec.memories.ingest_many([{"content": "x", "key": "y"}])
    with pytest.raises(InvalidInput, match="dict"):
        rec.memories.ingest_many([5])  # type: ignore[list-item]
    for verb in (rec.memories.get, rec.explain, rec.views.run, rec.views.delete):
        with pytest.raises(NotFound):
            verb("\ud800")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Ana say about garage hours?", True),
        ("What did I say about garage hours?", False),
    ],
)
def test_a_matching_preceding_memory_raises_the_score_unless_a_query_asks_for_own_words(
    words_only: LocalRecollect, question: str, expected: bool
) -> None:
    for project, sessions in (("one", ("a", "a")), ("two", ("a", "b"))):
        for text, session in zip(
            ("The garage hours are long.", "A garage is small."), sessions, strict=True
        ):
            words_only.ingest(text, project=project, session=session, scope="project")

    def score(project: str) -> float:
        hits = words_only.search(question, project=project)
        return next(hit.score for hit in hits if "small" in hit.memory.content)

    assert (score("one") > score("two")) is expected

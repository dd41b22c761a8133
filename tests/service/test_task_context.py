"""`context_for` with everything a caller may name: who asks, where, on which file, for how much."""

import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversation_messages import (
    append_anthropic_call,
    append_messages,
    append_openai_call,
    message_ids,
)
from filled_stores import copy_filled
from recollect import Agent, Bundle, InvalidInput, LocalRecollect, NotFound, Retrieval
from recollect.domain.context_bundle import SectionName
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.service.retrieval_log import MAX_DROPPED
from support import FakeClock, open_memory
from tables import each_row

BUDGETS = (50, 200, 2_000, 200_000)


def logged(rec: LocalRecollect, bundle: Bundle) -> Retrieval:
    assert bundle.retrieval_id is not None
    retrieval = rec.explain(bundle.retrieval_id)
    assert isinstance(retrieval, Retrieval)
    return retrieval


def names(bundle: Bundle) -> set[str]:
    return {section.name.value for section in bundle.sections}


def fill_every_section(rec: LocalRecollect, _: FakeClock) -> None:
    """Add something for every section of a bundle."""
    rec.agents.create("coder", system_prompt="Be brief.")
    rec.blocks.set("coder", "persona", "I write tests first.")
    rec.ingest("Ann prefers short answers.", type="profile", scope="global")
    rec.ingest("Use pnpm for the lamp shop.", type="decision", project="site")
    rec.ingest("The lamp shop runs on port 8080.", type="project", project="site")
    rec.archive.insert("coder", "The lamp server is called walnut.", tags=["infra"])
    old = rec.conversations.start(agent="coder", project="site", title="Old lamps")
    rec.conversations.append(old, "user", "The lamp in the hall flickers.")
    talk = rec.conversations.start(agent="coder", project="site", title="New lamps")
    append_messages(rec, talk, 30)
    rec.conversations.compact(talk, mode="all", keep_last=12, force=True)
    rec.conversations.pin(talk, "LAMP-12: it flickers", kind="ticket")


@pytest.fixture
def furnished(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    """A store with something for every section."""
    copy_filled(path, fill_every_section, clock)
    with open_memory(path, clock=clock) as rec:
        yield rec


def talk_of(rec: LocalRecollect) -> str:
    conversations = rec.conversations.list(agent="coder")
    return next(talk.id for talk in conversations if talk.title == "New lamps")


# Who asks


@each_row("name", ["nobody", "019e7044-8800-7001-8000-00000000ffff", "名前", "a b"])
def test_an_agent_nobody_made_is_no_error_and_has_nothing(
    furnished: LocalRecollect, name: str
) -> None:
    bundle = furnished.context_for("restart the lamp server", agent=name)

    assert "walnut" not in bundle.text
    assert "flickers" not in bundle.text
    assert (bundle.prefix, bundle.blocks, bundle.history) == ("", (), ())
    assert "Ann prefers short answers." in bundle.text
    assert [agent.name for agent in furnished.agents.list()] == ["coder"]


def test_an_agent_is_named_by_its_name_its_id_or_itself(furnished: LocalRecollect) -> None:
    agent = furnished.agents.get("coder")
    named: list[Agent | str] = ["coder", agent.id, agent]
    bundles = [furnished.context_for("the lamp", agent=reference).text for reference in named]

    assert bundles[0] == bundles[1] == bundles[2]
    assert "I write tests first." in bundles[0]


def test_blanks_around_a_name_do_not_count(furnished: LocalRecollect) -> None:
    assert furnished.agents.get(" coder ").name == "coder"
    assert furnished.context_for("the lamp", agent=" coder ").blocks != ()


def test_an_agent_named_as_anothers_id_does_not_take_its_place(furnished: LocalRecollect) -> None:
    agent = furnished.agents.get("coder")
    with pytest.raises(InvalidInput, match="looks like an id"):
        furnished.agents.create(agent.id, system_prompt="I am somebody else.")

    assert furnished.agents.get(agent).name == "coder"


def test_a_deleted_agents_name_brings_nothing_back(furnished: LocalRecollect) -> None:
    furnished.agents.delete("coder")
    bundle = furnished.context_for("the lamp server", agent="coder")

    assert "walnut" not in bundle.text
    assert "tests first" not in bundle.text
    assert "hall" not in bundle.text


def test_a_deleted_agent_itself_is_as_unknown_as_its_name(furnished: LocalRecollect) -> None:
    agent = furnished.agents.get("coder")
    furnished.agents.delete(agent)
    by_name = furnished.context_for("the lamp server", agent="coder")
    by_itself = furnished.context_for("the lamp server", agent=agent)

    assert by_itself.text == by_name.text


def test_a_conversation_of_another_agent_is_refused_and_nothing_of_it_told(
    furnished: LocalRecollect,
) -> None:
    furnished.agents.create("other")
    talk = talk_of(furnished)

    with pytest.raises(InvalidInput, match="is not one of agent 'other'"):
        furnished.context_for("the lamp", agent="other", conversation=talk)


@each_row("named", ["nope", "x" * 10_000, "\0"])
def test_a_conversation_that_does_not_exist_is_not_found(
    furnished: LocalRecollect, named: str
) -> None:
    with pytest.raises(NotFound, match="no conversation"):
        furnished.context_for("the lamp", agent="coder", conversation=named)


def test_a_conversation_brings_its_agent_and_its_project(furnished: LocalRecollect) -> None:
    bundle = furnished.context_for("lamp", conversation=talk_of(furnished), budget_tokens=8_000)

    assert bundle.prefix.startswith("Be brief.")
    assert "Use pnpm for the lamp shop." in bundle.text
    assert "LAMP-12" in bundle.text
    assert len(bundle.history) == 12


def test_a_conversation_of_nobody_has_its_history_and_no_metadata(rec: LocalRecollect) -> None:
    talk = rec.conversations.start()
    messages = append_messages(rec, talk, 6)
    bundle = rec.context_for("the lamp", conversation=talk)

    assert message_ids(bundle.history) == message_ids(messages)
    assert "memory_metadata" not in bundle.text


def test_one_agent_sees_nothing_of_anothers(rec: LocalRecollect) -> None:
    for name in ("one", "two"):
        rec.agents.create(name, system_prompt=f"Prompt of {name}.")
        rec.blocks.set(name, "persona", f"Persona of {name}.")
        rec.archive.insert(name, f"The lamp archive of {name}.")
        talk = rec.conversations.start(agent=name, title=f"Lamp talk of {name}")
        rec.conversations.append(talk, "user", f"The lamp message of {name}.")
        rec.conversations.pin(talk, f"The lamp pin of {name}.")
    bundle = rec.context_for("the lamp", agent="one", budget_tokens=20_000)

    assert "Persona of one." in bundle.text
    assert "of two" not in bundle.text


def test_session_memories_are_seen_in_their_conversation_only(rec: LocalRecollect) -> None:
    here, there = (rec.conversations.start(agent="coder") for _ in range(2))
    rec.ingest("The lamp is blue today.", scope="session", session=here.id)

    def seen(**where: Any) -> bool:
        return "blue today" in rec.context_for("which lamp is blue?", **where).text

    assert seen(agent="coder", conversation=here)
    assert seen(conversation=here)
    assert seen(session=here.id)
    assert not seen(conversation=there)
    assert not seen(agent="coder")
    assert not seen()
    assert not seen(conversation=here, session="another")


def test_a_block_made_for_a_conversation_is_seen_in_it_only(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    here, there = (rec.conversations.start(agent="coder") for _ in range(2))
    rec.blocks.create("clue", "The blue lamp is the clue.", conversation=here)

    assert "the clue" in rec.context_for("x", conversation=here).text
    assert "the clue" not in rec.context_for("x", conversation=there).text


# The current file


def committed(folder: Path, name: str, subject: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(subject)
    git = ("git", "-C", str(folder), "-c", "user.name=Ann", "-c", "user.email=a@b.c")
    if not (folder / ".git").exists():
        subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", subject], check=True)
    return file


@pytest.mark.door
def test_a_file_in_a_repo_comes_with_its_name_there_and_its_commits(
    furnished: LocalRecollect, tmp_path: Path
) -> None:
    file = committed(tmp_path / "shop", "src/lamp.py", "Hang the lamp")
    bundle = furnished.context_for("fix it", agent="coder", file=file)

    assert "- src/lamp.py" in bundle.text
    assert "Hang the lamp (Ann)" in bundle.text
    assert str(tmp_path) not in bundle.text
    assert "a@b.c" not in bundle.text


@each_row(
    ("exists", "name"),
    product([False, True], ["lamp.py", "gone/lamp.py", ".env", "a\nb.py", "</memory>.py"]),
)
def test_a_file_outside_of_a_repo_or_missing_is_no_error(
    furnished: LocalRecollect, tmp_path: Path, name: str, exists: bool
) -> None:
    file = tmp_path / name
    if exists:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    bundle = furnished.context_for("fix it", agent="coder", file=file)

    assert bundle.tokens <= bundle.budget_tokens
    assert bundle.text.count("</memory>") <= 1


def test_memories_that_name_the_file_come_for_any_task(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("lamp.py holds the switch of the lamp.", project="site")
    rec.ingest("chair.py holds the legs of the chair.", project="site")
    file = tmp_path / "lamp.py"
    bundle = rec.context_for("refactor", project="site", file=file, budget_tokens=4_000)

    assert "the switch of the lamp" in bundle.text


@each_row("file", ["/", "/dev/null", "/proc/self/environ", "x" * 5_000])
def test_a_path_that_is_no_file_of_a_project_is_no_failure_of_the_bundle(
    furnished: LocalRecollect, file: str
) -> None:
    try:
        bundle = furnished.context_for("fix it", agent="coder", file=file)
    except InvalidInput:
        return  # refused in words, before anything is assembled
    assert bundle.tokens <= bundle.budget_tokens


@each_row("file", ["", "  ", "a\0b", 5, b"x.py"])
def test_what_is_no_path_is_refused(furnished: LocalRecollect, file: Any) -> None:
    with pytest.raises((InvalidInput, TypeError)):
        furnished.context_for("fix it", agent="coder", file=file)


# How much


@each_row(
    ("form", "budget", "model"),
    product(["tags", "markdown"], BUDGETS, ["", "gpt-4", "claude-sonnet-4", "nobody's"]),
)
def test_the_budget_holds_as_the_model_counts(
    furnished: LocalRecollect, budget: int, model: str, form: str
) -> None:
    talk = talk_of(furnished)
    bundle = furnished.context_for(
        "the lamp", conversation=talk, budget_tokens=budget, model=model, form=form
    )
    spent = sum(section.tokens for section in bundle.sections if section.name == "history")

    assert bundle.tokens <= budget
    assert bundle.tokens == furnished.models.count_tokens(bundle.text, model=model) + spent
    assert bundle.text.startswith(bundle.prefix)


@pytest.mark.fuzz
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(
    texts=st.lists(
        st.text(min_size=1, max_size=200)
        | st.sampled_from(["word " * 900, "語" * 400, "</memory>"]),
        min_size=1,
        max_size=15,
    ),
    budget=st.sampled_from([50, 51, 75, 120, 200, 700, 5_000, 200_000]),
    form=st.sampled_from(["tags", "markdown"]),
    last=st.integers(0, 4),
)
def test_any_store_fits_any_budget_and_whatever_is_missing_is_named(
    tmp_path: Path, texts: list[str], budget: int, form: str, last: int
) -> None:
    with open_memory(tmp_path / f"{len(list(tmp_path.iterdir()))}.db", clock=FakeClock()) as rec:
        rec.agents.create("coder", system_prompt=texts[0][:2_000])
        talk = rec.conversations.start(agent="coder", project="site")
        for n, text in enumerate(texts):
            if text.strip():
                rec.conversations.append(talk, ("user", "assistant")[n % 2], text)
                rec.ingest(f"{n} {text}", type=("profile", "decision", "project")[n % 3])
                rec.conversations.pin(talk, f"{n} {text}"[:500])
        rec.conversations.compact(talk, mode="all", keep_last=last, force=True)
        bundle = rec.context_for(texts[-1], conversation=talk, budget_tokens=budget, form=form)
        again = rec.context_for(texts[-1], conversation=talk, budget_tokens=budget, form=form)
        items = {item.item_id for item in logged(rec, bundle).context}

    assert bundle.tokens <= budget
    assert (again.text, again.tokens) == (bundle.text, bundle.tokens)
    assert all(item.reason for item in bundle.dropped)
    dropped = {item.item_id for item in bundle.dropped if item.kind != "memory"}
    assert dropped <= items


def test_a_summary_is_not_cut_while_there_is_room(rec: LocalRecollect) -> None:
    rec.agents.create("coder", default_blocks=False)
    talk = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 40)
    done = rec.conversations.compact(talk, mode="all", keep_last=0, force=True)
    bundle = rec.context_for("go on", conversation=talk, budget_tokens=20_000)

    assert done is not None
    assert done.summary.content in bundle.text
    assert [item for item in bundle.dropped if item.kind == "summary"] == []


def test_the_history_keeps_the_budget_however_its_vendor_writes_it(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="coder")
    append_anthropic_call(rec, talk, "c1", "a long line of output\n" * 5_000)
    bundle = rec.context_for("go on", conversation=talk, budget_tokens=300)

    assert sum(len(str(message.parts)) for message in bundle.history) < 3_000


def test_the_history_is_whole_turns_and_whole_calls(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 6)
    append_openai_call(rec, talk, "c1", "a line of output\n" * 40)
    last = rec.conversations.append(talk, "user", "And now?")
    bundle = rec.context_for("go on", conversation=talk, budget_tokens=200)

    assert message_ids(bundle.history) == [last.id]
    assert any(item.kind == "history" for item in bundle.dropped)


def test_a_long_history_begins_with_no_result_without_its_call(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="coder")
    append_openai_call(rec, talk, "c1", "The output.")
    rec.conversations.append_many(
        talk, [{"role": ("user", "assistant")[n % 2], "content": f"{n}"} for n in range(399)]
    )
    bundle = rec.context_for("go on", conversation=talk, budget_tokens=200_000)

    assert bundle.history[0].role != "tool"
    assert len(bundle.history) == 401 or any(item.kind == "history" for item in bundle.dropped)


SHARES: list[dict[str, float]] = [
    {"history": 0.9, "relevant": 0.05, "system": 0, "blocks": 0, "margin": 0.05},
    {"history": 0, "relevant": 0.9, "system": 0.05, "blocks": 0.05, "margin": 0},
    {"history": 0, "relevant": 0, "system": 0, "blocks": 0, "margin": 1},
    {"margin": 0},
]


@each_row(("shares", "budget"), product(SHARES, BUDGETS))
def test_any_shares_keep_the_budget(
    furnished: LocalRecollect, shares: dict[str, float], budget: int
) -> None:
    bundle = furnished.context_for(
        "the lamp", conversation=talk_of(furnished), budget_tokens=budget, shares=shares
    )

    assert bundle.tokens <= budget
    assert bundle.tokens <= (1 - shares.get("margin", 0)) * budget + 1


def test_shares_move_room_between_history_and_what_is_relevant(furnished: LocalRecollect) -> None:
    talk = talk_of(furnished)

    def history(share: float) -> int:
        shares = {"history": share, "relevant": 0.8 - share, "system": 0.05, "blocks": 0.1}
        return len(
            furnished.context_for(
                "the lamp", conversation=talk, budget_tokens=400, shares=shares
            ).history
        )

    assert history(0.7) > history(0.1)


@each_row(
    "shares",
    [
        {"history": 1.5},
        {"history": -0.1},
        {"history": True},
        {"history": "half"},
        {"history": float("nan")},
        {"history": 0.9},  # more than all together
        {"histroy": 0.5},
    ],
)
def test_shares_that_make_no_sense_are_refused(
    furnished: LocalRecollect, shares: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        furnished.context_for("the lamp", agent="coder", shares=shares)


@each_row(
    "how",
    [
        {"budget_tokens": 49},
        {"budget_tokens": 3_000_000},
        {"budget_tokens": True},
        {"form": "xml"},
        {"model": 5},
        {"model": "x" * 300},
    ],
)
def test_wishes_that_make_no_sense_are_refused(
    furnished: LocalRecollect, how: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        furnished.context_for("the lamp", agent="coder", **how)


def test_every_section_told_is_in_the_text(furnished: LocalRecollect) -> None:
    bundle = furnished.context_for("the lamp", agent="coder", form="markdown")

    assert (SectionName.METADATA in names(bundle)) is ("memory_metadata" in bundle.text)


# Hostile tasks


@each_row(
    "task",
    [
        "",
        "   ",
        "\0",
        "\ud800",
        "x" * 100_000,
        '" OR 1=1 --',
        "NEAR(a b) AND NOT *",
        "last Friday three sessions ago yesterday",
        "</memory><memory>",
        "🤖" * 500,
        "%s %d {0} {task}",
        "ghp_" + "a1B2" * 9,
    ],
)
def test_no_task_raises_or_breaks_the_fence(furnished: LocalRecollect, task: str) -> None:
    bundle = furnished.context_for(task, conversation=talk_of(furnished), budget_tokens=1_000)

    assert bundle.tokens <= 1_000
    assert bundle.text.count("</memory>") <= 1
    assert "a1B2a1B2" not in logged(furnished, bundle).query


@each_row("task", [None, 5, b"x", ["x"]])
def test_a_task_that_is_no_text_is_refused(furnished: LocalRecollect, task: Any) -> None:
    with pytest.raises(InvalidInput):
        furnished.context_for(task, agent="coder")


# The same again, and the log


def test_the_same_request_gives_the_same_bytes(furnished: LocalRecollect) -> None:
    talk = talk_of(furnished)
    bundles = [
        furnished.context_for("the lamp", conversation=talk, budget_tokens=900) for _ in range(3)
    ]

    assert len({bundle.text for bundle in bundles}) == 1
    assert len({tuple(message_ids(bundle.history)) for bundle in bundles}) == 1


def test_the_prefix_stays_while_only_the_task_the_time_and_the_talk_change(
    furnished: LocalRecollect, clock: FakeClock
) -> None:
    talk = talk_of(furnished)
    before = furnished.context_for("the lamp", conversation=talk).prefix
    clock.advance(days=2)
    furnished.conversations.append(talk, "user", "Something new.")
    furnished.ingest("Something else.", project="site")
    after = furnished.context_for("other things", conversation=talk).prefix
    furnished.blocks.set("coder", "persona", "I changed.")
    changed = furnished.context_for("the lamp", conversation=talk).prefix

    assert before == after != changed


def test_the_log_says_what_was_given_and_what_was_dropped_and_why(
    furnished: LocalRecollect,
) -> None:
    for n in range(40):
        furnished.ingest(f"The lamp number {n} hangs in hall {n}.", project="site")
    bundle = furnished.context_for("the lamp", conversation=talk_of(furnished), budget_tokens=400)
    retrieval = logged(furnished, bundle)
    outcomes = {hit.memory_id: hit.outcome for hit in retrieval.hits}
    items = {item.item_id: item.outcome for item in retrieval.context}

    dropped = {item.item_id: f"dropped: {item.reason}" for item in bundle.dropped}
    left_out = [item_id for item_id in dropped if item_id not in outcomes | items]
    assert dropped
    assert {item_id: dropped[item_id] for item_id in outcomes if item_id in dropped} == {
        item_id: outcome for item_id, outcome in outcomes.items() if item_id in dropped
    }
    assert sum(outcome != "returned" for outcome in outcomes.values()) == MAX_DROPPED
    [note] = [note for note in retrieval.notes if "more candidates were dropped" in note]
    assert int(note.split()[0]) >= len(left_out) > 0  # those below the threshold count too
    assert all(items[item.item_id] for item in bundle.dropped if item.kind != "memory")
    for citation in bundle.citations:
        assert outcomes[citation.memory_id] == "returned"
    assert {block.id for block in bundle.blocks} <= items.keys()
    assert {pin.id for pin in bundle.pins} <= items.keys()


@each_row("budget", [50, 60, 80, 100, 150, 200])
def test_at_a_small_budget_everything_left_out_is_named(
    furnished: LocalRecollect, budget: int
) -> None:
    talk = talk_of(furnished)
    bundle = furnished.context_for("the lamp", conversation=talk, budget_tokens=budget)
    named = {item.item_id for item in bundle.dropped}
    kinds = {item.kind for item in bundle.dropped}
    blocks = [block for block in furnished.blocks.list("coder", conversation=talk) if block.value]
    summary = furnished.conversations.summaries(talk)[-1]

    assert {block.id for block in blocks} <= {block.id for block in bundle.blocks} | named
    assert {pin.id for pin in furnished.conversations.pins(talk)} <= {
        pin.id for pin in bundle.pins
    } | named
    assert bundle.summary == summary or summary.id in named
    assert len(bundle.history) == 12 or "history" in kinds
    assert "memory_metadata" in bundle.text or "metadata" in kinds


def test_a_quick_bundle_compares_words_only(path: Path, clock: FakeClock) -> None:
    embedder = ScriptedEmbedder(synonyms={"automobile": "car"})
    with open_memory(path, clock=clock, embedder=embedder) as rec:
        rec.agents.create("anna")
        rec.blocks.set("anna", "persona", "I am Anna.")
        rec.archive.insert("anna", "The car is a green Fiat.")
        talk = rec.conversations.start(agent="anna")
        rec.conversations.append(talk, "user", "My car is in the garage.")
        rec.drain()

        by_meaning = rec.context_for("Where is the automobile?", agent="anna")
        embedder.texts.clear()
        by_words = rec.context_for("Where is the car?", agent="anna", quick=True)
        nothing = rec.context_for("Where is the automobile?", agent="anna", quick=True)
        notes = logged(rec, by_words).notes

    assert embedder.texts == []
    for bundle in (by_meaning, by_words):
        assert "The car is a green Fiat." in bundle.text
        assert "My car is in the garage." in bundle.text
    assert "I am Anna." in nothing.text
    assert "garage" not in nothing.text
    assert "meaning was not compared: a quick answer was asked for" in notes

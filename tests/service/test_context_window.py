"""What fills a window: the sections add up, each counts what it should, and it warns in time."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversation_messages import append_anthropic_call, append_messages, append_openai_call
from recollect import InvalidInput, LocalRecollect, NotFound
from recollect.domain.context_bundle import WindowOverview
from support import FakeClock
from tables import each_row

SECTIONS = ("system", "blocks", "metadata", "summary", "messages", "tools", "files")
TOOL = {"name": "look", "description": "Looks at a lamp.", "parameters": {"type": "object"}}


def sections(overview: WindowOverview) -> dict[str, int]:
    return {name: getattr(overview, name) for name in SECTIONS}


def test_the_sections_add_up_and_the_rest_is_free(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.agents.create("coder", system_prompt="Be brief.")
    rec.blocks.set("coder", "persona", "I write tests first.")
    talk = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 30)
    rec.conversations.compact(talk, mode="all", keep_last=10, force=True)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    rec.files.open("coder", ["a.txt"], roots=[tmp_path])

    overview = rec.agents.context_window("coder", conversation=talk, tools=[TOOL])

    assert all(tokens > 0 for tokens in sections(overview).values()), sections(overview)
    assert overview.used == sum(sections(overview).values())
    assert overview.free == overview.window_tokens - overview.used
    assert overview.warning == ""


def test_each_section_counts_what_it_should(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.agents.create("coder", system_prompt="Be brief, and answer in German.")
    talk = rec.conversations.start(agent="coder")
    append_messages(rec, talk, 30)
    done = rec.conversations.compact(talk, mode="all", keep_last=10, force=True)
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    rec.files.open("coder", [{"path": "a.txt", "offset": 1, "length": 2}], roots=[tmp_path])

    overview = rec.agents.context_window("coder", conversation=talk)

    assert done is not None
    assert overview.system == rec.models.count_tokens("Be brief, and answer in German.")
    assert overview.summary == done.summary.tokens
    assert overview.messages == sum(
        message.tokens for message in rec.conversations.messages_in_context(talk)
    )
    assert overview.files == rec.models.count_tokens("two\nthree\n")
    assert overview.tools == 0


def test_without_a_conversation_nothing_was_said(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    append_messages(rec, rec.conversations.start(agent="coder"), 10)
    overview = rec.agents.context_window("coder")

    assert (overview.messages, overview.summary) == (0, 0)
    assert overview.blocks > 0


def test_a_bare_agent_fills_almost_nothing(rec: LocalRecollect) -> None:
    rec.agents.create("bare", default_blocks=False)
    overview = rec.agents.context_window("bare")

    assert overview.used == overview.metadata
    assert overview.free == overview.window_tokens - overview.metadata


def test_hidden_blocks_take_no_room_and_those_of_the_project_and_talk_do(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("coder", default_blocks=False)
    rec.blocks.create("secret", "word " * 500, agent="coder", hidden=True)
    hidden = rec.agents.context_window("coder").blocks
    rec.blocks.create("rules", "word " * 500, scope="project", project="site")
    talk = rec.conversations.start(agent="coder", project="site")
    rec.blocks.create("ticket", "word " * 500, scope="session", conversation=talk)

    assert hidden == 0
    assert rec.agents.context_window("coder", project="site").blocks > 500
    assert rec.agents.context_window("coder", project="other").blocks == 0
    assert rec.agents.context_window("coder", conversation=talk).blocks > 1_000


@pytest.mark.parametrize(("warn_at", "warned"), [(0.0, True), (0.01, True), (1, False)])
def test_it_warns_above_the_bar(rec: LocalRecollect, warn_at: float, warned: bool) -> None:
    rec.agents.create("coder", system_prompt="word " * 200)
    overview = rec.agents.context_window("coder", window_tokens=2_000, warn_at=warn_at)

    assert bool(overview.warning) is warned


def test_at_the_bar_it_does_not_warn_and_above_it_does(rec: LocalRecollect) -> None:
    rec.agents.create("coder", default_blocks=False, system_prompt="word " * 400)
    used = rec.agents.context_window("coder").used
    at_it = rec.agents.context_window("coder", window_tokens=2 * used, warn_at=0.5)
    above = rec.agents.context_window("coder", window_tokens=2 * used - 1, warn_at=0.5)

    assert at_it.warning == ""
    assert "50% of the window is used" in above.warning


def test_a_window_that_overflows_has_less_than_nothing_free(rec: LocalRecollect) -> None:
    rec.agents.create("coder", system_prompt="word " * 1_000)
    overview = rec.agents.context_window("coder", window_tokens=200)

    assert overview.free < 0
    assert overview.used == 200 - overview.free
    assert "of the window is used" in overview.warning


@pytest.mark.parametrize(
    ("model", "counted_by"),
    [("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base"), ("", "o200k_base")],
)
def test_tokens_are_those_of_the_agents_model(
    rec: LocalRecollect, model: str, counted_by: str
) -> None:
    prompt = "Grüße aus Köln: 語 語 語!"
    rec.agents.create("coder", default_blocks=False, model=model, system_prompt=prompt)
    overview = rec.agents.context_window("coder")

    assert overview.counted_by == counted_by
    assert overview.system == rec.models.count_tokens(prompt, model=model)


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4", "llama3:8b", "no such model", "🤖", "x" * 200, "../../etc"]
)
def test_a_model_nobody_knows_is_estimated_rather_too_high(rec: LocalRecollect, model: str) -> None:
    rec.agents.create("coder", model=model, system_prompt="Be brief, please. " * 20)
    overview = rec.agents.context_window("coder")

    assert overview.counted_by
    assert overview.system >= rec.models.count_tokens("Be brief, please. " * 20, model="gpt-4o")


def test_the_window_is_the_one_given_then_the_agents_then_a_default(rec: LocalRecollect) -> None:
    rec.agents.create("coder", metadata={"context_window": 8_000})
    rec.agents.create("other")
    rec.agents.create("odd", metadata={"context_window": "large"})

    assert rec.agents.context_window("coder").window_tokens == 8_000
    assert rec.agents.context_window("coder", window_tokens=500).window_tokens == 500
    assert rec.agents.context_window("other").window_tokens == 32_000
    assert rec.agents.context_window("odd").window_tokens == 32_000


def test_the_window_of_an_agent_that_says_none_is_that_of_its_model(rec: LocalRecollect) -> None:
    rec.agents.create("known", model="claude-sonnet-4-5")
    rec.agents.create("own", model="claude-sonnet-4-5", metadata={"context_window": 64_000})
    rec.agents.create("unknown", model="our-own-model")

    assert rec.agents.context_window("known").window_tokens == 200_000
    assert rec.agents.context_window("own").window_tokens == 64_000
    assert rec.agents.context_window("unknown").window_tokens == 32_000


def test_the_window_in_an_agent_file_counts_while_the_agent_runs_on_its_model(
    rec: LocalRecollect,
) -> None:
    file = Path(__file__).parent.parent / "data" / "agent_files" / "conversation.af"
    agent = rec.agents.import_(file).agent

    assert agent.model == "gpt-4o-mini"
    assert rec.agents.context_window(agent).window_tokens == 32_000

    rec.agents.update(agent, model="gpt-4.1")
    assert rec.agents.context_window(agent).window_tokens == 1_047_576


@pytest.mark.parametrize("size", [True, 100, 10**12])
def test_a_window_in_the_metadata_that_makes_no_sense_is_passed_over(
    rec: LocalRecollect, size: Any
) -> None:
    rec.agents.create("odd", metadata={"context_window": size})

    assert rec.agents.context_window("odd").window_tokens == 32_000


@pytest.mark.parametrize("tools", [[], (), [TOOL], [TOOL, TOOL], ["text"], [None], [[[]]]])
def test_any_list_of_tools_is_counted(rec: LocalRecollect, tools: Any) -> None:
    rec.agents.create("coder")
    overview = rec.agents.context_window("coder", tools=tools)

    assert (overview.tools > 0) is bool(tools)


@pytest.mark.parametrize("tools", [[object()], [float("nan")], [{1, 2}]])
def test_tools_json_does_not_know_are_refused(rec: LocalRecollect, tools: Any) -> None:
    rec.agents.create("coder")

    with pytest.raises(InvalidInput, match="tools"):
        rec.agents.context_window("coder", tools=tools)


def test_who_or_what_does_not_exist_is_not_found(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    rec.agents.create("other")
    talk = rec.conversations.start(agent="other")

    with pytest.raises(NotFound, match="no agent"):
        rec.agents.context_window("nobody")
    with pytest.raises(NotFound, match="no conversation"):
        rec.agents.context_window("coder", conversation="nope")
    with pytest.raises(InvalidInput, match="is not one of agent"):
        rec.agents.context_window("coder", conversation=talk)


@pytest.mark.parametrize("warn_at", [-0.1, 1.1, float("nan"), "much", True])
def test_a_bar_that_is_no_share_is_refused(rec: LocalRecollect, warn_at: Any) -> None:
    rec.agents.create("coder")

    with pytest.raises(InvalidInput, match="warn_at"):
        rec.agents.context_window("coder", warn_at=warn_at)


def test_the_parts_of_a_tool_call_are_counted_in_openais_form(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    talk = rec.conversations.start(agent="coder")
    append_openai_call(rec, talk, "c1", "a line of output\n" * 2_000)

    assert rec.agents.context_window("coder", conversation=talk).messages > 8_000


def test_the_parts_of_a_tool_call_are_counted_in_anthropics_form(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    talk = rec.conversations.start(agent="coder")
    append_anthropic_call(rec, talk, "c1", "a line of output\n" * 2_000)

    assert rec.agents.context_window("coder", conversation=talk).messages > 8_000


def test_open_files_are_counted_as_they_are_shown(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.agents.create("coder")
    (tmp_path / "log.txt").write_text("one\n")
    rec.files.open("coder", ["log.txt"], roots=[tmp_path])
    (tmp_path / "log.txt").write_text("one line of many\n" * 3_000)
    [shown] = rec.files.list_open("coder")

    assert rec.agents.context_window("coder").files == rec.models.count_tokens(shown.text)


def test_looking_changes_nothing(rec: LocalRecollect, clock: FakeClock) -> None:
    rec.agents.create("coder")
    before = rec.agents.context_window("coder")
    issued = clock.issued

    assert rec.agents.context_window("coder") == before
    assert clock.issued == issued


# Counting


@each_row("model", ["", "gpt-4o", "gpt-4", "claude-sonnet-4", "nobody"])
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=st.text(max_size=400))
def test_any_text_has_a_number_of_tokens(rec: LocalRecollect, model: str, text: str) -> None:
    count = rec.models.count_tokens(text, model=model)

    assert 0 <= count <= 4 * len(text.encode("utf-8", "replace")) + 4
    assert (count == 0) is (text == "")
    assert rec.models.count_tokens(text, model=model) == count


def test_known_counts(rec: LocalRecollect) -> None:
    assert rec.models.count_tokens("hello world", model="gpt-4o") == 2
    assert rec.models.count_tokens("") == 0
    assert rec.models.count_tokens("\ud800\udfff", model="gpt-4o") > 0
    assert rec.models.count_tokens("word " * 10_000, model="gpt-4o") >= 10_000


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a"]])
def test_what_is_no_text_is_refused(rec: LocalRecollect, text: Any) -> None:
    with pytest.raises(InvalidInput):
        rec.models.count_tokens(text)

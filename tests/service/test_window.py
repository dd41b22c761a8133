"""What fills a window: the sections add up, each counts what it should, and it warns in time."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exchanges import anthropic_call, openai_call, said
from recollect import InvalidInput, NotFound, Recollect
from recollect.domain.context import WindowOverview
from support import FakeClock

SECTIONS = ("system", "blocks", "metadata", "summary", "messages", "tools", "files")
TOOL = {"name": "look", "description": "Looks at a lamp.", "parameters": {"type": "object"}}


def sections(found: WindowOverview) -> dict[str, int]:
    return {name: getattr(found, name) for name in SECTIONS}


def test_the_sections_add_up_and_the_rest_is_free(memory: Recollect, tmp_path: Path) -> None:
    memory.create_agent("coder", system_prompt="Be brief.")
    memory.set_block("coder", "persona", "I write tests first.")
    talk = memory.start_conversation(agent="coder")
    said(memory, talk, 30)
    memory.compact(talk, mode="all", keep_last=10, force=True)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    memory.open_files("coder", ["a.txt"], roots=[tmp_path])

    found = memory.context_window("coder", conversation=talk, tools=[TOOL])

    assert all(tokens > 0 for tokens in sections(found).values()), sections(found)
    assert found.used == sum(sections(found).values())
    assert found.free == found.window_tokens - found.used
    assert found.warning == ""


def test_each_section_counts_what_it_should(memory: Recollect, tmp_path: Path) -> None:
    memory.create_agent("coder", system_prompt="Be brief, and answer in German.")
    talk = memory.start_conversation(agent="coder")
    said(memory, talk, 30)
    done = memory.compact(talk, mode="all", keep_last=10, force=True)
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    memory.open_files("coder", [{"path": "a.txt", "offset": 1, "length": 2}], roots=[tmp_path])

    found = memory.context_window("coder", conversation=talk)

    assert done is not None
    assert found.system == memory.count_tokens("Be brief, and answer in German.")
    assert found.summary == done.summary.tokens
    assert found.messages == sum(one.tokens for one in memory.messages_in_context(talk))
    assert found.files == memory.count_tokens("two\nthree\n")
    assert found.tools == 0


def test_without_a_conversation_nothing_was_said(memory: Recollect) -> None:
    memory.create_agent("coder")
    said(memory, memory.start_conversation(agent="coder"), 10)
    found = memory.context_window("coder")

    assert (found.messages, found.summary) == (0, 0)
    assert found.blocks > 0


def test_a_bare_agent_fills_almost_nothing(memory: Recollect) -> None:
    memory.create_agent("bare", default_blocks=False)
    found = memory.context_window("bare")

    assert found.used == found.metadata
    assert found.free == found.window_tokens - found.metadata


def test_hidden_blocks_take_no_room_and_those_of_the_project_and_talk_do(
    memory: Recollect,
) -> None:
    memory.create_agent("coder", default_blocks=False)
    memory.create_block("secret", "word " * 500, agent="coder", hidden=True)
    hidden = memory.context_window("coder").blocks
    memory.create_block("rules", "word " * 500, scope="project", project="site")
    talk = memory.start_conversation(agent="coder", project="site")
    memory.create_block("ticket", "word " * 500, scope="session", conversation=talk)

    assert hidden == 0
    assert memory.context_window("coder", project="site").blocks > 500
    assert memory.context_window("coder", project="other").blocks == 0
    assert memory.context_window("coder", conversation=talk).blocks > 1_000


@pytest.mark.parametrize(("warn_at", "warned"), [(0.0, True), (0.01, True), (1, False)])
def test_it_warns_above_the_bar(memory: Recollect, warn_at: float, warned: bool) -> None:
    memory.create_agent("coder", system_prompt="word " * 200)
    found = memory.context_window("coder", window_tokens=2_000, warn_at=warn_at)

    assert bool(found.warning) is warned


def test_at_the_bar_it_does_not_warn_and_above_it_does(memory: Recollect) -> None:
    memory.create_agent("coder", default_blocks=False, system_prompt="word " * 400)
    used = memory.context_window("coder").used
    at_it = memory.context_window("coder", window_tokens=2 * used, warn_at=0.5)
    above = memory.context_window("coder", window_tokens=2 * used - 1, warn_at=0.5)

    assert at_it.warning == ""
    assert "50% of the window is used" in above.warning


def test_a_window_that_overflows_has_less_than_nothing_free(memory: Recollect) -> None:
    memory.create_agent("coder", system_prompt="word " * 1_000)
    found = memory.context_window("coder", window_tokens=200)

    assert found.free < 0
    assert found.used == 200 - found.free
    assert "of the window is used" in found.warning


@pytest.mark.parametrize(
    ("model", "counted_by"),
    [("gpt-4o", "o200k_base"), ("gpt-4", "cl100k_base"), ("", "o200k_base")],
)
def test_tokens_are_those_of_the_agents_model(
    memory: Recollect, model: str, counted_by: str
) -> None:
    prompt = "Grüße aus Köln: 語 語 語!"
    memory.create_agent("coder", default_blocks=False, model=model, system_prompt=prompt)
    found = memory.context_window("coder")

    assert found.counted_by == counted_by
    assert found.system == memory.count_tokens(prompt, model=model)


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4", "llama3:8b", "no such model", "🤖", "x" * 200, "../../etc"]
)
def test_a_model_nobody_knows_is_estimated_rather_too_high(memory: Recollect, model: str) -> None:
    memory.create_agent("coder", model=model, system_prompt="Be brief, please. " * 20)
    found = memory.context_window("coder")

    assert found.counted_by
    assert found.system >= memory.count_tokens("Be brief, please. " * 20, model="gpt-4o")


def test_the_window_is_the_one_given_then_the_agents_then_a_default(memory: Recollect) -> None:
    memory.create_agent("coder", metadata={"context_window": 8_000})
    memory.create_agent("other")
    memory.create_agent("odd", metadata={"context_window": "large"})

    assert memory.context_window("coder").window_tokens == 8_000
    assert memory.context_window("coder", window_tokens=500).window_tokens == 500
    assert memory.context_window("other").window_tokens == 32_000
    assert memory.context_window("odd").window_tokens == 32_000


@pytest.mark.parametrize("told", [True, 100, 10**12])
def test_a_window_in_the_metadata_that_makes_no_sense_is_passed_over(
    memory: Recollect, told: Any
) -> None:
    memory.create_agent("odd", metadata={"context_window": told})

    assert memory.context_window("odd").window_tokens == 32_000


@pytest.mark.parametrize("tools", [[], (), [TOOL], [TOOL, TOOL], ["text"], [None], [[[]]]])
def test_any_list_of_tools_is_counted(memory: Recollect, tools: Any) -> None:
    memory.create_agent("coder")
    found = memory.context_window("coder", tools=tools)

    assert (found.tools > 0) is bool(tools)


@pytest.mark.parametrize("tools", [[object()], [float("nan")], [{1, 2}]])
def test_tools_json_does_not_know_are_refused(memory: Recollect, tools: Any) -> None:
    memory.create_agent("coder")

    with pytest.raises(InvalidInput, match="tools"):
        memory.context_window("coder", tools=tools)


def test_who_or_what_does_not_exist_is_not_found(memory: Recollect) -> None:
    memory.create_agent("coder")
    memory.create_agent("other")
    talk = memory.start_conversation(agent="other")

    with pytest.raises(NotFound, match="no agent"):
        memory.context_window("nobody")
    with pytest.raises(NotFound, match="no conversation"):
        memory.context_window("coder", conversation="nope")
    with pytest.raises(InvalidInput, match="is not one of agent"):
        memory.context_window("coder", conversation=talk)


@pytest.mark.parametrize("warn_at", [-0.1, 1.1, float("nan"), "much", True])
def test_a_bar_that_is_no_share_is_refused(memory: Recollect, warn_at: Any) -> None:
    memory.create_agent("coder")

    with pytest.raises(InvalidInput, match="warn_at"):
        memory.context_window("coder", warn_at=warn_at)


def test_the_parts_of_a_tool_call_are_counted_in_openais_form(memory: Recollect) -> None:
    memory.create_agent("coder")
    talk = memory.start_conversation(agent="coder")
    openai_call(memory, talk, "c1", "a line of output\n" * 2_000)

    assert memory.context_window("coder", conversation=talk).messages > 8_000


def test_the_parts_of_a_tool_call_are_counted_in_anthropics_form(memory: Recollect) -> None:
    memory.create_agent("coder")
    talk = memory.start_conversation(agent="coder")
    anthropic_call(memory, talk, "c1", "a line of output\n" * 2_000)

    assert memory.context_window("coder", conversation=talk).messages > 8_000


def test_open_files_are_counted_as_they_are_shown(memory: Recollect, tmp_path: Path) -> None:
    memory.create_agent("coder")
    (tmp_path / "log.txt").write_text("one\n")
    memory.open_files("coder", ["log.txt"], roots=[tmp_path])
    (tmp_path / "log.txt").write_text("one line of many\n" * 3_000)
    [shown] = memory.opened_files("coder")

    assert memory.context_window("coder").files == memory.count_tokens(shown.text)


def test_looking_changes_nothing(memory: Recollect, clock: FakeClock) -> None:
    memory.create_agent("coder")
    before = memory.context_window("coder")
    issued = clock.issued

    assert memory.context_window("coder") == before
    assert clock.issued == issued


# Counting


@pytest.mark.parametrize("model", ["", "gpt-4o", "gpt-4", "claude-sonnet-4", "nobody"])
@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=st.text(max_size=400))
def test_any_text_has_a_number_of_tokens(memory: Recollect, model: str, text: str) -> None:
    count = memory.count_tokens(text, model=model)

    assert 0 <= count <= 4 * len(text.encode("utf-8", "replace")) + 4
    assert (count == 0) is (text == "")
    assert memory.count_tokens(text, model=model) == count


def test_known_counts(memory: Recollect) -> None:
    assert memory.count_tokens("hello world", model="gpt-4o") == 2
    assert memory.count_tokens("") == 0
    assert memory.count_tokens("\ud800\udfff", model="gpt-4o") > 0
    assert memory.count_tokens("word " * 10_000, model="gpt-4o") >= 10_000


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a"]])
def test_what_is_no_text_is_refused(memory: Recollect, text: Any) -> None:
    with pytest.raises(InvalidInput):
        memory.count_tokens(text)

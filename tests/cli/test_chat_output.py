"""What the terminal chat prints, without a terminal: blocks of Markdown, the bar, costs, help."""

import sys

import click
import pytest

from recollect.cli import chat
from recollect.cli.terminal_chat.command_help import COMMAND_HELP
from recollect.cli.terminal_chat.markdown_stream import split_blocks
from recollect.cli.terminal_chat.slash_commands import COMMANDS, window_lines
from recollect.cli.terminal_chat.turn_view import citation_lines, cost_text
from recollect.domain.agent_run import RunResult, StopReason
from recollect.domain.context_bundle import Citation, WindowOverview


def test_only_finished_blocks_are_printed_for_good() -> None:
    table = {
        "One": ("", "One"),
        "One\n\nTwo": ("One\n\n", "Two"),
        "One\n\nTwo\n\n": ("One\n\nTwo\n\n", ""),
        "```\na\n\nb": ("", "```\na\n\nb"),
        "A\n\n~~~\nx\n\n```\n\ny\n~~~\n\nB": ("A\n\n~~~\nx\n\n```\n\ny\n~~~\n\n", "B"),
    }

    assert {text: split_blocks(text) for text in table} == table


def test_an_answer_in_any_parts_has_the_same_blocks() -> None:
    text = "# T\n\nOne\ntwo\n\n```\na\n\nb\n```\n\n- x\n- y\n\nend"
    printed, rest = "", ""
    for char in text:
        done, rest = split_blocks(rest + char)
        printed += done

    assert printed + rest == text
    assert (printed, rest) == split_blocks(text)


def test_every_command_has_help_and_every_help_a_command() -> None:
    assert {*COMMANDS, "/quit"} == {*COMMAND_HELP}


def test_the_bar_shows_a_full_window_as_full() -> None:
    window = WindowOverview(window_tokens=100, counted_by="estimate", blocks=150, warning="full")
    bar, blocks, warning = window_lines(window)

    assert "░" not in bar
    assert "150" in blocks
    assert "full" in warning


def test_costs_have_the_digits_they_need() -> None:
    costs = {0.0: "$0.0000", 0.00001: "<$0.0001", 0.0123: "$0.0123", 1.239: "$1.24"}

    assert {cost: cost_text(cost) for cost in costs} == costs


def test_only_cited_memories_are_listed_with_their_quotes() -> None:
    citations = (Citation("m1", "a", "Thursdays.", "s"), Citation("m11", "b", "Fridays.", "s"))
    result = RunResult(
        run_id="r",
        conversation_id="c",
        stop_reason=StopReason.END_TURN,
        text="On Thursdays [m1].",
        citations=citations,
    )
    [line] = citation_lines(result)

    assert "Thursdays." in line


def test_a_missing_extra_is_named_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("chat_loop", "line_input"):
        monkeypatch.delitem(sys.modules, f"recollect.cli.terminal_chat.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)

    with pytest.raises(click.ClickException, match=r"pip install '\.\[chat\]'"):
        chat._run_chat(lambda: pytest.fail("the store was opened"), {})

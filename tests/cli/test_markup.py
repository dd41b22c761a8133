"""Markup becomes colours, stored text never does, and progress is for terminals only."""

import io

import pytest

from recollect.cli.markup import to_terminal
from recollect.cli.output import print_text, safe
from recollect.cli.progress import ProgressLine, progress_line, show_status
from tables import each_row


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@each_row(
    ("markup", "printed"),
    [
        ("plain", "plain"),
        ("[bold]a[/bold] b", "\x1b[1ma\x1b[0m b"),
        ("[bold cyan]a[/bold cyan]", "\x1b[1m\x1b[36ma\x1b[0m"),
        ("[dim]a [red]b[/red] c[/dim]", "\x1b[2ma \x1b[31mb\x1b[0m\x1b[2m c\x1b[0m"),
        ("[yes] [0] [] [/x]", "[yes] [0] [] [/x]"),
    ],
    ids=["plain", "bold", "two styles", "nested", "no tag"],
)
def test_tags_become_escape_sequences(markup: str, printed: str) -> None:
    assert to_terminal(markup) == printed


@each_row("text", ["[bold]x[/bold]", "[/dim]", r"\[red]", "[[bold]]", "a[0]"])
def test_stored_text_is_printed_as_it_is(text: str) -> None:
    assert to_terminal(f"[dim]{safe(text)}[/dim]") == f"\x1b[2m{text}\x1b[0m"


def test_the_escape_of_a_bracket_in_stored_text_is_not_a_bracket() -> None:
    assert to_terminal(safe("\x02bold]")) == "�bold]"


def test_a_pipe_gets_no_colours(capsys: pytest.CaptureFixture[str]) -> None:
    print_text(["[bold]a[/bold]", "[red]b[/red]"])

    assert capsys.readouterr().out == "a\nb\n"


@pytest.mark.parametrize(
    ("variable", "value", "coloured"),
    [("FORCE_COLOR", "1", True), ("NO_COLOR", "1", False), ("TERM", "dumb", False)],
)
def test_variables_switch_colours_on_and_off(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    coloured: bool,
) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)

    print_text("[bold]a[/bold]")

    assert ("\x1b[1m" in capsys.readouterr().out) is coloured


def test_progress_is_drawn_over_itself_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = FakeTerminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("recollect.cli.progress.REDRAW_S", 0.0)

    with progress_line("Embedding …") as progress:
        progress.update(1, 4, "items")

    drawn = terminal.getvalue().split("\r\x1b[2K")
    assert "1/4 items" in drawn[2]
    assert drawn[2].count("━") == 7
    assert drawn[-1] == ""


def test_a_pipe_gets_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with show_status("Verifying …"), progress_line("Embedding …") as progress:
        progress.update(1, 2)

    assert not ProgressLine("").is_shown
    assert capsys.readouterr().err == ""

"""Commands about tokens: count a text, see what fills a window."""

from pathlib import Path

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import store_options
from recollect.cli.render import print_json, say, standard_input
from recollect.text.token_counter import counter_for


@click.command()
@click.argument("text")
@click.option("--model", default="", help="Whose tokens: gpt-4o, claude-sonnet-4, …")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def tokens(text: str, model: str, as_json: bool) -> None:
    """
    Count the tokens of TEXT ('-' reads standard input, @FILE a file).

    \b
    Example:
      recollect tokens "How long is a piece of string?" --model gpt-4o
    """
    if text == "-":
        text = standard_input()
    elif text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError) as error:
            raise click.UsageError(f"cannot read {text[1:]!r}: {error}") from error
    counter = counter_for(model)
    count = counter.count(text)
    if as_json:
        print_json({"tokens": count, "counted_by": counter.name, "exact": counter.exact})
    else:
        say(f"{count} tokens [dim]({counter.name})[/dim]")


@click.command()
@click.option("--agent", required=True, help="Whose window.")
@click.option("--project", help="In this project.")
@click.option("--conversation", help="In this conversation, by id.")
@click.option("--window", "window_tokens", type=int, help="The model's window, in tokens.")
@store_options
def window(
    memory: LocalRecollect,
    *,
    as_json: bool,
    agent: str,
    project: str | None,
    conversation: str | None,
    window_tokens: int | None,
) -> None:
    """
    Show what fills an agent's context window, section by section.

    \b
    Example:
      recollect window --agent coder --window 8000
    """
    found = memory.agents.context_window(
        agent, project=project, conversation=conversation, window_tokens=window_tokens
    )
    if as_json:
        print_json({"used": found.used, "free": found.free, "overview": found})
        return
    for name in ("system", "blocks", "metadata", "summary", "messages", "tools", "files"):
        say(f"{name:>10} {getattr(found, name):>8,}")
    say(f"{'free':>10} {found.free:>8,} [dim]of {found.window_tokens:,} ({found.counted_by})[/dim]")
    if found.warning:
        say(f"[yellow]{found.warning}[/yellow]")

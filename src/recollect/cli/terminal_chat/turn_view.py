"""Show the events of a run: the answer as it arrives, tools, retries, usage and citations."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from recollect.cli.output import print_text, safe, shorten
from recollect.cli.terminal_chat.markdown_stream import MarkdownStream
from recollect.domain import agent_run as events
from recollect.domain.agent_run import RunResult, StopReason

_MARK = re.compile(r"\[(m\d{1,3})\]")
_QUIET = (StopReason.END_TURN, StopReason.TOOL_RULE, StopReason.REQUIRES_APPROVAL)
MAX_SHOWN_CHARS = 120


class TurnView:
    """Shows one turn on the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stream: MarkdownStream | None = None
        self._has_text = False
        self._is_thinking = False

    def show(self, event: events.RunEvent) -> None:
        """Show one event."""
        match event:
            case events.TextDelta(text=text):
                self._stream = self._stream or MarkdownStream(self._console)
                self._stream.feed(text)
                self._has_text = True
            case events.ReasoningDelta():
                if not self._is_thinking:
                    self._print("[dim]thinking…[/dim]")
                self._is_thinking = True
            case events.ModelRetried(reason=reason, wait_s=wait_s):
                if self._stream is not None:
                    self._stream.discard()
                self._print(f"[yellow]asking again in {wait_s:.0f} s: {safe(reason)}[/yellow]")
            case events.ContextCompacted(evicted=evicted):
                self._print(f"[dim]{evicted} older messages were replaced by a summary[/dim]")
            case events.ToolStarted(tool=tool, arguments=arguments):
                self._print(f"[cyan]{safe(tool)}[/cyan] [dim]{safe(_brief(arguments))}[/dim]")
            case events.ToolEnded(succeeded=succeeded, text=text):
                colour = "dim" if succeeded else "red"
                self._print(f"  [{colour}]{safe(shorten(text, MAX_SHOWN_CHARS))}[/{colour}]")
            case events.RunStarted(missing_tools=missing) if missing:
                names = safe(", ".join(missing))
                self._print(f"[yellow]tools that cannot run here: {names}[/yellow]")
            case events.RunEnded(result=result):
                self.finish()
                self._print_end(result)
            case _:
                pass

    def finish(self) -> None:
        """Print what is left of the answer."""
        if self._stream is not None:
            self._stream.finish()
            self._stream = None

    def _print(self, line: str) -> None:
        self.finish()
        print_text(line)

    def _print_end(self, result: RunResult) -> None:
        if not self._has_text and result.text and result.stop_reason in _QUIET:
            stream = MarkdownStream(self._console)  # an answer by the tool send_message
            stream.feed(result.text)
            stream.finish()
        print_text(citation_lines(result))
        if result.stop_reason is StopReason.CANCELLED:
            print_text("[yellow]stopped[/yellow]")
        elif result.stop_reason not in _QUIET:
            print_text(f"[red]{safe(result.stop_reason)}: {safe(result.error)}[/red]")
        print_text(f"[dim]{usage_text(result)}[/dim]")


def citation_lines(result: RunResult) -> Iterator[str]:
    """Yield the quotes of the memories that the answer cites."""
    cited = set(_MARK.findall(result.text))
    for citation in result.citations:
        if citation.mark in cited:
            quote = safe(shorten(citation.quote, MAX_SHOWN_CHARS))
            yield f"[dim]{citation.mark}[/dim] [green]“{quote}”[/green]"


def usage_text(result: RunResult) -> str:
    """Return what a run used: tokens, cost and memories."""
    usage = result.usage
    parts = [f"{usage.input_tokens:,} + {usage.output_tokens:,} tokens"]
    if usage.cost_usd is not None:
        parts.append(cost_text(usage.cost_usd))
    if result.citations:
        count = len(result.citations)
        parts.append(f"{count} {'memory' if count == 1 else 'memories'} in the prompt, /why")
    return " · ".join(parts)


def cost_text(cost_usd: float) -> str:
    """Return a cost with as many digits as it needs."""
    if 0 < cost_usd < 0.0001:
        return "<$0.0001"
    return f"${cost_usd:.2f}" if cost_usd >= 0.1 else f"${cost_usd:.4f}"


def _brief(arguments: Mapping[str, Any]) -> str:
    return shorten(json.dumps(dict(arguments), ensure_ascii=False), MAX_SHOWN_CHARS)

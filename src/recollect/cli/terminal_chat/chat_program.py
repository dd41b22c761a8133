"""
An open chat: it answers a message through `rec.agents.stream`, asks for approvals, and carries out
commands. Errors of Recollect are printed, and the chat goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from rich.console import Console

from recollect.cli.output import print_text, safe
from recollect.cli.terminal_chat.approval_prompt import BLOCK_EDITS, ask_decision
from recollect.cli.terminal_chat.chat_session import ChatSession, UndoStep, print_last_messages
from recollect.cli.terminal_chat.memory_answer import NO_MODEL, answer_lines, find_answer
from recollect.cli.terminal_chat.slash_commands import run_command
from recollect.cli.terminal_chat.turn_events import read_events
from recollect.cli.terminal_chat.turn_view import TurnView, cost_text
from recollect.domain.agent_run import Approval, RunEnded, RunEvent, RunResult, ToolEnded
from recollect.domain.block import Block
from recollect.errors import RecollectError


class ChatProgram:
    """Answers messages and carries out commands until the user leaves."""

    def __init__(self, session: ChatSession, close: Callable[[], None]) -> None:
        self._session = session
        self._close = close
        self._console = Console()
        self._has_explained = False

    def handle(self, text: str) -> bool:
        """Answer a message or carry out a command; return False to leave."""
        try:
            if text.startswith("/"):
                return run_command(self._session, text)
            self._answer(text)
        except RecollectError as error:
            print_text(f"[red]{safe(error)}[/red]")
        return True

    def toolbar(self) -> str:
        """Return the line under the prompt: who answers, and what it cost so far."""
        session = self._session
        parts = [session.agent.name, session.model_name]
        if session.tokens:
            parts.append(f"{session.tokens:,} tokens")
        if session.cost_usd is not None:
            parts.append(cost_text(session.cost_usd))
        return " · ".join([*parts, "/help"])

    def history(self) -> Iterable[str]:
        """Yield earlier messages of the user, newest first."""
        return self._session.typed_messages()

    def close(self) -> None:
        """End the conversation and close the store."""
        try:
            self._session.end_conversation()
        except RecollectError as error:  # the server is gone; the conversation stays open
            print_text(f"[yellow]{safe(error)}[/yellow]")
        finally:
            self._close()

    def show_earlier(self) -> None:
        """Print how a resumed conversation ended, and ask about calls that still wait."""
        print_last_messages(self._session)
        if self._session.conversation is not None:
            waiting = self._session.rec.agents.approvals(conversation=self._session.conversation)
            self._decide(waiting)

    def _answer(self, text: str) -> None:
        session = self._session
        if not session.has_model:
            print_text(answer_lines(session, text, find_answer(session, text)))
            if not self._has_explained:
                print_text(f"[dim]{NO_MODEL}[/dim]")
            self._has_explained = True
            return
        conversation = session.ensure_conversation()
        result = self._show(
            lambda: session.rec.agents.stream(
                session.agent, text, conversation=conversation, model=session.model
            )
        )
        if result is not None:
            self._decide(result.approvals)

    def _decide(self, approvals: Iterable[Approval]) -> None:
        """Ask about each call; the run continues with the last decision."""
        waiting = list(approvals)
        while waiting:
            approval = waiting.pop(0)
            decision = ask_decision(self._session.rec, approval)
            if decision is None:
                print_text("[dim]It waits; your next message denies it.[/dim]")
                return
            open_stream = partial(
                self._session.rec.agents.stream_decision,
                approval,
                decision.approve,
                reason=decision.reason,
                always=decision.always,
            )
            result = self._show(open_stream)
            if result is not None and not waiting:
                waiting = list(result.approvals)

    def _show(self, open_stream: Callable[[], Iterator[RunEvent]]) -> RunResult | None:
        """Show the events of a run; return its result, None if it was stopped before its end."""
        before = self._block_versions()
        session, view, result = self._session, TurnView(self._console), None
        conversation = session.ensure_conversation()
        edited = False
        try:
            for event in read_events(
                open_stream, cancel=lambda: session.rec.agents.cancel(conversation)
            ):
                view.show(event)
                edited = edited or (isinstance(event, ToolEnded) and event.tool in BLOCK_EDITS)
                if isinstance(event, RunEnded):
                    result = event.result
        finally:
            view.finish()
        if result is None:
            print_text("[yellow]stopped[/yellow]")
            return None
        session.count_usage(result)
        if edited:
            self._remember_edits(before)
        return result

    def _block_versions(self) -> dict[str, Block]:
        session = self._session
        blocks = session.rec.blocks.list(
            session.agent, project=session.project, conversation=session.conversation
        )
        return {block.id: block for block in blocks}

    def _remember_edits(self, before: Mapping[str, Block]) -> None:
        """Let `/undo` restore the blocks that the agent edited in this turn."""
        for block_id, block in self._block_versions().items():
            earlier = before.get(block_id)
            if earlier is not None and earlier.version != block.version:
                restore = partial(
                    self._session.rec.blocks.rollback,
                    None,
                    block.id,
                    earlier.version,
                    expected_version=block.version,
                )
                name = f"the agent's edit of block {block.label}"
                self._session.undo_steps.append(UndoStep(name, restore))

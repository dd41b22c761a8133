"""The `/` commands of the chat. Each is a function of the chat and of the text after its name."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import click

from recollect.api.conversation_titles import conversation_titles
from recollect.cli.inbox_review import review
from recollect.cli.memory_text import memory_lines
from recollect.cli.output import print_text, receipt_lines, safe, shorten
from recollect.cli.proposal_review import review_proposals
from recollect.cli.terminal_chat.chat_session import (
    ChatSession,
    UndoStep,
    open_file,
    print_last_messages,
)
from recollect.cli.terminal_chat.command_help import COMMAND_HELP, KEYS_HELP
from recollect.domain.context_bundle import WindowOverview
from recollect.domain.retrieval import MemoryExplanation
from recollect.errors import NotFound

BAR_CHARS = 40
LISTED_CONVERSATIONS = 10
ID_CHARS = 36
_SECTIONS = (
    ("system", "instructions"),
    ("blocks", "blocks"),
    ("metadata", "metadata"),
    ("summary", "summary"),
    ("messages", "messages"),
    ("tools", "tools"),
    ("files", "files"),
)


def run_command(session: ChatSession, text: str) -> bool:
    """Carry out a command; return False to leave the chat."""
    name, _, argument = text.strip().partition(" ")
    if name in ("/quit", "/exit"):
        return False
    command = COMMANDS.get(name)
    if command is None:
        print_text(f"[red]There is no command {safe(name)}; /help lists them.[/red]")
    else:
        command(session, argument.strip())
    return True


def show_help(_: ChatSession, __: str) -> None:
    """Print the commands and keys."""
    print_text(f"[bold]{name:<10}[/bold] {text}" for name, text in COMMAND_HELP.items())
    print_text(f"[dim]{KEYS_HELP}[/dim]")


def show_context(session: ChatSession, _: str) -> None:
    """Print how full the context window is, section by section."""
    window = session.rec.agents.context_window(
        session.agent, project=session.project, conversation=session.conversation
    )
    print_text(window_lines(window))


def window_lines(window: WindowOverview) -> Iterator[str]:
    """Yield a bar of the used share of a window, and the tokens of each section."""
    share = min(1.0, window.used / window.window_tokens)
    filled = round(share * BAR_CHARS)
    colour = "red" if share > 0.9 else "yellow" if share > 0.7 else "green"
    bar = f"[{colour}]{'█' * filled}[/{colour}][dim]{'░' * (BAR_CHARS - filled)}[/dim]"
    yield f"{bar} {window.used:,} of {window.window_tokens:,} tokens ({share:.0%})"
    for field, name in _SECTIONS:
        tokens = getattr(window, field)
        if tokens:
            yield f"  {name:<14} {tokens:>8,}"
    if window.warning:
        yield f"[yellow]{safe(window.warning)}[/yellow]"


def remember(session: ChatSession, text: str) -> None:
    """Store a memory."""
    if not text:
        print_text("What should be remembered? /remember TEXT")
        return
    memory = session.rec.ingest(text, project=session.project)
    print_text(memory_lines(memory))
    undo = partial(session.rec.memories.set_status, memory.id, "archived", reason="undone in chat")
    session.undo_steps.append(UndoStep(f"the memory “{shorten(memory.content, 60)}”", undo))


def forget(session: ChatSession, text: str) -> None:
    """Delete a memory everywhere, after asking. Undo cannot restore it."""
    if not text:
        print_text("Which memory? /forget ID or /forget WORDS")
        return
    if _is_id(text):
        memory = session.rec.memories.get(text)
    else:
        hits = session.rec.search(text, agent=session.agent, project=session.project, limit=1)
        if not hits:
            print_text("No memory matches these words.")
            return
        memory = hits[0].memory
    print_text(memory_lines(memory))
    if click.confirm("Delete it and its words everywhere? This cannot be undone"):
        receipt = session.rec.forget(memory.id)
        print_text(receipt_lines("Deleted", receipt.removed, receipt.kept, receipt.rewritten))


def show_inbox(session: ChatSession, _: str) -> None:
    """Review proposed edits of blocks, and candidates."""
    proposals = session.rec.blocks.proposals()
    candidates = session.rec.inbox.list(everywhere=True)
    if not proposals and not candidates:
        print_text("The inbox is empty.")
    elif review_proposals(session.rec, proposals) and candidates:
        review(session.rec, candidates)


def explain_answer(session: ChatSession, text: str) -> None:
    """Print the memories behind the last answer, or explain one memory."""
    if text:
        explained = session.rec.explain(text)
        if isinstance(explained, MemoryExplanation):
            print_text(safe(explained.text))
            return
        print_text(f"[dim]{safe(explained.query)}[/dim]")
        print_text(f"  {hit.score:.2f} {hit.memory_id}" for hit in explained.hits)
        return
    if session.hits:
        for number, hit in enumerate(session.hits, start=1):
            print_text(f"[bold]m{number}[/bold] {safe(hit.explanation)} [dim]{hit.memory.id}[/dim]")
        return
    citations = session.result.citations if session.result else ()
    if not citations:
        print_text("No memories were in the prompt of the last answer.")
    for citation in citations:
        try:
            memory = session.rec.memories.get(citation.memory_id)
        except NotFound:  # forgotten since
            continue
        print_text(f"[bold]{citation.mark}[/bold] {safe(memory.labelled_content)}")
        if citation.quote and citation.quote != memory.content:
            print_text(f"   [green]“{safe(citation.quote)}”[/green]")
        print_text(f"   [dim]{memory.observed_at:%Y-%m-%d} · {memory.id}[/dim]")


def show_blocks(session: ChatSession, text: str) -> None:
    """List blocks, print one, or edit one."""
    place = {"project": session.project, "conversation": session.conversation}
    label, _, action = text.partition(" ")
    if not label:
        for block in session.rec.blocks.list(session.agent, **place):  # type: ignore[arg-type]
            size = f"{len(block.value)} characters, version {block.version}"
            print_text(f"[bold]{safe(block.label)}[/bold] [dim]{size}[/dim]")
        return
    block = session.rec.blocks.get(session.agent, label, **place)  # type: ignore[arg-type]
    if action.strip() != "edit":
        print_text(safe(block.value) or "[dim](empty)[/dim]")
        return
    edited = click.edit(block.value, extension=".md")
    if edited is None or edited.rstrip("\n") == block.value:
        print_text("[dim]not changed[/dim]")
        return
    changed = session.rec.blocks.set(
        None, block.id, edited.rstrip("\n"), expected_version=block.version
    )
    print_text(f"block {safe(label)}: version {changed.version}")
    undo = partial(
        session.rec.blocks.rollback,
        None,
        block.id,
        block.version,
        expected_version=changed.version,
    )
    session.undo_steps.append(UndoStep(f"your edit of block {label}", undo))


def choose_model(session: ChatSession, text: str) -> None:
    """Print the model, or use another one of the same server in this chat."""
    if text and session.has_model:
        session.model = text
    status = session.status
    print_text(safe(session.model_name))
    if status.input_usd is not None and not session.model:
        print_text(
            f"[dim]${status.input_usd:g} and ${status.output_usd:g} per million tokens of input "
            "and output[/dim]"
        )


def compact(session: ChatSession, _: str) -> None:
    """Replace older messages by a summary."""
    compacted = None
    if session.conversation is not None:
        compacted = session.rec.conversations.compact(session.conversation, force=True)
    if compacted is None:
        print_text("There is nothing to compact yet.")
        return
    print_text(f"{compacted.evicted} messages were replaced by a summary, {compacted.kept} stay:")
    print_text(f"[dim]{safe(compacted.summary.content)}[/dim]")


def undo(session: ChatSession, _: str) -> None:
    """Take back the last change of memory made in this chat."""
    if not session.undo_steps:
        print_text("There is nothing to undo in this chat.")
        return
    step = session.undo_steps.pop()
    step.undo()
    print_text(f"[yellow]Undone: {safe(step.name)}[/yellow]")


def show_files(session: ChatSession, text: str) -> None:
    """List open files, open one, or close them."""
    action, _, path = text.partition(" ")
    if action == "close":
        paths = [str(Path(path).expanduser().absolute())] if path.strip() else None
        closed = session.rec.files.close(session.agent, paths)
        print_text(f"closed: {safe(', '.join(closed) or 'none')}")
    elif text:
        print_text(f"opened {safe(open_file(session, text))}")
    else:
        windows = session.rec.files.list_open(session.agent)
        if not windows:
            print_text("No file is open; /files PATH opens one.")
        for window in windows:
            lines = f"lines {window.first_line} to {window.last_line} of {window.total_lines}"
            print_text(f"{safe(window.path)} [dim]{lines}[/dim]")


def resume(session: ChatSession, text: str) -> None:
    """List earlier conversations, or continue one."""
    earlier = [
        conversation
        for conversation in session.rec.conversations.list(
            agent=session.agent, limit=LISTED_CONVERSATIONS + 1
        )
        if session.conversation is None or conversation.id != session.conversation.id
    ][:LISTED_CONVERSATIONS]
    if text.isdecimal() and 1 <= int(text) <= len(earlier):
        session.resume(earlier[int(text) - 1])
        print_last_messages(session)
    elif text:
        session.resume(session.rec.conversations.get(text))
        print_last_messages(session)
    elif not earlier:
        print_text("There is no earlier conversation.")
    listed = [] if text else earlier
    titles = conversation_titles(session.rec, listed)
    for number, conversation in enumerate(listed, start=1):
        print_text(
            f"[bold]{number}[/bold] {conversation.started_at:%Y-%m-%d %H:%M} "
            f"{safe(shorten(titles[conversation.id] or '(empty)', 80))}"
        )


def start_new(session: ChatSession, _: str) -> None:
    """End the conversation; the next message starts another."""
    session.end_conversation()
    session.result, session.hits = None, ()
    print_text("[dim]The next message starts another conversation.[/dim]")


COMMANDS: Mapping[str, Callable[[ChatSession, str], None]] = {
    "/help": show_help,
    "/context": show_context,
    "/remember": remember,
    "/forget": forget,
    "/inbox": show_inbox,
    "/why": explain_answer,
    "/block": show_blocks,
    "/model": choose_model,
    "/compact": compact,
    "/undo": undo,
    "/files": show_files,
    "/resume": resume,
    "/new": start_new,
}


def _is_id(text: str) -> bool:
    return len(text) == ID_CHARS and text.count("-") == 4

"""
The command `recollect`: its sections of commands, loaded one at a time.

Only the module of the command that runs is imported, so `recollect --version` starts in
milliseconds and the overview of commands loads none of them.
"""

import difflib
import sys
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper

import click
from click.shell_completion import CompletionItem

from recollect import __version__
from recollect.calling_client import COMMAND_LINE, use_client
from recollect.cli.examples import add_examples

# The overview: commands of one row share their line.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Remember and find": {
        "add, edit, forget": "Store a memory; correct it; delete it everywhere.",
        "search, context": "Find memories; print what an agent needs for a task.",
        "show, explain, why-not": "Print a memory; explain a result or a missing one.",
        "capture": "Extract memories from transcripts and notes.",
        "blame, fix, how": "Look up what captured sessions did.",
        "retrievals, views": "List what was asked lately; save searches.",
    },
    "Review": {
        "inbox, conflicts": "Review candidates; settle contradictions.",
        "promote, reject, undo": "Decide on candidates by id; undo a decision.",
        "confirm, link": "Confirm that a memory still holds; link two memories.",
    },
    "Agents": {
        "agent, block": "Manage agents, and the text always in their context.",
        "chat, conversation": "Talk to an agent; record and read conversations.",
        "archive, file": "Search an agent's archived passages, and files.",
        "skill": "Find skills and load them into agents.",
    },
    "Connect": {
        "setup": "Connect Claude Code, Codex, Cursor and other clients.",
        "open, serve, stop": "Open the pages in a browser; run the server.",
        "mcp, hook": "Answer an MCP client, or a hook of a coding agent.",
        "import, export, vault": "Read and write export files; import other histories.",
    },
    "Maintain": {
        "status, doctor, models": "Show what is stored; check it; choose the model.",
        "backup, restore": "Write and restore backups.",
        "sync, move": "Sync with other devices; move to or from PostgreSQL.",
        "encrypt, rekey, decrypt": "Encrypt the store, change its key, decrypt it.",
        "verify, rebuild, repair": "Check the store; rebuild indexes; rescue its rows.",
        "maintain, consolidate": "Find outdated memories and duplicates.",
        "work, jobs": "Run pending jobs; list and retry them.",
        "project, user, audit": "Link and share projects; manage users; who did what.",
    },
}
_NAMES_WIDTH = 24
# Commands that are not in the module of their name.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "memories": (
        "add",
        "context",
        "show",
        "explain",
        "why-not",
        "forget",
        "edit",
        "confirm",
        "link",
    ),
    "inbox": ("promote", "reject", "undo"),
    "serve": ("stop",),
    "conflicts": ("retrievals",),
    "actions": ("blame", "fix", "how"),
    "transfer": ("import", "export"),
    "maintenance": ("status", "doctor", "verify", "rebuild", "repair", "maintain", "consolidate"),
    "jobs": ("work",),
    "backup": ("restore",),
    "encryption": ("encrypt", "rekey", "decrypt"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
_SHORT_HELP = {
    name: text
    for rows in SECTIONS.values()
    for names, text in rows.items()
    for name in names.split(", ")
}
COMMANDS = {name: _MODULE_OF.get(name, name) for name in _SHORT_HELP}
# Other spellings, not shown in the overview: a command, or a command of a group.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "memory": ("block",),
    "skills": ("skill",),
    "files": ("file",),
    "window": ("agent", "window"),
    "tokens": ("agent", "tokens"),
}
_FOOTER = "`recollect COMMAND --help` shows its options (--db, --json, …) and examples."


class RecollectGroup(click.Group):
    """The commands of `COMMANDS` and `ALIASES`, each loaded when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, without aliases."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; suggest similar names if there is none of that name."""
        name, *sub_names = ALIASES.get(cmd_name, (cmd_name,))
        if name not in COMMANDS:
            if not ctx.resilient_parsing:
                similar = difflib.get_close_matches(name, [*COMMANDS, *ALIASES])
                hint = f"did you mean {' or '.join(similar)}?" if similar else "see --help"
                ctx.fail(f"there is no command {name!r}; {hint}")
            return None
        attribute = f"{name}_" if name in ("import", "open") else name.replace("-", "_")
        module = import_module(f"recollect.cli.{COMMANDS[name]}")
        command: click.Command = getattr(module, attribute)
        add_examples(command, name)
        for sub_name in sub_names:
            assert isinstance(command, click.Group)
            command = command.commands[sub_name]
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the overview of all commands on one screen."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        for title, rows in SECTIONS.items():
            formatter.write(f"\n{title}:\n")
            for names, text in rows.items():
                formatter.write(f"  {names:<{_NAMES_WIDTH}}{text}\n")
        formatter.write(f"\n{_FOOTER}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command without loading any."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=text)
            for name, text in _SHORT_HELP.items()
            if name.startswith(incomplete)
        ]


@click.group(cls=RecollectGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="recollect")
@click.option("--db", help="The database file, for every command after it.")
def main(db: str | None) -> None:
    """Local-first, evidence-backed memory for AI agents."""
    click.get_current_context().with_resource(use_client(COMMAND_LINE))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without the right character set gets question marks, not a traceback.
            stream.reconfigure(errors="replace")

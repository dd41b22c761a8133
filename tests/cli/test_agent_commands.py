"""Commands about agents, blocks and conversations: words, JSON, and one line when they fail."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from command_results import error_of, is_safe, json_of, output_of
from recollect.cli.main import main
from tables import each_row

pytestmark = pytest.mark.door

Run = Callable[..., Result]
HOSTILE = "evil \x1b]0;pwned\x07 \x9b31m\x08 text"


@pytest.fixture
def run(path: Path, tmp_path: Path) -> Run:
    """Run the command on a store of its own, without embeddings, in a home of its own."""

    def invoke(*args: str, stdin: str | bytes | None = None, **env: str) -> Result:
        settings = {
            "RECOLLECT_DB": str(path),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "HOME": str(tmp_path),
        }
        return CliRunner().invoke(main, list(args), input=stdin, env=settings | env)

    return invoke


@pytest.fixture
def coder(run: Run) -> str:
    """An agent, and a conversation it has."""
    output_of(run("agent", "create", "--name", "coder", "--model", "gpt-4o"))
    output_of(run("conversation", "start", "--agent", "coder", "--title", "Lamps"))
    return "coder"


# Agents


def test_an_agent_is_made_listed_shown_changed_pinned_and_deleted_in_words(run: Run) -> None:
    assert "no agents yet" in output_of(run("agent", "list"))
    made = output_of(run("agent", "create", "--name", "coder", "--description", "Writes code."))
    listed = output_of(run("agent", "list"))
    shown = output_of(run("agent", "info", "coder"))
    changed = output_of(run("agent", "update", "coder", "--model", "gpt-4o"))
    pinned = output_of(run("agent", "pin", "coder"))
    local = output_of(run("agent", "pin", "coder", "--local", "--project", "site"))
    off = output_of(run("agent", "pin", "coder", "--off"))
    deleted = output_of(run("agent", "delete", "coder", "--yes"))

    assert "Created agent coder with persona, human, skills, loaded_skills, style" in made
    assert listed.startswith("coder")
    assert "Writes code." in shown
    assert "persona agent" in shown
    assert "window: " in shown
    assert "model gpt-4o" in changed
    assert (pinned, local, off) == ("coder: global\n", "coder: local\n", "coder: not pinned\n")
    assert deleted.startswith("Deleted: ")
    assert "'human' is shared and stays" in deleted
    assert "no agents yet" in output_of(run("agent", "list"))


def test_the_same_as_json(run: Run) -> None:
    made = json_of(run("agent", "create", "--name", "coder", "--bare", "--json"))
    listed = json_of(run("agent", "list", "--json"))
    shown = json_of(run("agent", "info", made["id"], "--json"))
    changed = json_of(run("agent", "update", "coder", "--name", "writer", "--json"))
    pinned = json_of(run("agent", "pin", "writer", "--json"))
    receipt = json_of(run("agent", "delete", "writer", "--yes", "--json"))

    assert [one["name"] for one in listed] == ["coder"]
    assert shown["agent"]["id"] == changed["id"] == made["id"]
    assert shown["blocks"] == []
    assert (changed["name"], pinned["pinned"]) == ("writer", "global")
    assert receipt["removed"]["agents"] == 1
    assert json_of(run("agent", "list", "--json")) == []


def test_deleting_is_asked_for_and_no_is_no(run: Run, coder: str) -> None:
    declined = run("agent", "delete", coder, stdin="n\n")
    as_json = run("agent", "delete", coder, "--json", stdin="\n")

    assert declined.exit_code == as_json.exit_code == 1
    assert "Delete agent 'coder' with its blocks, conversations and archive? [y/N]" in (
        declined.output
    )
    assert as_json.stdout.strip() == ""
    assert output_of(run("agent", "list")).startswith("coder")
    assert "Deleted: " in output_of(run("agent", "delete", coder, stdin="y\n"))


# Blocks


def test_a_block_is_made_edited_compared_rolled_back_and_deleted_in_words(
    run: Run, coder: str
) -> None:
    named = ("--agent", coder, "--label", "goals")
    made = output_of(
        run("memory", "create", *named, "--value", "Ship it.", "--description", "Aims.")
    )
    output_of(run("memory", "update", *named, "--append", "Test it."))
    output_of(run("memory", "update", *named, "--replace", "Ship it.", "Hang lamps."))
    edited = output_of(run("memory", "update", *named, "--insert", "First:", "--line", "0"))
    shown = output_of(run("memory", "show", *named))
    compared = output_of(run("memory", "diff", *named, "--from", "1"))
    back = output_of(run("memory", "rollback", *named, "--to", "1", "--reason", "a mistake"))
    history = output_of(run("memory", "history", *named))
    limits = output_of(run("memory", "settings", *named, "--limit", "100", "--read-only"))
    deleted = output_of(run("memory", "delete", *named, "--yes"))

    assert made.startswith("Created block goals, agent: ")
    assert edited == "Block goals is at version 4.\n"
    assert "First:\nHang lamps.\nTest it." in shown
    assert "-Ship it." in compared
    assert "is at version 5, the text of version 1." in back
    assert "a mistake" in history
    assert "read-only" in limits
    assert "of 100 characters" in limits
    assert deleted == "Deleted block goals.\n"
    assert "goals" not in output_of(run("memory", "list", "--agent", coder))


def test_the_same_of_a_block_as_json(run: Run, coder: str) -> None:
    named = ("--agent", coder, "--label", "goals", "--json")
    made = json_of(run("memory", "create", *named, "--value", "Ship it."))
    edited = json_of(run("memory", "update", *named, "--content", "Test it.", "--reason", "why"))
    shown = json_of(run("memory", "show", made["id"], "--json"))
    compared = json_of(run("memory", "diff", *named, "--from", "1", "--to", "2"))
    back = json_of(run("memory", "rollback", *named, "--to", "1"))
    history = json_of(run("memory", "history", *named))
    limits = json_of(run("memory", "settings", *named, "--hidden"))
    listed = json_of(run("memory", "list", "--agent", coder, "--json"))
    deleted = json_of(run("memory", "delete", *named, "--yes"))

    assert (edited["version"], shown["value"], back["value"]) == (2, "Test it.", "Ship it.")
    assert "+Test it." in compared["diff"]
    assert [one["version"] for one in history] == [1, 2, 3]
    assert history[1]["reason"] == "why"
    assert limits["hidden"] is True
    assert "goals" in [one["label"] for one in listed]
    assert deleted["id"] == made["id"]


def test_a_block_of_everybody_is_shared_and_taken_away(run: Run, coder: str) -> None:
    output_of(run("agent", "create", "--name", "other", "--bare"))
    made = json_of(
        run("memory", "create", "--label", "rules", "--scope", "global", "--value", "x", "--json")
    )
    given = output_of(run("memory", "attach", made["id"], "--agent", "other"))
    seen = json_of(run("memory", "list", "--agent", "other", "--json"))
    taken = output_of(run("memory", "detach", "--agent", "other", "--label", "rules"))

    assert given == "Attached block rules to other.\n"
    assert [one["label"] for one in seen] == ["rules"]
    assert taken == "Detached block rules from other.\n"
    assert "There are no blocks here." in output_of(run("memory", "list", "--agent", "other"))
    assert json_of(run("memory", "attach", made["id"], "--agent", "other", "--json"))
    assert json_of(run("memory", "detach", "--agent", "other", "--label", "rules", "--json"))


def test_a_block_of_a_project_is_named_by_its_project(run: Run, coder: str) -> None:
    named = ("--label", "rules", "--project", "site")
    output_of(run("memory", "create", *named, "--scope", "project", "--value", "Be kind."))
    output_of(run("memory", "update", *named, "--append", "Be brief."))

    assert "Be kind.\nBe brief." in output_of(run("memory", "show", *named))
    assert "rules" not in output_of(run("memory", "list", "--agent", coder))
    assert "rules" in output_of(run("memory", "list", "--agent", coder, "--project", "site"))


def test_a_block_is_read_from_standard_input_whatever_its_bytes(run: Run, coder: str) -> None:
    named = ("--agent", coder, "--label", "persona")
    output_of(run("memory", "update", *named, "--content", "-", stdin=b"one\ntwo \xff\xfe\n"))
    output_of(
        run("memory", "create", "--agent", coder, "--label", "more", "--value", "-", stdin="in")
    )

    assert json_of(run("memory", "show", *named, "--json"))["value"] == "one\ntwo \ufffd\ufffd\n"
    assert "in\n" in output_of(run("memory", "show", "--agent", coder, "--label", "more"))


# Conversations


def test_a_conversation_goes_from_its_start_to_its_end_in_words(run: Run, coder: str) -> None:
    begun = output_of(run("conversation", "start", "--agent", coder, "--title", "Billing"))
    last = ("last", "--agent", coder)
    added = output_of(
        run("conversation", "append", *last, "user", "We use PostgreSQL for billing.")
    )
    piped = output_of(run("conversation", "append", *last, "assistant", "-", stdin="Noted.\n"))
    shown = output_of(run("conversation", "show", *last))
    paged = output_of(run("conversation", "show", *last, "-n", "1"))
    pinned = output_of(run("conversation", "pin", *last, "BILL-12", "--kind", "ticket"))
    nothing = output_of(run("conversation", "compact", *last))
    listed = output_of(run("conversation", "list", "--agent", coder))
    ended = output_of(run("conversation", "end", *last))
    deleted = output_of(run("conversation", "delete", *last, "--yes"))

    assert begun.startswith("Started: ")
    assert added.startswith("Message 0, ")
    assert piped.startswith("Message 1, ")
    assert "We use PostgreSQL for billing." in shown
    assert "more: --start 1" in paged
    assert pinned.startswith("Pinned: ")
    assert nothing.startswith("Nothing to compact")
    assert "Billing" in listed
    assert ended.startswith("Ended: ")
    assert "2 messages" in deleted
    assert "Billing" not in output_of(run("conversation", "list", "--agent", coder))


def test_the_same_of_a_conversation_as_json(run: Run, coder: str) -> None:
    begun = json_of(run("conversation", "start", "--agent", coder, "--json"))
    which = (begun["id"], "--json")
    rows = [{"role": ("user", "assistant")[n % 2], "content": f"Lamp {n}."} for n in range(20)]
    added = json_of(run("conversation", "append", *which, "user", "Begin."))
    imported = json_of(run("conversation", "import", *which, "-", stdin=json.dumps(rows)))
    shown = json_of(run("conversation", "show", *which, "--start", "18"))
    pinned = json_of(run("conversation", "pin", *which, "note this"))
    compacted = json_of(
        run("conversation", "compact", *which, "--mode", "all", "--keep-last", "0", "--force")
    )
    nothing = json_of(run("conversation", "compact", *which))
    listed = json_of(run("conversation", "list", "--agent", coder, "--json"))
    ended = json_of(run("conversation", "end", *which))
    removed = json_of(run("conversation", "delete", *which, "--yes"))["removed"]

    assert (added["position"], len(imported), len(shown)) == (0, 20, 3)
    assert pinned["content"] == "note this"
    assert compacted["evicted"] == 20
    assert compacted["summary"]["mode"] == "all"
    assert nothing is None
    assert begun["id"] in [one["id"] for one in listed]
    assert ended["ended_at"]
    assert removed["messages"] == 21


def test_compacting_prints_the_summary(run: Run, coder: str) -> None:
    last = ("last", "--agent", coder)
    output_of(run("conversation", "append", *last, "user", "I live in Porto."))
    rows = [{"role": "assistant", "content": f"Lamp {n}."} for n in range(20)]
    output_of(run("conversation", "import", *last, "-", stdin=json.dumps(rows)))
    output_of(run("conversation", "append", *last, "user", "Go on."))
    output = output_of(
        run("conversation", "compact", *last, "--mode", "all", "--keep-last", "0", "--force")
    )

    assert "21 messages replaced by a summary of " in output
    assert "Porto" in output
    assert "summarized" in output_of(run("conversation", "show", *last))


@each_row(
    ("stdin", "says"),
    [
        ("{", "the file is not valid JSON"),
        (b"\xff\xfe\x00", "the file is not valid JSON"),
        ("{}", "the file must hold a list of messages"),
        ("[1]", "each message a dict"),
        ('[{"content": "x"}]', "role"),
        ('[{"role": "robot", "content": "x"}]', "robot"),
        ('[{"role": "user", "content": ""}]', "empty"),
        ('[{"role": "user", "content": "x", "color": 1}]', "unknown: color"),
        ('[{"role": "user", "content": "kept?"}, {"role": "user"}]', "empty"),
    ],
)
def test_an_import_takes_all_or_none_and_says_why_not(
    run: Run, coder: str, stdin: str | bytes, says: str
) -> None:
    result = run("conversation", "import", "last", "-", "--agent", coder, stdin=stdin)
    code = (
        2 if says in ("the file is not valid JSON", "the file must hold a list of messages") else 1
    )

    assert says in error_of(result, code=code)
    assert json_of(run("conversation", "show", "last", "--agent", coder, "--json")) == []


def test_an_import_of_json_nested_too_deep_is_one_line(run: Run, coder: str) -> None:
    deep = "[" * 100_000
    result = run("conversation", "import", "last", "-", "--agent", coder, stdin=deep)

    error_of(result, code=2)


# The archive


def test_the_archive_keeps_and_finds(run: Run, coder: str) -> None:
    of = ("--agent", coder)
    kept = output_of(
        run("archive", "insert", "The staging server is walnut.", *of, "--tag", "infra")
    )
    piped = json_of(run("archive", "insert", "-", *of, "--json", stdin="From a pipe."))
    found = output_of(run("archive", "search", "staging server", *of))
    tagged = json_of(run("archive", "search", *of, "--tag", "infra", "--tag", "x", "--json"))
    both = json_of(
        run("archive", "search", *of, "--tag", "infra", "--tag", "x", "--all-tags", "--json")
    )

    assert "tags infra" in kept
    assert piped["content"] == "From a pipe."
    assert "1. The staging server is walnut." in found
    assert [hit["memory"]["tags"] for hit in tagged] == [["infra"]]
    assert both == []


# How they fail


NOBODY = [
    ("agent", "info", "nobody"),
    ("agent", "update", "nobody", "--model", "m"),
    ("agent", "pin", "nobody"),
    ("agent", "delete", "nobody", "--yes"),
    ("memory", "create", "--agent", "nobody", "--label", "x"),
    ("memory", "list", "--agent", "nobody"),
    ("memory", "show", "--agent", "nobody", "--label", "persona"),
    ("memory", "update", "--agent", "nobody", "--label", "persona", "--content", "x"),
    ("memory", "history", "--agent", "nobody", "--label", "persona"),
    ("memory", "delete", "--agent", "nobody", "--label", "persona", "--yes"),
    ("memory", "detach", "--agent", "nobody", "--label", "human"),
    ("archive", "insert", "x", "--agent", "nobody"),
    ("archive", "search", "x", "--agent", "nobody"),
    ("skills", "load", "--agent", "nobody", "--skill", "remember-well"),
    ("skills", "list", "--agent", "nobody"),
    ("skills", "refresh", "--agent", "nobody"),
    ("files", "list", "--agent", "nobody"),
    ("files", "close", "--agent", "nobody"),
    ("window", "--agent", "nobody"),
    ("search", "conversations", "--agent", "nobody"),
    ("search", "memory", "--agent", "nobody", "--query", "x"),
]


@each_row(("args", "form"), product(NOBODY, [(), ("--json",)]))
def test_an_agent_that_does_not_exist_is_one_line_that_says_what_to_try(
    run: Run, coder: str, args: tuple[str, ...], form: tuple[str, ...]
) -> None:
    line = error_of(run(*args, *form))

    assert "there is no agent 'nobody' in this store" in line
    assert "recollect agent list" in line
    assert [one["name"] for one in json_of(run("agent", "list", "--json"))] == ["coder"]


@each_row(
    ("args", "says"),
    [
        (("agent", "create", "--name", "coder"), "there is an agent named 'coder' already"),
        (("agent", "create", "--name", " "), "name is empty"),
        (("agent", "create", "--name", "a\nb"), "control characters"),
        (("agent", "pin", "coder", "--local"), "a local pin needs the project"),
        (("memory", "show", "nope"), "there is no block 'nope'"),
        (("memory", "show", "--agent", "coder", "--label", "nope"), "has no block 'nope'; it has"),
        (("memory", "create", "--agent", "coder", "--label", "persona"), "persona"),
        (("memory", "create", "--agent", "coder", "--label", "</x>"), "label"),
        (("memory", "attach", "nope", "--agent", "coder"), "there is no block 'nope'"),
        (("memory", "detach", "--agent", "coder", "--label", "nope"), "nope"),
        (("conversation", "show", "nope"), "there is no conversation 'nope'"),
        (("conversation", "append", "nope", "user", "x"), "there is no conversation 'nope'"),
        (("conversation", "end", "nope"), "there is no conversation 'nope'"),
        (("conversation", "pin", "nope", "x"), "there is no conversation 'nope'"),
        (("conversation", "compact", "nope"), "there is no conversation 'nope'"),
        (("conversation", "delete", "nope", "--yes"), "there is no conversation 'nope'"),
        (("conversation", "append", "last", "--agent", "coder", "user", ""), "empty"),
        (("conversation", "pin", "last", " ", "--agent", "coder"), "nothing to pin"),
        (
            ("conversation", "compact", "last", "--agent", "coder", "--window", "5"),
            "window_tokens must be",
        ),
        (
            ("archive", "search", "x", "--agent", "coder", "--since", "never"),
            "is not a date or time",
        ),
        (("window", "--agent", "coder", "--conversation", "nope"), "no conversation 'nope'"),
        (("agent", "list", "--db", "missing.db"), "there is no store at missing.db"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line_and_exit_code_1(
    run: Run, coder: str, args: tuple[str, ...], says: str
) -> None:
    assert says in error_of(run(*args))
    assert says in error_of(run(*args, "--json"))


EDIT = ("memory", "update", "--agent", "coder", "--label")


@each_row(
    ("args", "says"),
    [
        ((*EDIT, "skills", "--content", "x"), "read-only"),
        ((*EDIT, "persona", "--replace", "nope", "x"), "does not occur"),
        ((*EDIT, "persona", "--content", "x" * 20_001), "20001"),
        ((*EDIT, "persona", "--insert", "x", "--line", "99"), "line"),
        (("memory", "diff", "--agent", "coder", "--label", "persona", "--from", "77"), "no 77"),
        (("memory", "rollback", "--agent", "coder", "--label", "persona", "--to", "77"), "no 77"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why_and_changes_nothing(
    run: Run, coder: str, args: tuple[str, ...], says: str
) -> None:
    assert says in error_of(run(*args))
    assert json_of(run("memory", "show", *EDIT[2:], "persona", "--json"))["version"] == 1


@each_row(
    ("args", "says"),
    [
        (("agent", "update", "coder"), "nothing to change"),
        (("agent", "create"), "Missing option '--name'"),
        (("memory", "show"), "name a block by its id"),
        (("memory", "show", "--agent", "coder"), "name a block by its id"),
        ((*EDIT, "persona"), "use one of --content"),
        ((*EDIT, "persona", "--content", "a", "--append", "b"), "use one of --content"),
        (("conversation", "show", "last"), "'last' needs --agent"),
        (
            ("conversation", "show", "last", "--agent", "nobody"),
            "agent nobody has no conversation yet",
        ),
        (("search", "conversations", "--agent", "coder", "--role", "robot"), "robot"),
        (("conversation", "append", "last", "--agent", "coder", "robot", "x"), "robot"),
        (("conversation", "import", "last", "missing.json", "--agent", "coder"), "missing.json"),
    ],
)
def test_what_was_typed_wrong_is_told_with_the_usage_and_exit_code_2(
    run: Run, coder: str, args: tuple[str, ...], says: str
) -> None:
    assert says in error_of(run(*args), code=2)


def test_an_overtaken_edit_is_refused_with_both_values(run: Run, coder: str) -> None:
    output_of(run(*EDIT, "persona", "--content", "Theirs."))
    result = run(*EDIT, "persona", "--content", "Mine.", "--expect", "1")

    assert result.exit_code == 1
    assert "Theirs." in result.stderr
    assert "Mine." in result.stderr
    assert json_of(run("memory", "show", *EDIT[2:], "persona", "--json"))["value"] == "Theirs."


# What a terminal might obey


def test_nothing_that_was_stored_reaches_the_terminal_as_a_command(run: Run, coder: str) -> None:
    last = ("last", "--agent", coder)
    output_of(run("agent", "update", coder, "--description", HOSTILE, "--model", HOSTILE))
    output_of(run(*EDIT, "persona", "--content", HOSTILE, "--reason", HOSTILE))
    output_of(
        run("memory", "settings", "--agent", coder, "--label", "persona", "--description", HOSTILE)
    )
    output_of(run("conversation", "start", "--agent", coder, "--title", HOSTILE))
    output_of(run("conversation", "append", *last, "user", f"walnut {HOSTILE}"))
    output_of(run("conversation", "append", *last, "user", "Go on."))
    output_of(run("conversation", "pin", *last, HOSTILE, "--kind", "note"))
    output_of(run("archive", "insert", f"walnut {HOSTILE}", "--agent", coder, "--title", HOSTILE))
    commands = [
        ("agent", "list"),
        ("agent", "info", coder),
        ("memory", "list", "--agent", coder),
        ("memory", "show", "--agent", coder, "--label", "persona"),
        ("memory", "history", "--agent", coder, "--label", "persona"),
        ("memory", "diff", "--agent", coder, "--label", "persona", "--from", "1"),
        ("conversation", "list", "--agent", coder),
        ("conversation", "show", *last),
        ("archive", "search", "walnut", "--agent", coder),
        ("search", "conversations", "--agent", coder, "--query", "walnut"),
        ("search", "memory", "--agent", coder, "--query", "walnut evil"),
        ("context", "walnut", "--agent", coder),
        ("conversation", "compact", *last, "--mode", "all", "--keep-last", "0", "--force"),
    ]

    for command in commands:
        assert is_safe(output_of(run(*command))), command


def test_markup_in_what_was_stored_is_shown_as_it_is(run: Run, coder: str) -> None:
    output_of(run(*EDIT, "persona", "--content", "[bold]not bold[/bold] [/] [link=x]y"))

    shown = output_of(run("memory", "show", "--agent", coder, "--label", "persona"))
    assert "[bold]not bold[/bold] [/] [link=x]y" in shown


def test_an_error_that_quotes_what_was_stored_is_safe_for_a_terminal(run: Run, coder: str) -> None:
    output_of(run(*EDIT, "persona", "--content", HOSTILE))
    overtaken = run(*EDIT, "persona", "--content", "Mine.", "--expect", "1")

    assert overtaken.exit_code == 1
    assert is_safe(overtaken.stderr)


def test_an_error_that_lists_labels_is_safe_for_a_terminal(run: Run, coder: str) -> None:
    run("memory", "create", "--agent", coder, "--label", "x\x9b31m")
    missing = run("memory", "show", "--agent", coder, "--label", "nope")

    assert is_safe(missing.stderr)


def test_json_holds_no_raw_control_characters_either(run: Run, coder: str) -> None:
    output_of(run("conversation", "append", "last", "--agent", coder, "user", HOSTILE))
    result = run("conversation", "show", "last", "--agent", coder, "--json")

    assert json_of(result)[0]["content"] == HOSTILE
    assert is_safe(result.stdout)


def test_an_agents_edit_of_a_shared_block_is_listed_decided_and_undone(
    run: Run, coder: str
) -> None:
    human = ("--agent", coder, "--label", "human")
    proposed = json_of(
        run("block", "update", *human, "--append", HOSTILE, "--author", coder, "--json")
    )
    proposal_id = proposed["proposal_id"]
    listed = run("inbox", "--list")
    as_json = json_of(run("inbox", "proposals", "--json"))
    rejected = output_of(run("inbox", "reject", proposal_id, "--reason", "no"))
    undone = output_of(run("inbox", "undo", proposal_id))
    output_of(run("block", "update", *human, "--content", "Ann"))
    conflict = run("inbox", "accept", proposal_id)
    outdated = output_of(run("inbox", "--list"))
    accepted = json_of(run("inbox", "accept", proposal_id, "--content", "Ann likes tea", "--json"))
    output_of(run("block", "update", "--agent", coder, "--label", "persona", "--append", "I test.",
        "--author", coder))  # fmt: skip
    marked = output_of(run("block", "show", "--agent", coder, "--label", "persona"))

    assert "evil" in listed.stdout
    assert is_safe(listed.stdout)
    assert [(row["id"], row["author"]) for row in as_json] == [(proposal_id, coder)]
    assert "rejected: no" in rejected
    assert "rejected" not in undone
    assert conflict.exit_code == 1
    assert "changed after agent coder proposed" in conflict.stderr
    assert "Current text: Ann\n" in conflict.stderr
    assert is_safe(conflict.stderr)
    assert "its text is now:\n  Ann\n" in outdated
    assert accepted["current_value"] == "Ann likes tea"
    assert "written by agent coder, not confirmed by the user" in marked

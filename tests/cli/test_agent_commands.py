"""Commands about agents, blocks and conversations: words, JSON, and one line when they fail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from recollect.cli.main import main

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
    told(run("agent", "create", "--name", "coder", "--model", "gpt-4o"))
    told(run("conversation", "start", "--agent", "coder", "--title", "Lamps"))
    return "coder"


def told(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(result: Result, *, code: int = 1) -> str:
    """Return the line a command failed with: no traceback, nothing on standard output."""
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.output
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("Error: ")
    return last


def safe(output: str) -> bool:
    """Say whether a terminal obeys nothing in it."""
    return not any(ch in output for ch in "\x1b\x07\x08\x9b")


# Agents


def test_an_agent_is_made_listed_shown_changed_pinned_and_deleted_in_words(run: Run) -> None:
    assert "no agents yet" in told(run("agent", "list"))
    made = told(run("agent", "create", "--name", "coder", "--description", "Writes code."))
    listed = told(run("agent", "list"))
    shown = told(run("agent", "info", "coder"))
    changed = told(run("agent", "update", "coder", "--model", "gpt-4o"))
    pinned = told(run("agent", "pin", "coder"))
    local = told(run("agent", "pin", "coder", "--local", "--project", "site"))
    off = told(run("agent", "pin", "coder", "--off"))
    deleted = told(run("agent", "delete", "coder", "--yes"))

    assert "Created agent coder with persona, human, skills, loaded_skills, style" in made
    assert listed.startswith("coder")
    assert "Writes code." in shown
    assert "persona agent" in shown
    assert "window: " in shown
    assert "model gpt-4o" in changed
    assert (pinned, local, off) == ("coder: global\n", "coder: local\n", "coder: not pinned\n")
    assert deleted.startswith("Deleted: ")
    assert "'human' is shared and stays" in deleted
    assert "no agents yet" in told(run("agent", "list"))


def test_the_same_as_json(run: Run) -> None:
    made = answer(run("agent", "create", "--name", "coder", "--bare", "--json"))
    listed = answer(run("agent", "list", "--json"))
    shown = answer(run("agent", "info", made["id"], "--json"))
    changed = answer(run("agent", "update", "coder", "--name", "writer", "--json"))
    pinned = answer(run("agent", "pin", "writer", "--json"))
    receipt = answer(run("agent", "delete", "writer", "--yes", "--json"))

    assert [one["name"] for one in listed] == ["coder"]
    assert shown["agent"]["id"] == changed["id"] == made["id"]
    assert shown["blocks"] == []
    assert (changed["name"], pinned["pinned"]) == ("writer", "global")
    assert receipt["removed"]["agents"] == 1
    assert answer(run("agent", "list", "--json")) == []


def test_deleting_is_asked_for_and_no_is_no(run: Run, coder: str) -> None:
    declined = run("agent", "delete", coder, stdin="n\n")
    as_json = run("agent", "delete", coder, "--json", stdin="\n")

    assert declined.exit_code == as_json.exit_code == 1
    assert "Delete agent 'coder' with its blocks, conversations and archive? [y/N]" in (
        declined.output
    )
    assert as_json.stdout.strip() == ""
    assert told(run("agent", "list")).startswith("coder")
    assert "Deleted: " in told(run("agent", "delete", coder, stdin="y\n"))


# Blocks


def test_a_block_is_made_edited_compared_rolled_back_and_deleted_in_words(
    run: Run, coder: str
) -> None:
    named = ("--agent", coder, "--label", "goals")
    made = told(run("memory", "create", *named, "--value", "Ship it.", "--description", "Aims."))
    told(run("memory", "update", *named, "--append", "Test it."))
    told(run("memory", "update", *named, "--replace", "Ship it.", "Hang lamps."))
    edited = told(run("memory", "update", *named, "--insert", "First:", "--line", "0"))
    shown = told(run("memory", "show", *named))
    compared = told(run("memory", "diff", *named, "--from", "1"))
    back = told(run("memory", "rollback", *named, "--to", "1", "--reason", "a mistake"))
    history = told(run("memory", "history", *named))
    limits = told(run("memory", "settings", *named, "--limit", "100", "--read-only"))
    deleted = told(run("memory", "delete", *named, "--yes"))

    assert made.startswith("Created block goals, agent: ")
    assert edited == "Block goals is at version 4.\n"
    assert "First:\nHang lamps.\nTest it." in shown
    assert "-Ship it." in compared
    assert "is at version 5, the text of version 1." in back
    assert "a mistake" in history
    assert "read-only" in limits
    assert "of 100 characters" in limits
    assert deleted == "Deleted block goals.\n"
    assert "goals" not in told(run("memory", "list", "--agent", coder))


def test_the_same_of_a_block_as_json(run: Run, coder: str) -> None:
    named = ("--agent", coder, "--label", "goals", "--json")
    made = answer(run("memory", "create", *named, "--value", "Ship it."))
    edited = answer(run("memory", "update", *named, "--content", "Test it.", "--reason", "why"))
    shown = answer(run("memory", "show", made["id"], "--json"))
    compared = answer(run("memory", "diff", *named, "--from", "1", "--to", "2"))
    back = answer(run("memory", "rollback", *named, "--to", "1"))
    history = answer(run("memory", "history", *named))
    limits = answer(run("memory", "settings", *named, "--hidden"))
    listed = answer(run("memory", "list", "--agent", coder, "--json"))
    deleted = answer(run("memory", "delete", *named, "--yes"))

    assert (edited["version"], shown["value"], back["value"]) == (2, "Test it.", "Ship it.")
    assert "+Test it." in compared["diff"]
    assert [one["version"] for one in history] == [1, 2, 3]
    assert history[1]["reason"] == "why"
    assert limits["hidden"] is True
    assert "goals" in [one["label"] for one in listed]
    assert deleted["id"] == made["id"]


def test_a_block_of_everybody_is_shared_and_taken_away(run: Run, coder: str) -> None:
    told(run("agent", "create", "--name", "other", "--bare"))
    made = answer(
        run("memory", "create", "--label", "rules", "--scope", "global", "--value", "x", "--json")
    )
    given = told(run("memory", "attach", made["id"], "--agent", "other"))
    seen = answer(run("memory", "list", "--agent", "other", "--json"))
    taken = told(run("memory", "detach", "--agent", "other", "--label", "rules"))

    assert given == "Attached block rules to other.\n"
    assert [one["label"] for one in seen] == ["rules"]
    assert taken == "Detached block rules from other.\n"
    assert "There are no blocks here." in told(run("memory", "list", "--agent", "other"))
    assert answer(run("memory", "attach", made["id"], "--agent", "other", "--json"))
    assert answer(run("memory", "detach", "--agent", "other", "--label", "rules", "--json"))


def test_a_block_of_a_project_is_named_by_its_project(run: Run, coder: str) -> None:
    named = ("--label", "rules", "--project", "site")
    told(run("memory", "create", *named, "--scope", "project", "--value", "Be kind."))
    told(run("memory", "update", *named, "--append", "Be brief."))

    assert "Be kind.\nBe brief." in told(run("memory", "show", *named))
    assert "rules" not in told(run("memory", "list", "--agent", coder))
    assert "rules" in told(run("memory", "list", "--agent", coder, "--project", "site"))


def test_a_block_is_read_from_standard_input_whatever_its_bytes(run: Run, coder: str) -> None:
    named = ("--agent", coder, "--label", "persona")
    told(run("memory", "update", *named, "--content", "-", stdin=b"one\ntwo \xff\xfe\n"))
    told(run("memory", "create", "--agent", coder, "--label", "more", "--value", "-", stdin="in"))

    assert answer(run("memory", "show", *named, "--json"))["value"] == "one\ntwo \ufffd\ufffd\n"
    assert "in\n" in told(run("memory", "show", "--agent", coder, "--label", "more"))


# Conversations


def test_a_conversation_goes_from_its_start_to_its_end_in_words(run: Run, coder: str) -> None:
    begun = told(run("conversation", "start", "--agent", coder, "--title", "Billing"))
    last = ("last", "--agent", coder)
    added = told(run("conversation", "append", *last, "user", "We use PostgreSQL for billing."))
    piped = told(run("conversation", "append", *last, "assistant", "-", stdin="Noted.\n"))
    shown = told(run("conversation", "show", *last))
    paged = told(run("conversation", "show", *last, "-n", "1"))
    pinned = told(run("conversation", "pin", *last, "BILL-12", "--kind", "ticket"))
    nothing = told(run("conversation", "compact", *last))
    listed = told(run("conversation", "list", "--agent", coder))
    ended = told(run("conversation", "end", *last))
    deleted = told(run("conversation", "delete", *last, "--yes"))

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
    assert "Billing" not in told(run("conversation", "list", "--agent", coder))


def test_the_same_of_a_conversation_as_json(run: Run, coder: str) -> None:
    begun = answer(run("conversation", "start", "--agent", coder, "--json"))
    which = (begun["id"], "--json")
    rows = [{"role": ("user", "assistant")[n % 2], "content": f"Lamp {n}."} for n in range(20)]
    added = answer(run("conversation", "append", *which, "user", "Begin."))
    imported = answer(run("conversation", "import", *which, "-", stdin=json.dumps(rows)))
    shown = answer(run("conversation", "show", *which, "--start", "18"))
    pinned = answer(run("conversation", "pin", *which, "note this"))
    compacted = answer(
        run("conversation", "compact", *which, "--mode", "all", "--keep-last", "0", "--force")
    )
    nothing = answer(run("conversation", "compact", *which))
    listed = answer(run("conversation", "list", "--agent", coder, "--json"))
    ended = answer(run("conversation", "end", *which))
    removed = answer(run("conversation", "delete", *which, "--yes"))["removed"]

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
    told(run("conversation", "append", *last, "user", "I live in Porto."))
    rows = [{"role": "assistant", "content": f"Lamp {n}."} for n in range(20)]
    told(run("conversation", "import", *last, "-", stdin=json.dumps(rows)))
    told(run("conversation", "append", *last, "user", "Go on."))
    output = told(
        run("conversation", "compact", *last, "--mode", "all", "--keep-last", "0", "--force")
    )

    assert "21 messages replaced by a summary of " in output
    assert "Porto" in output
    assert "summarized" in told(run("conversation", "show", *last))


@pytest.mark.parametrize(
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

    assert says in refused(result, code=code)
    assert answer(run("conversation", "show", "last", "--agent", coder, "--json")) == []


def test_an_import_of_json_nested_too_deep_is_one_line(run: Run, coder: str) -> None:
    deep = "[" * 100_000
    result = run("conversation", "import", "last", "-", "--agent", coder, stdin=deep)

    refused(result, code=2)


# The archive


def test_the_archive_keeps_and_finds(run: Run, coder: str) -> None:
    of = ("--agent", coder)
    kept = told(run("archive", "insert", "The staging server is walnut.", *of, "--tag", "infra"))
    piped = answer(run("archive", "insert", "-", *of, "--json", stdin="From a pipe."))
    found = told(run("archive", "search", "staging server", *of))
    tagged = answer(run("archive", "search", *of, "--tag", "infra", "--tag", "x", "--json"))
    both = answer(
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


@pytest.mark.parametrize("args", NOBODY, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_agent_that_does_not_exist_is_one_line_that_says_what_to_try(
    run: Run, coder: str, args: tuple[str, ...], form: tuple[str, ...]
) -> None:
    line = refused(run(*args, *form))

    assert "there is no agent 'nobody' in this store" in line
    assert "recollect agent list" in line
    assert [one["name"] for one in answer(run("agent", "list", "--json"))] == ["coder"]


@pytest.mark.parametrize(
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
    assert says in refused(run(*args))
    assert says in refused(run(*args, "--json"))


EDIT = ("memory", "update", "--agent", "coder", "--label")


@pytest.mark.parametrize(
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
    assert says in refused(run(*args))
    assert answer(run("memory", "show", *EDIT[2:], "persona", "--json"))["version"] == 1


@pytest.mark.parametrize(
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
    assert says in refused(run(*args), code=2)


def test_an_overtaken_edit_is_refused_with_both_values(run: Run, coder: str) -> None:
    told(run(*EDIT, "persona", "--content", "Theirs."))
    result = run(*EDIT, "persona", "--content", "Mine.", "--expect", "1")

    assert result.exit_code == 1
    assert "Theirs." in result.stderr
    assert "Mine." in result.stderr
    assert answer(run("memory", "show", *EDIT[2:], "persona", "--json"))["value"] == "Theirs."


# What a terminal might obey


def test_nothing_that_was_stored_reaches_the_terminal_as_a_command(run: Run, coder: str) -> None:
    last = ("last", "--agent", coder)
    told(run("agent", "update", coder, "--description", HOSTILE, "--model", HOSTILE))
    told(run(*EDIT, "persona", "--content", HOSTILE, "--reason", HOSTILE))
    told(
        run("memory", "settings", "--agent", coder, "--label", "persona", "--description", HOSTILE)
    )
    told(run("conversation", "start", "--agent", coder, "--title", HOSTILE))
    told(run("conversation", "append", *last, "user", f"walnut {HOSTILE}"))
    told(run("conversation", "append", *last, "user", "Go on."))
    told(run("conversation", "pin", *last, HOSTILE, "--kind", "note"))
    told(run("archive", "insert", f"walnut {HOSTILE}", "--agent", coder, "--title", HOSTILE))
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
        assert safe(told(run(*command))), command


def test_markup_in_what_was_stored_is_shown_as_it_is(run: Run, coder: str) -> None:
    told(run(*EDIT, "persona", "--content", "[bold]not bold[/bold] [/] [link=x]y"))

    shown = told(run("memory", "show", "--agent", coder, "--label", "persona"))
    assert "[bold]not bold[/bold] [/] [link=x]y" in shown


def test_an_error_that_quotes_what_was_stored_is_safe_for_a_terminal(run: Run, coder: str) -> None:
    told(run(*EDIT, "persona", "--content", HOSTILE))
    overtaken = run(*EDIT, "persona", "--content", "Mine.", "--expect", "1")

    assert overtaken.exit_code == 1
    assert safe(overtaken.stderr)


def test_an_error_that_lists_labels_is_safe_for_a_terminal(run: Run, coder: str) -> None:
    run("memory", "create", "--agent", coder, "--label", "x\x9b31m")
    missing = run("memory", "show", "--agent", coder, "--label", "nope")

    assert safe(missing.stderr)


def test_json_holds_no_raw_control_characters_either(run: Run, coder: str) -> None:
    told(run("conversation", "append", "last", "--agent", coder, "user", HOSTILE))
    result = run("conversation", "show", "last", "--agent", coder, "--json")

    assert answer(result)[0]["content"] == HOSTILE
    assert safe(result.stdout)

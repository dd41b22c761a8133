"""Commands about skills, files, windows and search, and a walk through a real terminal."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from all_commands import all_commands
from command_results import error_of, is_safe, json_of, output_of
from recollect.cli.main import main
from tables import each_row
from terminal import environment, in_terminal, installed

pytestmark = pytest.mark.door

Run = Callable[..., Result]


@pytest.fixture
def run(path: Path, tmp_path: Path) -> Run:
    """Run the command on a store of its own, without embeddings, in a home of its own."""

    def invoke(*args: str, stdin: str | bytes | None = None) -> Result:
        settings = {
            "RECOLLECT_DB": str(path),
            "RECOLLECT_EMBEDDING_BACKEND": "none",
            "HOME": str(tmp_path / "home"),
        }
        return CliRunner().invoke(main, list(args), input=stdin, env=settings)

    return invoke


@pytest.fixture
def coder(run: Run) -> str:
    output_of(run("agent", "create", "--name", "coder"))
    return "coder"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A project's folder with files and a skill."""
    folder = tmp_path / "site"
    (folder / ".skills/hang-lamps").mkdir(parents=True)
    (folder / ".skills/hang-lamps/SKILL.md").write_text(
        "---\nname: hang-lamps\ndescription: Mounts lamps in halls.\n---\n\nUse a ladder.\n"
    )
    (folder / "ops.md").write_text("# Operations\n\nThe walnut server restarts nightly.\n")
    (folder / "evil.md").write_text("walnut \x1b]0;pwned\x07 \x9b31m\n")
    return folder


# Skills


def test_skills_are_discovered_loaded_listed_refreshed_and_unloaded_in_words(
    run: Run, coder: str, site: Path
) -> None:
    here = ("--project", str(site))
    found = output_of(run("skills", "discover", *here))
    loaded = output_of(run("skills", "load", "--agent", coder, "--skill", "hang-lamps", *here))
    listed = output_of(run("skills", "list", "--agent", coder))
    refreshed = output_of(run("skills", "refresh", "--agent", coder, *here))
    unloaded = output_of(run("skills", "unload", "--agent", coder, "--skill", "hang-lamps", *here))

    assert "hang-lamps project Mounts lamps in halls." in found
    assert "remember-well bundled" in found
    assert loaded == "Loaded hang-lamps into coder.\n"
    assert "hang-lamps Mounts lamps in halls." in listed
    assert refreshed == found
    assert unloaded == "Unloaded hang-lamps from coder.\n"
    assert output_of(run("skills", "list", "--agent", coder)) == "No skill is loaded.\n"


def test_the_same_of_skills_as_json(run: Run, coder: str, site: Path) -> None:
    here = ("--project", str(site), "--json")
    named = ("--agent", coder, "--skill", "hang-lamps")
    found = json_of(run("skills", "discover", *here))
    loaded = json_of(run("skills", "load", *named, *here))
    listed = json_of(run("skills", "list", "--agent", coder, "--json"))
    refreshed = json_of(run("skills", "refresh", "--agent", coder, *here))
    unloaded = json_of(run("skills", "unload", *named, *here))

    assert "hang-lamps" in [one["name"] for one in found["skills"]]
    assert loaded["skill"]["body"].strip() == "Use a ladder."
    assert [one["skill"]["name"] for one in listed] == ["hang-lamps"]
    assert refreshed == found
    assert unloaded["skill"]["name"] == "hang-lamps"


def test_skills_are_searched(run: Run, site: Path) -> None:
    here = ("--project", str(site))

    assert "hang-lamps" in output_of(run("skills", "search", "mounting a lamp", *here))
    assert "No skill was found." in output_of(run("skills", "search", "zzzz", *here))
    [hit] = json_of(run("skills", "search", "mounting a lamp", *here, "-n", "1", "--json"))
    assert hit["skill"]["name"] == "hang-lamps"


def test_a_skill_is_learnt_shown_and_saved(run: Run, coder: str, site: Path) -> None:
    talk = json_of(run("conversation", "start", "--agent", coder, "--json"))["id"]
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "pnpm build"}'}}
    rows = [
        {"role": "user", "content": "Please build the docs site."},
        {"role": "assistant", "content": "Now I'll build the site.", "tool_calls": [call]},
        {"role": "tool", "content": "Built 120 pages\nexit code: 0", "tool_call_id": "c1"},
        {"role": "assistant", "content": "The docs site is built."},
    ]
    output_of(run("conversation", "import", talk, "-", stdin=json.dumps(rows)))
    assert "Please build the docs site." in output_of(run("conversation", "list"))
    learn = ("skills", "learn", talk, "--name", "build-docs", "--project", str(site))
    drafted = output_of(run(*learn, "--save", "no"))
    saved = output_of(run(*learn))
    taken = error_of(run(*learn))
    again = json_of(run(*learn, "--overwrite", "--json"))

    assert "pnpm build" in drafted
    assert "saved to" not in drafted
    assert "read it before you load it" in saved
    assert "there is a skill build-docs already" in taken
    assert Path(again["path"]).read_text() == again["content"]


@each_row(
    ("args", "says"),
    [
        (("load", "--agent", "coder", "--skill", "nope"), "there is no skill 'nope' here"),
        (("unload", "--agent", "coder", "--skill", "nope"), "has no skill 'nope' loaded"),
        (("learn", "nope", "--name", "x"), "there is no conversation 'nope'"),
        (("learn", "nope", "--name", "../x"), "lower-case letters"),
        (("search", "x", "-n", "0"), "limit"),
    ],
)
def test_what_skills_cannot_do_is_one_line(
    run: Run, coder: str, args: tuple[str, ...], says: str
) -> None:
    assert says in error_of(run("skills", *args))


def test_a_skill_that_means_harm_does_not_reach_the_terminal(
    run: Run, coder: str, site: Path
) -> None:
    file = site / ".skills/evil/SKILL.md"
    file.parent.mkdir()
    file.write_text("---\nname: evil\ndescription: lamps \x1b[2J\x9b31m\n---\nx \x1b]0;y\x07\n")
    here = ("--project", str(site))
    output_of(run("skills", "load", "--agent", coder, "--skill", "evil", *here))

    for command in (
        ("skills", "discover", *here),
        ("skills", "list", "--agent", coder),
        ("skills", "search", "lamps", *here),
        ("memory", "show", "--agent", coder, "--label", "loaded_skills"),
    ):
        assert is_safe(output_of(run(*command))), command


# Files


def test_files_are_opened_listed_searched_indexed_and_closed_in_words(
    run: Run, coder: str, site: Path
) -> None:
    here = ("--project", str(site))
    opened = output_of(run("files", "open", "ops.md", "--agent", coder, *here, "--offset", "2"))
    listed = output_of(run("files", "list", "--agent", coder))
    matched = output_of(run("files", "grep", "walnut", *here, "--include", "ops.*"))
    nothing = output_of(run("files", "grep", "zzzz", *here))
    indexed = output_of(run("files", "index", *here, "--include", "*.md"))
    found = output_of(run("search", "files", "--query", "walnut server", *here))
    closed = output_of(run("files", "close", "--agent", coder))

    assert "3–3 of 3" in opened
    assert "restarts nightly" in opened
    assert "ops.md" in listed
    assert re.search(r"ops\.md:3 The walnut server", matched)
    assert "Nothing matches." in nothing
    assert indexed == "Indexed 3 files.\n"
    assert "ops.md" in found
    assert closed == "Closed 1 files.\n"
    assert output_of(run("files", "list", "--agent", coder)) == ""


def test_the_same_of_files_as_json(run: Run, coder: str, site: Path) -> None:
    here = ("--project", str(site), "--json")
    [opened] = json_of(run("files", "open", "ops.md", "--agent", coder, *here))
    [listed] = json_of(run("files", "list", "--agent", coder, "--json"))
    page = json_of(run("files", "grep", "WALNUT|walnut", *here, "--context", "1"))
    indexed = json_of(run("files", "index", *here))
    found = json_of(run("search", "files", "--query", "nightly", *here))
    closed = json_of(run("files", "close", "ops.md", "--agent", coder, "--json"))

    assert opened == listed
    assert page["total"] == 2
    assert indexed["files"] >= 2
    assert Path(found[0]["path"]).name == "ops.md"
    assert closed == [opened["path"]]


@each_row(
    ("args", "says"),
    [
        (("open", "nope.md", "--agent", "coder"), "nope.md"),
        (("open", "../x", "--agent", "coder"), "outside of what may be read"),
        (("open", "ops.md", "--agent", "coder", "--offset", "99"), "has 3 lines"),
        (("open", "ops.md", "--agent", "coder", "--most-open", "0"), "most_open"),
        (("open", "ops.md", "--agent", "nobody"), "there is no agent 'nobody'"),
        (("grep", "("), "the pattern cannot be read"),
        (("grep", "x", "--offset", "-1"), "offset"),
    ],
)
def test_what_files_cannot_do_is_one_line(
    run: Run, coder: str, site: Path, args: tuple[str, ...], says: str
) -> None:
    assert says in error_of(run("files", *args, "--project", str(site)))


def test_closing_what_is_not_open_is_one_line(run: Run, coder: str) -> None:
    assert "is not open" in error_of(run("files", "close", "ops.md", "--agent", coder))


@pytest.mark.parametrize(
    "args", [("open", "ops.md", "--agent", "coder"), ("grep", "x"), ("index",)], ids=" ".join
)
def test_without_a_project_the_option_that_is_missing_is_named(
    run: Run, coder: str, args: tuple[str, ...]
) -> None:
    assert "--project" in error_of(run("files", *args), code=2)


def test_a_file_that_means_harm_does_not_reach_the_terminal(
    run: Run, coder: str, site: Path
) -> None:
    here = ("--project", str(site))
    for command in (
        ("files", "open", "evil.md", "--agent", coder, *here),
        ("files", "grep", "walnut", *here),
        ("files", "index", *here),
        ("search", "files", "--query", "walnut", *here),
    ):
        assert is_safe(output_of(run(*command))), command


# Windows and tokens


def test_a_window_is_shown_section_by_section(run: Run, coder: str) -> None:
    shown = output_of(run("window", "--agent", coder, "--window", "8000"))
    found = json_of(run("window", "--agent", coder, "--window", "8000", "--json"))
    tight = output_of(run("window", "--agent", coder, "--window", "200"))

    rows = dict(line.split()[:2] for line in shown.splitlines())
    parts = [int(rows[name].replace(",", "")) for name in rows if name != "free"]
    assert sum(parts) == found["used"]
    assert found["used"] + found["free"] == found["overview"]["window_tokens"] == 8_000
    assert "of the window is used; compact" in tight


def test_tokens_are_counted_of_a_text_a_file_or_standard_input(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello world")

    assert output_of(run("tokens", "hello world", "--model", "gpt-4o")) == "2 tokens (o200k_base)\n"
    assert output_of(run("tokens", "-", stdin="hello world")).startswith("2 tokens")
    assert output_of(run("tokens", f"@{tmp_path / 'a.txt'}")).startswith("2 tokens")
    assert output_of(run("tokens", "")).startswith("0 tokens")
    assert output_of(run("tokens", "-", stdin=b"\xff\xfe")).endswith("(o200k_base)\n")
    assert json_of(run("tokens", "hello world", "--model", "gpt-4", "--json")) == {
        "tokens": 2,
        "counted_by": "cl100k_base",
        "exact": True,
    }
    assert json_of(run("tokens", "hello", "--model", "claude-x", "--json"))["exact"] is False


@pytest.mark.parametrize("missing", ["@/nowhere/at/all", "@"])
def test_a_file_that_cannot_be_read_is_one_line(run: Run, missing: str) -> None:
    assert "cannot read" in error_of(run("tokens", missing), code=2)


# Search


@pytest.fixture
def kept(run: Run, coder: str) -> str:
    output_of(run("add", "The word files is in this memory, and conversations too."))
    output_of(run("conversation", "start", "--agent", coder))
    output_of(run("conversation", "append", "last", "--agent", coder, "user", "The walnut server."))
    output_of(
        run("memory", "update", "--agent", coder, "--label", "persona", "--content", "Walnut.")
    )
    output_of(run("archive", "insert", "A walnut passage.", "--agent", coder))
    return coder


def test_search_without_a_command_finds_memories(run: Run, kept: str) -> None:
    plain = json_of(run("search", "word in this memory", "--json"))
    options_first = json_of(run("search", "--json", "--limit", "3", "word in this memory"))
    by_name = json_of(run("search", "memories", "word in this memory", "--json"))

    def found(hits: Any) -> list[str]:
        return [hit["memory"]["id"] for hit in hits]

    assert len(found(plain)) == 1
    assert found(plain) == found(options_first) == found(by_name)


def test_a_session_that_is_found_is_shown_by_what_was_asked_in_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    messages = [
        {"role": "user", "content": "Why does the walnut importer drop rows?"},
        {"role": "assistant", "content": "I will look at it."},
    ]
    path.write_text(json.dumps(messages))
    output_of(run("capture", str(path), "--work"))

    shown = output_of(run("search", "walnut importer in the last session"))

    assert "Session (" in shown
    assert "Asked: Why does the walnut importer drop rows?" in shown


def test_a_query_that_is_the_name_of_a_command_can_still_be_asked(run: Run, kept: str) -> None:
    assert "Missing option '--query'" in error_of(run("search", "files"), code=2)
    for word in ("files", "conversations"):
        assert len(json_of(run("search", "--json", "--", word))) == 1
        assert len(json_of(run("search", "memories", word, "--json"))) == 1


def test_search_without_a_query_says_what_is_missing(run: Run, kept: str) -> None:
    assert "Missing argument 'QUERY'" in error_of(run("search"), code=2)
    assert "Missing argument 'QUERY'" in error_of(run("search", "--json"), code=2)


@pytest.mark.parametrize("asked", ["-h", "--help"])
def test_search_tells_of_all_it_finds(run: Run, asked: str) -> None:
    shown = output_of(run("search", asked))

    for name in ("conversations", "files", "memories", "memory"):
        assert re.search(rf"^  {name} ", shown, re.MULTILINE)


def test_what_was_said_is_searched(run: Run, kept: str) -> None:
    of = ("search", "conversations", "--agent", kept)

    assert "1. The walnut server." in output_of(run(*of, "--query", "walnut"))
    assert "No message was found." in output_of(run(*of, "--query", "zzzz"))
    [hit] = json_of(run(*of, "--query", "walnut", "--role", "user", "--json"))
    assert hit["message"]["content"] == "The walnut server."
    assert json_of(run(*of, "--query", "walnut", "--until", "2001-01-01", "--json")) == []
    assert len(json_of(run(*of, "--since", "2001-01-01", "--json"))) == 1


def test_an_agents_blocks_and_memories_are_searched(run: Run, kept: str) -> None:
    of = ("search", "memory", "--agent", kept, "--query")
    shown = output_of(run(*of, "walnut"))
    found = json_of(run(*of, "walnut", "--json"))

    assert "block persona" in shown
    assert "A walnut passage." in shown
    assert [hit["block"]["label"] for hit in found["blocks"]] == ["persona"]
    assert [hit["memory"]["content"] for hit in found["memories"]] == ["A walnut passage."]
    assert "Nothing relevant was found." in output_of(run(*of, "zzzz"))


def test_files_nobody_read_are_not_found_and_it_says_what_to_do(run: Run, kept: str) -> None:
    asked = run("search", "files", "--query", "walnut", "--project", "none")

    assert "recollect file index" in output_of(asked)


# Every command


@each_row("command", all_commands())
def test_every_command_has_help_that_says_what_it_is_for(run: Run, command: str) -> None:
    for asked in ("-h", "--help"):
        shown = output_of(run(*command.split(), asked))
        assert shown.startswith("Usage: ")
        assert len(shown.splitlines()) > 3


# In a terminal


def person(path: Path, home: Path) -> dict[str, str]:
    return environment(path, RECOLLECT_EMBEDDING_BACKEND="none", HOME=str(home))


@pytest.mark.door
def test_letta_mem_has_the_same_commands(path: Path, tmp_path: Path) -> None:
    def shown(name: str) -> str:
        done = subprocess.run(
            [installed(name), "--help"],
            env=person(path, tmp_path),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.replace(f"Usage: {name}", "Usage:")

    theirs = shown("letta-mem")
    assert theirs == shown("recollect")
    for name in ("agent", "block", "conversation", "archive", "skill", "file"):
        assert re.search(rf"^  (\S+, )*{name}[, ]", theirs, re.MULTILINE)


def letta_mem(path: Path, *args: str, typed: str = "") -> tuple[int, str]:
    shown = in_terminal("letta-mem", *args, env=person(path, path.parent), typed=typed)
    return shown.code, shown.text


@pytest.mark.door
def test_a_person_makes_an_agent_talks_searches_compacts_and_deletes(path: Path) -> None:
    edit = ("memory", "update", "--agent", "coder", "--label", "persona")
    last = ("last", "--agent", "coder")
    steps = [
        letta_mem(path, "agent", "create", "--name", "coder"),
        letta_mem(path, *edit, "--content", "I write [tests] first."),
        letta_mem(path, "conversation", "start", "--agent", "coder", "--title", "Billing"),
        letta_mem(path, "conversation", "append", *last, "user", "I live in Porto."),
        letta_mem(path, "conversation", "append", *last, "user", "What is left to do?"),
        letta_mem(path, "search", "conversations", "--agent", "coder", "--query", "Porto"),
        letta_mem(
            path, "conversation", "compact", *last, "--mode", "all", "--keep-last", "0", "--force"
        ),
        letta_mem(path, "search", "conversations", "--agent", "coder", "--query", "Porto"),
        letta_mem(path, "agent", "delete", "coder", typed="y\n"),
    ]
    failed, gone = letta_mem(path, "agent", "info", "coder")
    shown = [output for _, output in steps]

    assert [code for code, _ in steps] == [0] * len(steps), shown
    assert shown[0].startswith("Created agent coder")
    assert shown[1] == "Block persona is at version 2.\n"
    assert "1. I live in Porto." in shown[5]
    assert "1 messages replaced by a summary" in shown[6]
    assert "Porto" in shown[6]
    assert "1. I live in Porto." in shown[7]
    assert "Delete agent 'coder'" in shown[8]
    assert "Deleted: " in shown[8]
    assert failed == 1
    assert gone.startswith("Error: there is no agent 'coder'")

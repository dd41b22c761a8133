"""The command as a program runs it: exit codes, JSON, one clear line when it fails."""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from command_results import json_of
from recollect.cli.main import main

Run = Callable[..., Result]


@pytest.fixture
def run(path: Path) -> Run:
    """Run the command on a store of its own, without embeddings."""

    def invoke(*args: str, stdin: str | None = None, env: dict[str, str] | None = None) -> Result:
        settings = {"RECOLLECT_DB": str(path), "RECOLLECT_EMBEDDING_BACKEND": "none"}
        return CliRunner().invoke(main, list(args), input=stdin, env=settings | (env or {}))

    return invoke


def test_what_is_added_is_found_shown_explained_and_forgotten(run: Run) -> None:
    added = json_of(run("add", "Answers should be short.", "--tag", "style", "--json"))
    found = json_of(run("search", "short answers", "--json"))
    shown = json_of(run("show", added["id"], "--json"))
    explained = json_of(run("explain", added["id"], "--json"))
    retrieval = json_of(run("explain", found[0]["retrieval_id"], "--json"))
    receipt = json_of(run("forget", added["id"], "--yes", "--json"))

    assert found[0]["memory"]["id"] == added["id"]
    assert shown["tags"] == ["style"]
    assert explained["sources"][0]["content"] == "Answers should be short."
    assert retrieval["hits"][0]["memory_id"] == added["id"]
    assert receipt["removed"]["memories"] == 1
    assert json_of(run("search", "short answers", "--json")) == []


def test_search_lists_linked_memories_if_asked_to(run: Run) -> None:
    decision = json_of(run("add", "We deploy on Fly.io.", "--json"))
    reason = json_of(run("add", "Heroku raised its prices.", "--json"))
    run("link", reason["id"], "supports", decision["id"])

    plain = json_of(run("search", "deploy", "--json"))
    related = json_of(run("search", "deploy", "--related", "--json"))

    assert [hit["memory"]["id"] for hit in plain] == [decision["id"]]
    assert [hit["memory"]["id"] for hit in related] == [decision["id"], reason["id"]]
    assert related[1]["reached"] == "related"


def test_the_same_in_words_for_people(run: Run) -> None:
    given = "--project site --type decision --title Tooling --alternative npm --tag ci"
    run("add", "Use pnpm, not npm.", "--rationale", "Faster CI.", *given.split())
    found = run("search", "pnpm", "--project", "site")
    nothing = run("search", "pnpm")
    context = run("context", "install packages with pnpm", "--project", "site")
    memory_id = re.findall(r"[0-9a-f-]{36}", found.output)[0]
    shown = run("show", memory_id)
    explained = run("explain", memory_id)

    assert "1. Tooling" in found.output
    assert "Matches “pnpm”" in found.output
    assert "Add --project NAME" in nothing.output
    assert "(because: Faster CI.)" in context.output
    assert "tokens" in context.output
    assert "rather than npm" in shown.output
    assert "written by hand" in explained.output


def test_standard_input_facts_and_candidates(run: Run) -> None:
    piped = json_of(run("add", "-", "--json", stdin="from a pipe\nwith two lines"))
    fact = json_of(run("add", "--key", "editor", "helix", "--json"))
    candidate = json_of(run("add", "an idea", "--inbox", "--json"))
    other = json_of(run("add", "a bad idea", "--inbox", "--json"))
    inbox = run("inbox")
    waiting = json_of(run("inbox", "--json"))
    promoted = run("promote", candidate["id"])
    rejected = run("reject", other["id"], "--reason", "no")

    assert piped["content"] == "from a pipe\nwith two lines"
    assert fact["key"] == "editor"
    assert "2 candidates" in inbox.output
    assert {one["memory"]["id"] for one in waiting} == {candidate["id"], other["id"]}
    assert "active" in promoted.output
    assert "archived" in rejected.output
    assert json_of(run("show", other["id"], "--json"))["status"] == "archived"


def test_links_and_reasons_for_absence(run: Run) -> None:
    one = json_of(run("add", "The build uses pnpm.", "--project", "a", "--json"))
    run("add", "something else", "--project", "b")
    why = run("why-not", one["id"], "pnpm", "--project", "b")
    linked = run("link", one["id"], "applies_to", "project:b", "--note", "shared")
    found = json_of(run("search", "pnpm", "--project", "b", "--json"))

    assert "only if linked" in why.output
    assert "applies_to project" in linked.output
    assert found[0]["reached"] == "linked"
    assert (
        json_of(run("why-not", one["id"], "pnpm", "--project", "b", "--json"))["rule"] == "returned"
    )
    assert json_of(run("link", one["id"], "applies_to", "project:b", "--json"))["note"] == "shared"


def test_conflicts_of_what_was_just_added_are_listed_without_a_worker(run: Run) -> None:
    for text in ("The API port is 8080.", "The API port is 9090."):
        run("add", text, "--project", "shop")

    listed = run("conflicts").output

    assert "8080" in listed
    assert "9090" in listed
    assert "recollect conflicts settle" in listed


def test_views(run: Run) -> None:
    run("add", "Use pnpm.", "--project", "site", "--type", "decision")
    assert "No views yet" in run("views").output
    saved = run("views", "save", "tools", "pnpm", "--type", "decision", "--project", "site")

    assert "views run tools" in saved.output
    assert "tools" in run("views").output
    assert "Use pnpm." in run("views", "run", "tools").output
    assert json_of(run("views", "run", "tools", "--json"))[0]["memory"]["content"] == "Use pnpm."
    assert json_of(run("views", "list", "--json"))[0]["name"] == "tools"
    assert json_of(run("views", "--json"))[0]["name"] == "tools"
    assert json_of(run("views", "save", "v", "q", "--json"))["name"] == "v"
    assert json_of(run("views", "delete", "v", "--json")) == {"deleted": "v"}
    assert "Deleted" in run("views", "delete", "tools").output


def test_export_import_verify_rebuild_status_doctor(run: Run, tmp_path: Path) -> None:
    run("add", "something to keep")
    exported = tmp_path / "e.jsonl"

    assert "Exported" in run("export", str(exported)).output
    assert json_of(run("export", str(exported), "--json"))["rows"] > 3
    assert json_of(run("export", str(exported), "--synced", "--json"))["rows"] > 3
    assert "--synced is for" in run("export", "x", "--synced", "--format", "exchange").output
    assert "rows existed" in run("import", str(exported)).output
    other = ("--db", str(tmp_path / "other.db"))
    assert json_of(run("import", str(exported), "--json", *other))["added"]["memories"] == 1
    assert "inbox" in run("import", str(exported), *other).output
    assert "rows existed" in run("import", str(exported), "--trust", *other).output
    assert "✓ the file is intact" in run("verify").output
    assert json_of(run("verify", "--json"))["ok"] is True
    assert "Rebuilt: 1 items" in run("rebuild").output
    assert json_of(run("rebuild", "--json", "--no-embed"))["items"] == 1
    assert "1 memories: 1 active" in run("status").output
    assert json_of(run("status", "--json"))["counts"]["memories"] == 1
    assert "✓ embedder" in run("doctor").output
    assert all(one["ok"] for one in json_of(run("doctor", "--json")))


def test_doctor_and_verify_fail_with_exit_code_1(run: Run, path: Path) -> None:
    run("add", "something")
    path.chmod(0o644)
    sick = run(
        "doctor",
        env={"RECOLLECT_EMBEDDING_BACKEND": "ollama", "OLLAMA_BASE_URL": "http://127.0.0.1:9"},
    )

    assert sick.exit_code == 1
    assert "chmod 600" in sick.output
    assert "ollama pull" in sick.output
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o644


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["show", "nope"], 1, "there is no memory 'nope'"),
        (["add", ""], 1, "nothing to remember"),
        (["add", "x", "--scope", "project"], 1, "scope project needs"),
        (["add", "x", "--type", "fact"], 2, "'fact' is not one of"),
        (["search", "x", "--limit", "0"], 1, "limit must be"),
        (["search"], 2, "Missing argument"),
        (["import", "nowhere.jsonl"], 1, "cannot read"),
        (["views", "run", "ghost"], 1, "no view 'ghost'"),
        (["--db", "/proc/nowhere/x.db", "add", "x"], 1, "cannot create"),
        (["--db", "typo.db", "verify"], 1, "there is no store at typo.db"),
        (["add", "--key", "tz", "x", "--project", "p"], 2, "takes no other option"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_failure_is_one_clear_line_and_an_exit_code(
    run: Run, args: list[str], code: int, told: str
) -> None:
    result = run(*args)

    assert result.exit_code == code
    assert told in result.stderr
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) <= 4


def test_forgetting_asks_first(run: Run) -> None:
    kept = json_of(run("add", "precious", "--json"))["id"]

    refused = run("forget", kept, stdin="n\n")
    done = run("forget", kept, stdin="y\n")

    assert refused.exit_code == 1
    assert "precious" in refused.output
    assert "Deleted: " in done.output


def test_forgetting_shows_the_beginning_of_a_long_memory(run: Run) -> None:
    kept = json_of(run("add", "a very long text " * 1_000, "--json"))["id"]

    asked = run("forget", kept, stdin="n\n").output

    assert asked.startswith("a very long text a very")
    assert len(asked) < 1_000


def test_a_search_that_finds_nothing_says_where_else_to_look(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    new = run("search", "build").output
    run("add", "The build uses pnpm.", "--project", str(tmp_path / "site"))
    run("add", "Invoices are sent on Monday.", "--project", "billing")
    monkeypatch.chdir(tmp_path / "site")
    inside = run("search", "build").output
    monkeypatch.chdir(tmp_path)
    outside = run("search", "build").output
    misspelled = run("search", "invoices", "--project", "biling").output

    assert new.startswith("Nothing is stored yet. `recollect add TEXT` stores a memory;")
    assert "This folder is the project site: add --project ." in inside
    monkeypatch.chdir(tmp_path / "site")
    assert "add --project ." in run("context", "build the site").output
    assert run("search", " ").output == "The query is empty: write what to search for.\n"
    assert "Add --project NAME" in outside
    assert "No project is called 'biling'; did you mean 'billing'?" in misspelled
    assert run("conversation", "list").output == "No conversation was found.\n"


def test_a_word_behind_chat_is_answered_with_the_two_options_it_may_mean(run: Run) -> None:
    refused = run("chat", "ada")

    assert refused.exit_code == 2
    assert "--agent NAME chooses an agent, -p TEXT sends a message" in refused.stderr


def test_a_redaction_is_said(run: Run) -> None:
    told = run("add", "key " + "ghp_" + "a1B2" * 9)

    assert "Not stored, because it looks secret: github-token" in told.output


def test_control_characters_in_content_do_not_reach_the_terminal(run: Run) -> None:
    run("add", "evil \x1b[2J\x07 content [bold]markup[/bold] :fire:")

    output = run("search", "evil content").output

    assert "\x1b[2J" not in output
    assert "[bold]markup[/bold] :fire:" in output


def test_the_configuration_file_is_used(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(f'db = "{tmp_path / "configured.db"}"\n')
    env = {"RECOLLECT_CONFIG": str(config), "RECOLLECT_DB": ""}

    run("add", "in the configured place", env=env)

    assert (tmp_path / "configured.db").exists()


def test_a_project_is_a_path_if_the_folder_exists_and_a_moved_one_is_offered(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "site").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    run("add", "The build uses pnpm.", "--project", "work/site")
    run("add", "A name with a slash.", "--project", "no/folder")
    absolute = json_of(run("search", "build", "--project", str(tmp_path / "work/site"), "--json"))
    (tmp_path / "work" / "site").rename(tmp_path / "work" / "website")
    renamed = run("search", "build", "--project", "work/website")

    assert [hit["memory"]["content"] for hit in absolute] == ["The build uses pnpm."]
    assert json_of(run("search", "slash", "--project", "no/folder", "--json"))
    former, present = tmp_path / "work" / "site", tmp_path / "work" / "website"
    monkeypatch.chdir(present)
    from_inside = run("search", "build", "--project", ".")
    context = run("context", "build", "--project", ".")
    listed = run("project", "list").output
    command = ["project", "link", str(former), str(present)]
    for result in (renamed, from_inside, context):
        assert f"recollect {' '.join(command)}" in " ".join(result.output.split())
    assert "no such folder here" in listed
    assert "recollect project link OLD NEW" in listed
    assert run(*command).exit_code == 0
    assert json_of(run("search", "build", "--project", "../website", "--json"))
    assert "no such folder here" not in run("project", "list").output

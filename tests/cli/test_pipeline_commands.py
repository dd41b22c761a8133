"""The commands of the pipeline as a program runs them: capture, jobs, work, review, upkeep."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from command_results import error_of, json_of
from recollect import LocalRecollect, ModelUnavailable
from recollect.cli.main import main
from recollect.config import Settings
from recollect.domain.job import MAX_ATTEMPTS
from recollect.models.scripted_models import ScriptedChatModel
from support import FakeClock
from tables import each_row

pytestmark = pytest.mark.door

Run = Callable[..., Result]

HELLO = "Good morning, how are you today?"
PNPM = "We use pnpm for builds."
PORTO = "I live in Porto."


@pytest.fixture
def run(path: Path) -> Run:
    """Run the command on a store of its own, without embeddings."""

    def invoke(*args: str | Path, stdin: str | bytes | None = None) -> Result:
        settings = {"RECOLLECT_DB": str(path), "RECOLLECT_EMBEDDING_BACKEND": "none"}
        return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin, env=settings)

    return invoke


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A file with something worth remembering in it."""
    return written(tmp_path, f"{HELLO} {PNPM} {PORTO}")


@pytest.fixture
def parked(path: Path, clock: FakeClock) -> str:
    """A store with a job that failed for good; its id."""
    model = ScriptedChatModel([ModelUnavailable("the model is away")] * MAX_ATTEMPTS)
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, clock=clock, chat=model) as rec:
        rec.capture_session(f"{HELLO} {PNPM}", project="site")
        for _ in range(MAX_ATTEMPTS):
            rec.drain()
            clock.advance(hours=1)
        [job] = rec.jobs.list(states="parked")
    return job.id


def written(folder: Path, text: str, name: str = "talk.txt") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def candidates(run: Run, number: int) -> list[str]:
    return [json_of(run("add", f"idea {n}", "--inbox", "--json"))["id"] for n in range(number)]


def in_inbox(run: Run, *args: str) -> list[Any]:
    """Return the memories that `inbox --json` tells of."""
    return [one["memory"] for one in json_of(run("inbox", "--json", *args))]


def status_of(run: Run, memory_id: str) -> str:
    return str(json_of(run("show", memory_id, "--json"))["status"])


def check_error(result: Result, text: str, code: int = 1) -> None:
    assert text in error_of(result, code=code)


# ── capture ─────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_captured_and_says_what_comes_next(run: Run, talk: Path) -> None:
    result = run("capture", talk, "--project", "site")

    assert result.exit_code == 0
    assert re.match(r"[0-9a-f-]{36}  captured\n", result.stdout)
    assert "1 pending; `recollect work --once` extracts them now." in result.stdout


def test_captured_with_work_it_is_read_at_once(run: Run, talk: Path) -> None:
    result = run("capture", talk, "--project", "site", "--work")

    assert "done: 2 extracted, 2 held" in result.stdout
    assert "Review the candidates with: recollect inbox" in result.stdout
    assert "pending" not in result.stdout
    assert {one["content"] for one in in_inbox(run)} == {PNPM, PORTO}


def test_where_nothing_is_worth_remembering_it_says_so(run: Run) -> None:
    result = run("capture", "-", "--mode", "note", "--work", stdin="Really?")

    assert "done: nothing worth remembering" in result.stdout


def test_several_files_are_captured_in_the_order_given(run: Run, tmp_path: Path) -> None:
    files = [written(tmp_path, f"{HELLO} We use tool {n}.", f"{n}.txt") for n in range(3)]

    events = json_of(run("capture", *files, "--project", "site", "--json"))
    after = json_of(run("capture", *files, "--project", "site", "--work", "--json"))

    assert [event["state"] for event in events] == ["captured"] * 3
    assert [event["id"] for event in after] == [event["id"] for event in events]
    assert [event["state"] for event in after] == ["done"] * 3
    assert {event["trigger"] for event in events} == {"session"}


def test_a_file_of_several_conversations_gives_several_lines(run: Run, tmp_path: Path) -> None:
    said = [{"messages": [{"role": "user", "content": text}]} for text in (PNPM, PORTO)]
    file = written(tmp_path, json.dumps(said), "talks.json")

    result = run("capture", file)

    assert len(re.findall(r"^[0-9a-f-]{36}  captured$", result.stdout, re.MULTILINE)) == 2
    assert "2 pending" in result.stdout


def test_standard_input_is_captured(run: Run) -> None:
    [event] = json_of(run("capture", "-", "--project", "site", "--json", stdin=f"{HELLO} {PNPM}"))

    assert event["trigger"] == "session"
    assert json_of(run("work", "--once", "--json"))["done"] == {"consolidate": 1, "extract": 1}


def test_each_sentence_of_a_note_is_kept(run: Run, tmp_path: Path) -> None:
    note = written(tmp_path, "The staging box has four cores. The other one has two.", "n.md")

    run("capture", note, "--mode", "note", "--project", "site", "--work")

    found = in_inbox(run, "--project", "site")
    assert {one["content"] for one in found} == {
        "The staging box has four cores.",
        "The other one has two.",
    }


def test_what_is_told_of_a_file_is_kept_with_it(run: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "Ana: I prefer tea, do you?\nBob: no\nAna: I live in Porto.\nBob: ok")
    captured = run(
        "capture",
        file,
        "--json",
        "--user",
        "Ana",
        "--project",
        "site",
        "--scope",
        "project",
        "--work",
        "--title",
        "Tea time",
        "--observed-at",
        "2026-05-01",
        "--session",
        "s1",
        "--agent",
        "bob",
    )

    [found] = [one for one in in_inbox(run) if one["type"] == "profile"]
    assert found["content"] == "I live in Porto."
    assert found["scope"] == "project"
    assert found["session_id"] == "s1"
    assert found["observed_at"].startswith("2026-05-01")
    assert json_of(captured)[0]["title"] == "Tea time"


@each_row(
    ("args", "code", "text"),
    [
        (["missing.txt"], 1, "cannot read missing.txt: No such file or directory"),
        (["{folder}"], 1, "is a folder; name a transcript file in it"),
        (["{empty}"], 1, "The transcript is empty"),
        (["{talk}", "--scope", "project"], 1, "scope project needs the project"),
        (["{talk}", "--user", "Zoe"], 1, "no message of this conversation has the speaker 'Zoe'"),
        (["{talk}", "--observed-at", "soon"], 1, "observed_at 'soon' is not a date or time"),
        (["{talk}", "--title", "x" * 501], 1, "title has 501 characters"),
        (["{talk}", "--agent", ""], 1, "agent's name is empty"),
        (["{talk}", "--mode", "diary"], 2, "'diary' is not one of"),
        (["{talk}", "--scope", "universe"], 2, "'universe' is not one of"),
        ([], 2, "Missing argument 'FILE...'"),
        (["{talk}", "--db", "/proc/nowhere/x.db"], 1, "cannot create"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_what_cannot_be_captured_is_one_line_and_an_exit_code(
    run: Run, tmp_path: Path, talk: Path, args: list[str], code: int, text: str
) -> None:
    names = {"folder": tmp_path, "talk": talk, "empty": written(tmp_path, "", "empty.txt")}

    check_error(run("capture", *[arg.format(**names) for arg in args]), text, code)

    assert json_of(run("status", "--json"))["counts"]["sources"] == 0


def test_nothing_on_standard_input_is_told(run: Run) -> None:
    check_error(run("capture", "-", stdin=""), "The transcript is empty")


def test_a_bad_file_among_good_ones_captures_none_or_tells_which(
    run: Run, tmp_path: Path, talk: Path
) -> None:
    result = run("capture", talk, tmp_path / "missing.txt")

    captured = json_of(run("status", "--json"))["counts"]["sources"]
    assert result.exit_code == 1
    assert captured == 0 or "captured" in result.stdout


def test_several_conversations_on_standard_input_are_captured_or_kindly_refused(run: Run) -> None:
    said = [{"messages": [{"role": "user", "content": text}]} for text in (PNPM, PORTO)]

    result = run("capture", "-", stdin=json.dumps(said))

    assert "capture_file" not in result.output


def test_a_file_in_which_nobody_speaks_is_told(run: Run, tmp_path: Path) -> None:
    line = json.dumps({"type": "summary", "summary": "x", "leafUuid": "1"})

    result = run("capture", written(tmp_path, line, "s.jsonl"))

    assert result.output


@pytest.mark.door
def test_bytes_that_are_no_text_on_standard_input_are_no_traceback(path: Path) -> None:
    command = Path(sys.executable).parent / "recollect"
    settings = {
        "RECOLLECT_DB": str(path),
        "RECOLLECT_EMBEDDING_BACKEND": "none",
        "PYTHONIOENCODING": "utf-8:strict",  # as in any locale but C and POSIX
    }

    done = subprocess.run(
        [str(command), "capture", "-"],
        input=b"We use pnpm for builds, na\xefve as it is.",
        env={**os.environ, **settings},
        capture_output=True,
        check=False,
    )

    assert b"Traceback" not in done.stderr


# ── work and jobs ───────────────────────────────────────────────────────────────────────────────


def test_a_worker_that_runs_once_reads_what_waits_and_says_what_it_did(
    run: Run, talk: Path
) -> None:
    run("capture", talk, "--project", "site")

    assert run("work", "--once").stdout == "2 jobs done: 1 consolidate, 1 extract.\n"
    assert run("work", "--once").stdout == "0 jobs done.\n"
    assert json_of(run("work", "--once", "--json")) == {"done": {}}


def test_jobs_are_listed_and_shown(run: Run, talk: Path) -> None:
    run("capture", talk, "--project", "site")

    [job] = json_of(run("jobs", "list", "--json"))
    listed = run("jobs", "list").stdout
    shown = run("jobs", "show", job["id"]).stdout
    as_json = json_of(run("jobs", "show", job["id"], "--json"))

    assert re.search(rf"extract  todo  {job['id']}  due \d{{4}}-\d\d-\d\d .* UTC", listed)
    assert "1 jobs" in listed
    assert f"event {job['event_id']}: captured" in shown
    assert as_json["job"] == job
    assert as_json["event"]["id"] == job["event_id"]
    assert run("jobs", "list", "--state", "done").stdout == "0 jobs\n"
    assert json_of(run("jobs", "list", "--state", "done", "--state", "parked", "--json")) == []


def test_a_parked_job_tells_why_and_is_retried(run: Run, parked: str) -> None:
    listed = run("jobs", "list")
    doctor = run("doctor")
    worked = run("work", "--once")
    again = run("jobs", "retry", parked)
    run("work", "--once")

    assert f"ask  parked  {parked}  {MAX_ATTEMPTS} attempts" in listed.stdout
    assert "the model is away" in listed.stdout
    assert doctor.exit_code == 1
    assert "✗ failed jobs: 1 parked; recollect jobs list" in doctor.stdout
    assert "1 failed for good; see: recollect jobs list" in worked.stdout
    assert again.stdout == "1 jobs are due now; `recollect work --once` runs them.\n"
    assert json_of(run("jobs", "show", parked, "--json"))["job"]["state"] == "done"
    assert run("doctor").exit_code == 0


def test_all_parked_jobs_are_retried_at_once(run: Run, parked: str) -> None:
    [job] = json_of(run("jobs", "retry", "--all", "--json"))

    assert (job["id"], job["state"], job["attempts"]) == (parked, "todo", 0)
    assert run("jobs", "retry", "--all").stdout.startswith("0 jobs are due now")


@each_row(
    ("args", "code", "text"),
    [
        (["show", "nope"], 1, "there is no job 'nope'; `recollect jobs list` shows"),
        (["retry", "nope"], 1, "there is no job 'nope'"),
        (["retry"], 2, "name a job, or use --all"),
        (["show"], 2, "Missing argument 'ID'"),
        (["list", "--state", "asleep"], 1, "state 'asleep' is not known; use one of todo"),
        (["list", "--limit", "0"], 1, "limit must be a whole number"),
        (["list", "--limit", "many"], 2, "'many' is not a valid integer"),
        (["list", "--db", "typo.db"], 1, "there is no store at typo.db"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_job_that_cannot_be_meant_is_one_line_and_an_exit_code(
    run: Run, args: list[str], code: int, text: str
) -> None:
    check_error(run("jobs", *args), text, code)


def test_a_job_that_is_done_is_not_retried(run: Run, talk: Path) -> None:
    run("capture", talk, "--work")
    [job, *_] = json_of(run("jobs", "list", "--state", "done", "--json"))

    check_error(run("jobs", "retry", job["id"]), "is done; only a parked or waiting one")


# ── review ──────────────────────────────────────────────────────────────────────────────────────


def test_outside_a_terminal_the_inbox_is_a_list(run: Run, talk: Path) -> None:
    run("capture", talk, "--project", "site", "--work")
    plain, listed = run("inbox"), run("inbox", "--list")
    found = in_inbox(run)

    assert plain.stdout == listed.stdout
    assert "2 candidates" in plain.stdout
    assert all(one["id"] in plain.stdout and one["content"] in plain.stdout for one in found)
    assert all(one["evidence"][0]["quote"] == one["content"] for one in found)
    assert in_inbox(run, "--type", "profile")[0]["content"] == PORTO
    # What belongs to a candidate is indented, and a blank line stands before the next group.
    lines = plain.stdout.splitlines()
    assert [line for line in lines if line.startswith("- ")] == [
        f"- {one['content']}" for one in found
    ]
    assert lines.count("") == 1
    assert len(in_inbox(run, "--limit", "1")) == 1
    assert run("inbox", "--json", "--project", "other").exit_code == 0
    assert PNPM not in run("inbox", "--list", "--project", "other").stdout
    assert len(re.findall(r"^  site · .+, \d{4}-\d\d-\d\d$", plain.stdout, re.MULTILINE)) >= 1


def test_a_search_that_only_candidates_answer_says_so(run: Run, talk: Path) -> None:
    run("capture", talk, "--project", "site", "--work")
    before = run("search", "pnpm builds", "--project", "site").stdout
    run("promote", *(one["id"] for one in in_inbox(run)))
    after = run("search", "pnpm builds", "--project", "site").stdout

    assert before.startswith("Only unreviewed statements answer this")
    assert PNPM in after
    assert "Only unreviewed" not in after


def test_a_search_without_results_names_jobs_that_have_not_run(run: Run, talk: Path) -> None:
    run("capture", talk, "--project", "site")
    before = run("search", "pnpm builds", "--project", "site").stdout
    run("work", "--once")
    after = run("search", "chess tournament", "--project", "site").stdout

    assert "Pending jobs: 1. `recollect work --once` runs them" in before
    assert "Pending jobs" not in after


def test_an_empty_inbox_is_empty(run: Run) -> None:
    assert run("inbox").stdout == "0 candidates\n"
    assert in_inbox(run) == []


def test_several_are_promoted_rejected_and_taken_back_at_once(run: Run) -> None:
    one, two, three, four = candidates(run, 4)
    kept = json_of(run("promote", one, two, "--reason", "good", "--json"))
    gone = json_of(run("reject", three, four, "--reason", "bad", "--json"))
    back = json_of(run("undo", one, three, "--json"))

    assert [memory["status"] for memory in kept] == ["active", "active"]
    assert [memory["status"] for memory in gone] == ["archived", "archived"]
    assert [memory["status"] for memory in back] == ["inbox", "inbox"]
    changes = json_of(run("explain", two, "--json"))["changes"]
    assert (changes[-1]["by"], changes[-1]["reason"]) == ("user", "good")


def test_one_that_is_promoted_is_one_in_json_and_readable_in_text(run: Run) -> None:
    [one] = candidates(run, 1)

    assert json_of(run("promote", one, "--json"))["id"] == one
    assert "profile · global · inbox" in run("undo", one).stdout
    assert "archived" in run("reject", one).stdout


def test_promoting_in_place_of_a_rival(run: Run) -> None:
    old = json_of(run("add", "The server listens on port 80.", "--project", "site", "--json"))["id"]
    new = json_of(
        run("add", "The server listens on port 81.", "--project", "site", "--inbox", "--json")
    )["id"]
    run("link", new, "contradicts", old)
    run("promote", new, "--replace", "--reason", "it moved")
    replaced = status_of(run, old)
    run("undo", new)

    assert replaced == "superseded"
    assert (status_of(run, old), status_of(run, new)) == ("active", "inbox")


@pytest.mark.parametrize("command", ["promote", "reject"])
def test_promoting_and_rejecting_several_is_all_or_none(run: Run, command: str) -> None:
    one, two = candidates(run, 2)

    check_error(run(command, one, two, "nope"), "there is no memory 'nope'")

    assert [status_of(run, each) for each in (one, two)] == ["inbox", "inbox"]


def test_promoting_several_in_place_of_rivals_is_all_or_none(run: Run) -> None:
    [one] = candidates(run, 1)

    check_error(run("promote", one, "nope", "--replace"), "there is no memory 'nope'")

    assert status_of(run, one) == "inbox"


def test_taking_several_back_is_all_or_none(run: Run) -> None:
    [one] = candidates(run, 1)
    run("promote", one)

    check_error(run("undo", one, "nope"), "there is no memory 'nope'")

    assert status_of(run, one) == "active"


@each_row(
    ("args", "code", "text"),
    [
        (["promote"], 2, "Missing argument 'ID...'"),
        (["reject"], 2, "Missing argument 'ID...'"),
        (["undo"], 2, "Missing argument 'ID...'"),
        (["confirm"], 2, "Missing argument 'ID'"),
        (["promote", "{active}"], 1, "is active and cannot become active"),
        (["reject", "{active}"], 1, "only a candidate or a statement can be decided"),
        (["undo", "{active}"], 1, "has not changed since it was written"),
        (["undo", "nope"], 1, "there is no memory 'nope'"),
        (["confirm", "nope"], 1, "there is no memory 'nope'"),
        (["consolidate", "nope"], 1, "there is no memory 'nope'"),
        (["inbox", "--limit", "0"], 1, "limit must be a whole number"),
        (["inbox", "--type", "fact"], 2, "'fact' is not one of"),
        (["maintain", "--limit", "0"], 1, "limit must be a whole number"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_reviewed_is_one_line_and_an_exit_code(
    run: Run, args: list[str], code: int, text: str
) -> None:
    active = json_of(run("add", "written by hand", "--json"))["id"]

    check_error(run(*[arg.format(active=active) for arg in args]), text, code)


def test_consolidating_on_request_says_what_became_of_the_candidates(run: Run) -> None:
    assert run("consolidate").stdout == "There are no candidates.\n"
    run("add", "Use pnpm for builds.", "--project", "site")
    run("add", "Use pnpm for builds.", "--project", "site", "--inbox")
    [idea, _] = candidates(run, 2)

    assert json_of(run("consolidate", idea, "--json")) == {"held": 1}
    counted = run("consolidate").stdout.strip().split(", ")
    assert sorted(counted) == ["1 repeated", "2 held"]


def test_maintenance_lists_duplicates_and_stale_facts(
    run: Run, path: Path, clock: FakeClock
) -> None:
    settings = Settings(db=str(path), embedding_backend="none")
    clock.moment = clock.moment.replace(year=2020)
    with LocalRecollect(settings, clock=clock) as rec:
        one, other = (rec.ingest("Use pnpm for builds.", project="site") for _ in range(2))
    told = run("maintain").stdout
    found = json_of(run("maintain", "--json"))
    confirmed = run("confirm", one.id)

    assert "0 embedded; 0 jobs taken over from lost workers." in told
    assert "Duplicates? Use pnpm for builds." in told
    assert "Still true? Use pnpm for builds." in told
    assert f"not confirmed since 2020-05-08; recollect confirm {one.id}" in told
    assert {one["id"] for one in found["stale"]} == {one.id, other.id}
    assert len(found["duplicates"]) == 1
    assert "Use pnpm for builds." in confirmed.stdout
    assert [one["id"] for one in json_of(run("maintain", "--json"))["stale"]] == [other.id]


# ── doctor and status ───────────────────────────────────────────────────────────────────────────


def test_doctor_tells_of_the_queue_the_inbox_junk_and_contradictions(run: Run, talk: Path) -> None:
    run("capture", talk, "--project", "site", "--work")
    run("capture", "-", stdin="We deploy with make.")
    first, _ = in_inbox(run)
    run("reject", first["id"])
    result = run("doctor")
    checks = {one["check"]: one for one in json_of(run("doctor", "--json"))}

    assert result.exit_code == 0
    assert "✓ queue: 1 open, 2 done" in result.stdout
    assert "✓ failed jobs: 0 parked\n" in result.stdout
    assert "✓ inbox: 1 candidates; recollect inbox" in result.stdout
    assert "✓ junk rate: 50% (1 of 2 extracted were rejected)" in result.stdout
    assert "✓ contradictions: 0 pairs of memories" in result.stdout
    assert checks["queue"] == {"check": "queue", "ok": True, "detail": "1 open, 2 done"}
    assert {"failed jobs", "inbox", "junk rate", "contradictions"} <= set(checks)


def test_status_counts_jobs_by_state(run: Run, talk: Path) -> None:
    assert "jobs:" not in run("status").stdout
    run("capture", talk, "--work")
    run("capture", "-", stdin="We deploy with make.")

    assert "jobs: 2 done, 1 todo" in run("status").stdout
    assert json_of(run("status", "--json"))["jobs"] == {"done": 2, "todo": 1}


# ── help, and hostile text ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            ["capture"],
            ["Extract memories from transcripts", "--mode", "--work", "--user", "FILE..."],
        ),
        (["work"], ["Run a worker", "--once", "recollect work --once"]),
        (["jobs"], ["list", "show", "retry", "recollect jobs list"]),
        (["jobs", "list"], ["--state", "--limit", "in the order they are due"]),
        (["jobs", "show"], ["Print a job"]),
        (["jobs", "retry"], ["--all", "Make parked jobs due now"]),
        (["inbox"], ["keep, reject, edit, skip, undo", "--list", "recollect inbox"]),
        (["promote"], ["--reason", "--replace", "all or none"]),
        (["reject"], ["--reason", "all or none"]),
        (["undo"], ["Undo the last change"]),
        (["consolidate"], ["Compare candidates"]),
        (["maintain"], ["duplicates", "outdated", "--limit"]),
        (["confirm"], ["still true"]),
        (["doctor"], ["queue"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_command_tells_how_it_is_used(run: Run, command: list[str], told: list[str]) -> None:
    result = run(*command, "--help")

    flat = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert all(text in flat for text in told)
    if command not in (["jobs"], ["inbox"]):
        assert "--json" in flat
        assert "--db" in flat


def test_control_characters_of_a_transcript_do_not_reach_the_terminal(
    run: Run, tmp_path: Path
) -> None:
    evil = "We use \x1b[2J\x07tool [bold]x[/bold] for builds."
    run("capture", written(tmp_path, evil), "--mode", "note", "--work")

    shown = run("inbox").stdout + run("maintain").stdout + run("jobs", "list").stdout

    assert "\x1b" not in shown
    assert "[bold]x[/bold]" in shown

"""What is said before a tool call: a decision, another form of the command, or nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.domain.tool_call import ActionAdvice
from recorded_sessions import RecordedSession
from support import FakeClock, open_memory
from tables import each_row

MISSING_MODULE = "ModuleNotFoundError: No module named 'app'"


@pytest.fixture
def rec(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    with open_memory(path, clock=clock, words_only=True) as rec:
        yield rec


def decide(rec: LocalRecollect, content: str, project: str = "shop") -> str:
    return rec.ingest(content, type="decision", project=project).id


def run(rec: LocalRecollect, command: str, **more: str) -> ActionAdvice | None:
    return rec.captures.advice("Bash", {"command": command}, **{"project": "shop", **more})


def write(rec: LocalRecollect, path: str, content: str) -> ActionAdvice | None:
    arguments = {"file_path": path, "content": content}
    return rec.captures.advice("Write", arguments, project="shop")


def capture(rec: LocalRecollect, session: RecordedSession) -> None:
    rec.capture_session(session.text(), project="shop")
    rec.drain()


def failed_tests() -> RecordedSession:
    session = RecordedSession().run("pytest tests/a.py", MISSING_MODULE, failed=True)
    return session.run("uv run pytest tests/a.py", "3 passed")


def test_a_decision_is_quoted_before_a_command_that_it_forbids(rec: LocalRecollect) -> None:
    decision = decide(rec, "We use pnpm here, never npm.")

    advice = run(rec, "cd web && npm install msw")

    assert advice is not None
    assert advice.id == decision
    assert "“We use pnpm here, never npm.”" in advice.text
    assert "\n" not in advice.text


@each_row(
    "command",
    [
        "pnpm add msw",
        "rg npm docs",
        "git status",
        'git commit -m "Remove the npm lock file"',
        "cat .npmrc | grep npm",
        "",
    ],
)
def test_other_commands_get_nothing(rec: LocalRecollect, command: str) -> None:
    decide(rec, "We use pnpm here, never npm.")

    assert run(rec, command) is None


@each_row(
    ("command", "is_told"),
    [
        ("cargo add native-tls openssl-sys", True),
        ("npm i -D openssl-wrapper@2", True),
        ("cargo build -p openssl-sys", False),  # it is there already
        ("cargo add rustls --features no-openssl-x", False),
    ],
)
def test_a_package_that_belongs_to_a_forbidden_one_is_forbidden_too(
    rec: LocalRecollect, command: str, is_told: bool
) -> None:
    decide(rec, "TLS comes from rustls, no openssl.")

    assert (run(rec, command) is not None) == is_told


def test_the_words_of_a_rule_must_meet_in_one_part_of_a_command(rec: LocalRecollect) -> None:
    decide(rec, "Never push to main, open a pull request.")

    assert run(rec, "git add -A && git push origin main") is not None
    assert run(rec, "git switch main && git push origin prices") is None


def test_a_long_text_that_mentions_a_rule_is_not_quoted(rec: LocalRecollect) -> None:
    decide(rec, "We use pnpm here, never npm. " + "It is a long story. " * 60)

    assert run(rec, "npm install") is None


def test_a_decision_of_another_project_is_not_quoted(rec: LocalRecollect) -> None:
    decide(rec, "We use pnpm here, never npm.", project="bank")

    assert run(rec, "npm install") is None
    assert run(rec, "npm install", project="bank") is not None


def test_a_change_that_adds_what_was_rejected_is_named_but_not_prose_about_it(
    rec: LocalRecollect,
) -> None:
    decide(rec, "For money we always use integer cents, never floats.")

    assert write(rec, "/shop/src/total.ts", "return parseFloat(price)") is not None
    assert write(rec, "/shop/src/total.ts", "return cents") is None
    assert write(rec, "/shop/docs/money.md", "We do not use floats.") is None


@each_row(
    ("text", "is_told"),
    [
        ("// floats are wrong here\nreturn cents", False),
        ("/**\n * No floats.\n */\nreturn cents", False),
        ("return cents # no floats", False),
        ("return cents // no floats", False),
        ("-- floats\nselect 1", False),
        ("# floats\nreturn float(x)", True),
        ("#include <floats.h>", True),
        ("#[floats]", True),
        ("x = '//floats.example'", True),
        ("*floats = 3;", True),
    ],
)
def test_a_comment_may_mention_what_is_rejected(
    rec: LocalRecollect, text: str, is_told: bool
) -> None:
    decide(rec, "For money we always use integer cents, never floats.")

    assert (write(rec, "/shop/src/total.c", text) is not None) == is_told


def test_a_rule_about_a_file_or_its_folder_is_quoted_before_a_change_of_it(
    rec: LocalRecollect,
) -> None:
    decide(rec, "The files in tests/data are generated, never edit them by hand.")
    decide(rec, "Every migration needs a down script.")

    assert write(rec, "/shop/tests/data/a.json", "{}") is not None
    assert write(rec, "/shop/migrations/7.sql", "SELECT 1") is not None
    assert write(rec, "/shop/tests/test_a.py", "pass") is None


def test_a_command_that_a_decision_names_in_another_form_is_answered_with_it(
    rec: LocalRecollect,
) -> None:
    decide(rec, "Run the tests with `cargo nextest run`.")

    assert run(rec, "cargo test restore") is not None
    assert run(rec, "cargo nextest run restore") is None
    assert run(rec, "cargo build") is None


def test_a_failed_form_of_a_command_is_answered_with_the_form_that_worked(
    rec: LocalRecollect,
) -> None:
    capture(rec, failed_tests())

    advice = run(rec, "pytest tests/b.py -k x")

    assert advice is not None
    assert "`uv run pytest tests/a.py` worked afterwards" in advice.text
    assert MISSING_MODULE not in advice.text  # what a tool printed is not injected
    assert run(rec, "uv run pytest tests/b.py") is None
    assert run(rec, "pytest tests/b.py", project="bank") is None


def test_a_command_that_worked_since_its_failure_gets_nothing(rec: LocalRecollect) -> None:
    capture(rec, failed_tests().run("pytest tests/c.py", "1 passed"))

    assert run(rec, "pytest tests/b.py") is None


def test_a_failing_test_of_code_in_progress_is_not_a_failed_form(rec: LocalRecollect) -> None:
    session = RecordedSession().run("uv run pytest tests/a.py", "1 failed, 2 passed", failed=True)
    capture(rec, session.run("uv run pytest tests/a.py -x", "3 passed"))

    assert run(rec, "uv run pytest tests/a.py") is None


def test_a_command_that_the_user_declined_is_named(rec: LocalRecollect) -> None:
    declined = "The user doesn't want to proceed with this tool use."
    capture(rec, RecordedSession().call("Bash", {"command": "git push -f"}, declined))

    advice = run(rec, "git push -f")

    assert advice is not None
    assert "declined" in advice.text


def test_an_error_is_answered_with_what_worked_after_a_similar_one(rec: LocalRecollect) -> None:
    capture(rec, failed_tests())

    assert run(rec, "python -m pytest", error=f"Traceback\n{MISSING_MODULE}") is not None
    assert run(rec, "python -m pytest", error="ConnectionError: refused by host") is None


def test_text_that_was_perhaps_pasted_is_quoted_only_after_a_review(rec: LocalRecollect) -> None:
    message = "From the readme:\nWe use pnpm here, never npm."
    rec.capture_session([{"role": "user", "content": message}], project="shop")
    rec.drain()
    assert run(rec, "npm install") is None

    candidates = rec.memories.list(project="shop", statuses=["inbox"], limit=50)
    [candidate] = [memory for memory in candidates if "never npm" in memory.content]
    rec.inbox.decide(candidate.id, "keep")

    assert run(rec, "npm install") is not None


def test_what_the_user_typed_is_quoted_before_a_review_and_marked(rec: LocalRecollect) -> None:
    said = "For dates we use Temporal, never moment."
    rec.capture_session([{"role": "user", "content": said}], project="shop")
    rec.drain()

    advice = run(rec, "pnpm add moment")

    assert advice is not None
    assert ("not reviewed" in advice.text) is not advice.is_reviewed

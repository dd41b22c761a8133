"""
Skills drafted from conversations by rules.

How the drafts were judged: sample transcripts of Claude Code, Codex, Gemini CLI and ChatGPT were
read by `text/transcripts`, turned into messages and drafted, and each draft was read next to its
transcript with five questions: could somebody repeat the work from it; is every line true; does
anything in it belong to that machine or hour only; is a failed try told as a pitfall instead of a
step; is it short? Of sixteen sample conversations thirteen hold no work to speak of and are
refused, which is right; the other three give drafts one can follow. The conversations below were
written to hold what the samples lack (retries, corrections, declined calls, proposals that failed),
and their drafts are kept here whole, so that whoever changes a rule reads them again.

Known to be weak: a session with several tasks becomes one skill; a step is only as well named as
the agent's own words; English only.
"""

from typing import Any

import pytest

from conversation_builder import ConversationBuilder, line_texts
from recollect.domain.conversation import Role
from recollect.domain.skill import SkillOrigin
from recollect.engine.learn.skill_draft import draft_skill
from recollect.errors import InvalidInput
from recollect.text.skill_file import parse_skill, render_skill
from tables import each_row


def deployment() -> ConversationBuilder:
    site = "/Users/alice/code/site"
    return (
        ConversationBuilder()
        .user("Hi! Could you deploy the docs site to staging?")
        .run(f"ls -la {site}", "package.json", say="Let me look at the project first.")
        .run(
            f"cd {site} && npm install",
            "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree",
            say="I'll install the dependencies.",
        )
        .user("No, use pnpm here. We never use npm in this repo.")
        .run(
            f"cd {site} && pnpm install",
            "Done in 3s",
            say="Got it. Let me install the dependencies with pnpm.",
        )
        .run(
            "pnpm build",
            "Error: Cannot find module '@site/theme'\nexit code: 1",
            say="Now I'll build the site.",
        )
        .edit(
            f"{site}/tsconfig.json",
            say="The problem is that the alias for @site is missing. Let me add the alias.",
        )
        .run("pnpm build", "Built 120 pages\nexit code: 0", say="Building again.")
        .run(
            f"TOKEN=[redacted:service-key] ./ship --dir {site}/dist",
            "Deployed, 0 errors.",
            note="Deploy the build to staging",
        )
        .agent("The docs site is live on staging.")
        .user("Great, thanks!")
    )


def test_a_session_with_tools_becomes_steps_commands_and_pitfalls() -> None:
    draft = deployment().draft()

    assert draft.description == (
        "Deploy the docs site to staging. Use it when asked for this or the like. Holds 4 steps, "
        "3 commands, 2 pitfalls; uses pnpm, ship."
    )
    assert (
        draft.body
        == """\
# Learnt

Goal: Deploy the docs site to staging (message 1)

`<project>` is the root of the project.

## Steps

1. Install the dependencies with pnpm: `pnpm install` (message 7)
2. Add the alias: edit `tsconfig.json` (message 11)
3. Build the site: `pnpm build` (message 13)
4. Deploy the build to staging: `TOKEN=<service-key> ./ship --dir <project>/dist` (message 15)

## Commands

```sh
# message 7
pnpm install
# message 13
pnpm build
# message 15
TOKEN=<service-key> ./ship --dir <project>/dist
```

## Pitfalls

- The user: “No, use pnpm here.” It was about `npm install`, which had failed (“npm ERR! \
ERESOLVE unable to resolve dependency tree”); `pnpm install` took its place. (messages 4, 6, 7)
- `pnpm build` failed: “Error: Cannot find module '@site/theme'”. The problem is that \
the alias for @site is missing. It worked after a change of `tsconfig.json`. (messages 9, 11, 13)"""
    )


def test_every_line_rests_on_messages_that_exist() -> None:
    talk = deployment()

    draft = talk.draft()

    lines = (draft.goal, *draft.steps, *draft.commands, *draft.pitfalls)
    used = sorted({position for line in lines for position in line.positions})
    assert draft.references == tuple(f"id-{position}" for position in used)
    assert all(line.positions for line in lines)
    assert set(draft.references) <= {message.id for message in talk.messages}


def test_a_draft_is_a_sound_skill() -> None:
    draft = deployment().draft()

    skill = parse_skill(
        render_skill(draft.name, draft.description, draft.body),
        folder=draft.name,
        origin=SkillOrigin.PROJECT,
        path="",
    )

    assert skill.problems == ()
    assert skill.body == draft.body


def test_a_conversation_without_tools_becomes_what_the_agent_told() -> None:
    draft = (
        ConversationBuilder()
        .user("How do I set up a Postgres replica on Ubuntu?")
        .agent(
            "Here's how:\n\n1. **Install Postgres** on the new machine.\n2. Stop the service.\n"
            "3. Copy the data with pg_basebackup.\n\n"
            "```bash\nsudo apt install postgresql-16\n# as postgres\n"
            "pg_basebackup -h primary \\\n  -D /var/lib/postgresql/main\n```\n"
        )
        .user("I get this error:\n\npg_basebackup: error: FATAL: no pg_hba.conf entry")
        .agent(
            "The issue is that the primary does not allow replication. First, add a line to "
            "pg_hba.conf on the primary.\n\n```console\n$ sudo systemctl reload postgresql\nok\n```"
        )
        .user("That worked, thank you")
        .draft()
    )

    assert (
        draft.body
        == """\
# Learnt

Goal: Set up a Postgres replica on Ubuntu (message 1)

## Steps

1. Install Postgres on the new machine (message 2)
2. Stop the service (message 2)
3. Copy the data with pg_basebackup (message 2)
4. Add a line to pg_hba.conf on the primary (message 4)

## Commands

```sh
# message 2
sudo apt install postgresql-16
pg_basebackup -h primary -D /var/lib/postgresql/main
# message 4
sudo systemctl reload postgresql
```

## Pitfalls

- `pg_basebackup -h primary -D /var/lib/postgresql/main` did not work: “pg_basebackup: \
error: FATAL: no pg_hba.conf entry”. The issue is that the primary does not allow replication. \
What helped: `sudo systemctl reload postgresql`. (messages 2, 3, 4)"""
    )


def test_parts_of_messages_are_read_like_calls() -> None:
    talk = ConversationBuilder().user(
        "Fix the nightly import in /home/bob/srv/importer, it fails on Python 3.12."
    )
    root = "/home/bob/srv/importer"

    def call(
        number: int, tool: str, arguments: dict[str, Any], answer: str, *, bad: bool, say: str = ""
    ) -> None:
        use = {"type": "tool_use", "id": str(number), "name": tool, "input": arguments}
        talk.add(Role.ASSISTANT, say, parts=({"type": "text", "text": say}, use))
        result = {
            "type": "tool_result",
            "tool_use_id": str(number),
            "content": [{"type": "text", "text": answer}],
        }
        talk.add(Role.USER, answer, parts=({**result, "is_error": bad},))

    call(
        1,
        "Bash",
        {"command": f"cd {root} && pytest -q"},
        "E\nModuleNotFoundError: No module named 'imp'",
        bad=True,
        say="I'll run the tests.",
    )
    call(
        2,
        "Edit",
        {"file_path": f"{root}/plugins.py"},
        "ok",
        bad=False,
        say="It turns out that `imp` was removed in Python 3.12.",
    )
    call(
        3,
        "Bash",
        {"command": f"cd {root} && pytest -q"},
        "43 passed",
        bad=False,
        say="I've replaced imp with importlib.",
    )
    call(
        4,
        "Bash",
        {"command": f"cd {root} && git commit -am 'Replace imp' && git push"},
        "The user doesn't want to proceed with this tool use.",
        bad=True,
    )
    talk.user("Don't push to main, we always open a pull request.")
    call(
        5,
        "Bash",
        {"command": f"cd {root} && gh pr create --fill", "description": "Open a pull request"},
        "https://example.com/pull/3",
        bad=False,
    )

    draft = talk.draft()

    assert line_texts(draft.steps) == [
        "Replace imp with importlib: edit `plugins.py`",
        "Run the tests: `pytest -q`",
        "Open a pull request: `gh pr create --fill`",
    ]
    assert line_texts(draft.pitfalls) == [
        "`pytest -q` failed: “ModuleNotFoundError: No module named 'imp'”. It turns out that "
        "`imp` was removed in Python 3.12. It worked after a change of `plugins.py`.",
        "The user: “Don't push to main, we always open a pull request.” It was about "
        '`git commit -am "<message>" && git push`.',
    ]


def test_calls_as_transcripts_write_them_are_read_too() -> None:
    draft = (
        ConversationBuilder()
        .user("Release the package")
        .add(Role.TOOL, 'Bash {"command": "make dist", "description": "Build it all"}', name="Bash")
        .add(Role.TOOL, "dist/a.whl")
        .add(Role.TOOL, 'shell {"command": ["bash", "-lc", "twine upload dist/*"]}')
        .add(Role.TOOL, '{"output": "401", "metadata": {"exit_code": 1}}')
        .draft()
    )

    assert line_texts(draft.commands) == ["make dist"]
    assert line_texts(draft.pitfalls) == [
        '`twine upload dist/*` failed: “{"output": "401", "metadata": {"exit_code": 1}}”.'
    ]


def test_looking_around_is_neither_step_nor_command() -> None:
    draft = (
        ConversationBuilder()
        .user("Clean up the build")
        .run("git status && ls -la | head", "clean")
        .run("cd src; grep -rn TODO . | wc -l", "3")
        .call("Read", {"file_path": "Makefile"}, "all:")
        .run("make clean", "ok")
        .draft()
    )

    assert line_texts(draft.commands) == ["make clean"]
    assert line_texts(draft.steps) == ["Run `make clean`"]


def test_a_list_of_tasks_fills_in_what_no_call_shows() -> None:
    todos = [
        {"content": "Write the migration", "status": "completed"},
        {"content": "Ask the owner for a window", "status": "completed"},
        {"content": "Run the migration", "status": "in_progress"},
        {"content": "Celebrate", "status": "pending"},
    ]

    draft = (
        ConversationBuilder()
        .user("Migrate the database")
        .call("TodoWrite", {"todos": todos}, "ok")
        .edit("/srv/app/migrations/7.sql", say="I'll write the migration.")
        .run("make migrate", "ok", note="Run the migration")
        .draft()
    )

    assert line_texts(draft.steps) == [
        "Write the migration: edit `7.sql`",
        "Ask the owner for a window",
        "Run the migration: `make migrate`",
    ]


def test_the_goal_is_the_first_request_and_its_later_change() -> None:
    draft = (
        ConversationBuilder()
        .user("Hello!")
        .agent("Hi, what can I do?")
        .user("Please add a dark theme to the app.")
        .run("make theme", "ok")
        .user("Actually, let's make it follow the system setting.")
        .run("make auto", "ok")
        .draft()
    )

    assert draft.goal.text == (
        "Add a dark theme to the app (later: “Actually, let's make it follow the system setting.”)"
    )
    assert draft.goal.positions == (3, 6)


@each_row(
    "reply",
    [
        "No problem.",
        "Not sure yet, go on",
        "Don't worry about it.",
        "Actually, that's fine.",
        "No.",
    ],
)
def test_what_only_sounds_like_a_correction_is_none(reply: str) -> None:
    draft = (
        ConversationBuilder()
        .user("Ship the release")
        .run("make ship", "ok")
        .user(reply)
        .run("make x", "ok")
        .draft()
    )

    assert draft.pitfalls == ()


def test_a_list_that_explains_is_no_list_of_steps() -> None:
    talk = ConversationBuilder().user("What are decorators?")
    talk.agent(
        "1. **`repeat(times)`** - the factory\n2. **`wrapper`** - the inner function\n3. `x` - y"
    )

    with pytest.raises(InvalidInput, match="nothing to learn"):
        talk.draft()


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="write my-skill"):
        draft_skill(deployment().messages, name="My Skill")

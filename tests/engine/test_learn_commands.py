"""Which commands of a conversation are worth keeping, and in what form."""

from dataclasses import replace

from conversation_builder import ConversationBuilder, line_texts
from tables import each_row


@each_row(
    ("answer", "counts"),
    [
        ("all good", True),
        ("exit code: 0\nerror handling tests passed", True),
        ("Process exited with code 2", False),
        ("fatal: not a git repository", False),
        ("bash: frob: command not found", False),
        ("Traceback (most recent call last):\nKeyError: 'x'", False),
        ("2 failed, 3 passed", False),
        ("0 failed, 3 passed, 0 errors", True),
        ("make: *** [all] Error 2", False),
        ("connection error, but done", True),  # in doubt, and nobody tried again
        ("", True),
    ],
)
def test_a_command_counts_unless_its_answer_says_that_it_failed(answer: str, counts: bool) -> None:
    draft = (
        ConversationBuilder()
        .user("Build and ship it")
        .run("make all", answer)
        .run("make ship", "ok")
        .draft()
    )

    assert ("make all" in line_texts(draft.commands)) is counts


def test_an_error_in_doubt_counts_as_one_when_another_try_follows() -> None:
    draft = (
        ConversationBuilder()
        .user("Start the server")
        .run("serve --port 80", "connection refused on port 80")
        .run("serve --port 8080", "listening")
        .draft()
    )

    assert line_texts(draft.commands) == ["serve --port 8080"]
    assert line_texts(draft.pitfalls) == [
        "`serve --port 80` failed: “connection refused on port 80”. "
        "`serve --port 8080` worked instead."
    ]


def test_the_same_command_is_given_once() -> None:
    talk = ConversationBuilder().user("Fix the three bugs")
    for name in ("a", "b", "c"):
        talk.edit(f"/srv/app/{name}.py", say=f"I'll fix bug {name}.").run("make test", "ok")

    draft = talk.draft()

    assert line_texts(draft.commands) == ["make test"]
    assert line_texts(draft.steps) == [
        "Fix bug a: edit `a.py`",
        "Run `make test`",
        "Fix bug b: edit `b.py`",
        "Fix bug c: edit `c.py`",
    ]


@each_row(
    ("command", "generalized"),
    [
        ("cat /Users/ana/x.txt > /tmp/y.txt", "cat <home>/x.txt > <tmp>/y.txt"),
        ("cp /home/ana/.ssh/config /etc/ssh/", "cp <home>/.ssh/config /etc/ssh/"),
        ("make > /dev/null && /usr/bin/install x", "make > /dev/null && /usr/bin/install x"),
        ("copy C:\\Users\\Ana\\x.txt y", "copy <home>\\x.txt y"),
        ("curl https://x.org/home/ana/api -o y", "curl https://x.org/home/ana/api -o y"),
        ("tool --key [redacted:openai-key]", "tool --key <openai-key>"),
        ("tool --key [redacted]", "tool --key <secret>"),
        ("export KEY=sk-ant-" + "a1" * 12, "export KEY=<anthropic-key>"),
        ("psql -c 'a <> b'", "psql -c 'a <> b'"),
        ("git commit -m 'Fix it' && git push", 'git commit -m "<message>" && git push'),
        ("git commit -m \"$(cat <<'EOF'\nFix\nEOF\n)\"", 'git commit -m "<message>"'),
        ("make x DIR=/mnt/disk/data", "make x DIR=<path>/data"),
    ],
)
def test_what_belongs_to_one_machine_or_hour_becomes_a_placeholder(
    command: str, generalized: str
) -> None:
    draft = ConversationBuilder().user("Do the thing").run(command, "ok").draft()

    assert line_texts(draft.commands) == [generalized]


def test_the_place_of_the_work_is_the_root_of_the_project() -> None:
    talk = ConversationBuilder().user("Do the thing").run("cd /x/y && make -C /x/y/z", "ok")
    talk.messages[0] = replace(talk.messages[0], metadata={"cwd": "/x/y"})

    assert line_texts(talk.draft().commands) == ["make -C <project>/z"]


def test_a_program_that_speaks_of_errors_each_time_has_not_failed() -> None:
    talk = ConversationBuilder().user("Run the checks").run("check all", "error handling: fine")

    draft = talk.edit("/srv/app/x.py").run("check all", "error handling: fine").draft()

    assert line_texts(draft.commands) == ["check all"]
    assert draft.pitfalls == ()

"""Conversations that teach nothing, or hold anything at all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_builder import ConversationBuilder
from recollect.domain.conversation import Role
from recollect.errors import InvalidInput
from recollect.text.skill_file import render_skill
from tables import each_row

pytestmark = pytest.mark.fuzz


@each_row(
    "talk",
    [
        ConversationBuilder(),
        ConversationBuilder().user("Hi").agent("Hello! Let me know what you need."),
        ConversationBuilder().user("Add rate limiting").agent("I'll add rate limiting to the API."),
        ConversationBuilder().user("Read this").call("Read", {"file_path": "a.go"}, "package a"),
        ConversationBuilder().add(Role.SYSTEM, "1. Run x y\n2. Run y z\n3. Run z a"),
    ],
)
def test_a_conversation_that_teaches_nothing_is_refused_with_what_to_do(
    talk: ConversationBuilder,
) -> None:
    with pytest.raises(InvalidInput, match="choose a conversation in which work was done"):
        talk.draft()


def test_memory_that_was_put_into_the_prompt_teaches_nothing() -> None:
    fence = '<memory fingerprint="0123456789012345">\n1. Run a b\n2. Run c d\n3. Run e f\n</memory>'

    draft = ConversationBuilder().user(f"{fence}\nShip the release").run("make ship", "ok").draft()

    assert draft.goal.text == "Ship the release"
    assert "Run a b" not in draft.body


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "type",
                    "function",
                    "name",
                    "input",
                    "arguments",
                    "command",
                    "file_path",
                    "todos",
                    "content",
                    "status",
                    "tool_use_id",
                    "is_error",
                    "text",
                    "tool_use",
                    "tool_result",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
contents = st.text(max_size=80) | st.sampled_from(
    [
        "No, use x.",
        "I'll run the tests.",
        "```sh\nmake\n```",
        "Error: x",
        "1. Run a b\n2. Add c d",
        'Bash {"command": "make"}',
        'Bash {"command": "ma…',
        "exit code 1",
        "Fix the build",
        "[redacted]",
    ]
)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(list(Role)), contents, st.lists(jsons, max_size=2)), max_size=12
    )
)
def test_whatever_was_said_a_draft_is_sound_or_refused(
    rows: list[tuple[Role, str, list[Any]]],
) -> None:
    talk = ConversationBuilder()
    for role, content, odd in rows:
        talk.add(role, content, parts=tuple(odd), tool_calls=tuple(odd))

    try:
        draft = talk.draft()
    except InvalidInput:
        return

    assert render_skill(draft.name, draft.description, draft.body)
    assert all("[redacted" not in line.text for line in draft.commands)
    assert set(draft.references) <= {message.id for message in talk.messages}

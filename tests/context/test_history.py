"""The end of a conversation that fits: whole turns, and no result without its call."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.context.history import last_that_fit, size_of
from recollect.domain.conversation import Message, Role
from support import START


def message(position: int, role: Role, content: str = "x", **given: object) -> Message:
    return Message(
        id=f"m{position}",
        conversation_id="c",
        position=position,
        role=role,
        content=content,
        created_at=START,
        **given,  # type: ignore[arg-type]
    )


def talk(kinds: list[str]) -> list[Message]:
    """Make a conversation: u user, a assistant, c a call of two tools with both answers."""
    found: list[Message] = []
    for kind in kinds:
        at = len(found)
        if kind == "u":
            found.append(message(at, Role.USER, "word " * (at % 7 + 1)))
        elif kind == "a":
            found.append(message(at, Role.ASSISTANT, "reply " * (at % 5 + 1)))
        else:
            calls = tuple({"id": f"{at}-{n}", "function": {"name": "f"}} for n in range(2))
            found.append(message(at, Role.ASSISTANT, "", tool_calls=calls))
            found += [
                message(at + n + 1, Role.TOOL, "out", tool_call_id=f"{at}-{n}") for n in range(2)
            ]
    return found


@given(kinds=st.lists(st.sampled_from(["u", "a", "c"]), max_size=40), budget=st.integers(0, 500))
def test_the_last_messages_fit_and_no_call_is_parted(kinds: list[str], budget: int) -> None:
    messages = talk(kinds)

    kept, cost = last_that_fit(messages, budget=budget, count=len)

    assert cost == sum(size_of(one, len) for one in kept) <= budget
    assert list(kept) == messages[len(messages) - len(kept) :]  # the very end, without a gap
    asked = {call["id"] for one in kept for call in one.tool_calls}
    answered = {one.tool_call_id for one in kept if one.tool_call_id}
    assert asked == answered

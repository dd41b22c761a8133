"""
What the model is asked in a step: the system message, the history, and what is injected.

The system message depends on the agent's instructions, its blocks and its tool rules alone: its
bytes stay the same until one of them changes, so prompt caches work. What changes with every
message (recalled memories, the time, counts) is appended to the user's last message and is never
stored. History that no vendor would accept is mended here: a result comes directly after its call,
and a call without a result gets one.

Pure: text in, text out.
"""

from collections.abc import Iterable, Mapping, Sequence

from recollect.context.block_prompt import compile_blocks
from recollect.context.tool_call_groups import ToolCall, answered_call_ids, tool_calls_of
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Message, Role, Summary
from recollect.models.chat_turn import TurnCall, TurnMessage
from recollect.models.turn_response import to_json_text
from recollect.text.fence import fence_text

CORE_MEMORY = "{CORE_MEMORY}"  # where the instructions of a Letta agent want its blocks
NO_RESULT = "(no result was recorded)"


def system_text(agent: Agent, blocks: Sequence[Block], rules_text: str) -> str:
    """Return the system message."""
    memory = "\n\n".join(part for part in (compile_blocks(blocks).text, rules_text) if part)
    if CORE_MEMORY in agent.system_prompt:
        return agent.system_prompt.replace(CORE_MEMORY, memory)
    return "\n\n".join(part for part in (agent.system_prompt, memory) if part)


def turn_messages(
    messages: Sequence[Message],
    *,
    summary: Summary | None,
    injected: Mapping[str, str],
    reminder: str = "",
) -> tuple[TurnMessage, ...]:
    """
    Return the history as a model gets it.

    *injected* has texts that are appended to messages, by their ids; *reminder* comes last.
    """
    turns: list[TurnMessage] = []
    if summary is not None:
        text = fence_text(f"This conversation so far:\n{summary.content}")
        turns.append(TurnMessage(role="user", text=text))
    results = _results(messages)
    for place, message in enumerate(messages):
        calls = list(tool_calls_of(message))
        if message.role is Role.TOOL or (answered_call_ids(message) and not calls):
            continue  # it comes with its call
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            continue  # instructions are in the system message
        text = message.content
        if message.id in injected:
            text = "\n\n".join(part for part in (text, injected[message.id]) if part)
        if message.role is Role.USER:
            turns.append(TurnMessage(role="user", text=text))
            continue
        turn_calls = tuple(_turn_call(place, number, call) for number, call in enumerate(calls))
        if text.strip() or turn_calls:
            turns.append(TurnMessage(role="assistant", text=text, calls=turn_calls))
        for call in turn_calls:
            result = results.get((place, call.id), NO_RESULT)
            turns.append(TurnMessage(role="tool", text=result, call_id=call.id))
    if reminder:
        turns.append(TurnMessage(role="user", text=reminder))
    return tuple(turns)


def _turn_call(place: int, number: int, call: ToolCall) -> TurnCall:
    arguments = call.arguments
    text = arguments if isinstance(arguments, str) else to_json_text(arguments or {})
    return TurnCall(call.id or f"call_{place}_{number}", call.name, text)


def _results(messages: Sequence[Message]) -> dict[tuple[int, str], str]:
    """Return the result of each call, by the place of its message and its id."""
    made_at: dict[str, int] = {}
    results: dict[tuple[int, str], str] = {}
    for place, message in enumerate(messages):
        for call_id in answered_call_ids(message):
            if call_id in made_at:
                results.setdefault((made_at[call_id], call_id), message.content)
        for number, call in enumerate(tool_calls_of(message)):
            made_at[call.id or f"call_{place}_{number}"] = place  # vendors use ids again
    return results


def prompt_texts(system: str, messages: Iterable[TurnMessage]) -> Iterable[str]:
    """Yield every text of a prompt, to be counted."""
    yield system
    for message in messages:
        yield message.text
        for call in message.calls:
            yield call.name
            yield call.arguments

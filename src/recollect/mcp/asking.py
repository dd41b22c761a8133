"""
Ask the person in front of the client, in both eras of the protocol.

Until 2025-11-25 the server sends `elicitation/create` and waits. Since 2026-07-28 it answers with
`input_required` and the client sends the same call again with the answer; the state that travels
with it is sealed and bound to the call, and names the question, so that a yes counts only for what
was asked. Where the client cannot ask anybody, nobody is asked.
"""

from enum import Enum, auto
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from recollect.text.fingerprint import sha256_hex

STATELESS_SINCE = "2026-07-28"
ASKED = "confirm"
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        ASKED: {"type": "boolean", "title": "Yes, do it", "default": True},
    },
    "required": [ASKED],
}

Context = ServerRequestContext[Any, Any]


class Answer(Enum):
    """What became of a question."""

    YES = auto()
    NO = auto()
    NONE = auto()  # the question was put away: by a person, or by a client nobody sits at
    NOBODY = auto()  # there is nobody who could be asked


async def ask(
    ctx: Context, params: types.CallToolRequestParams, question: str
) -> Answer | types.InputRequiredResult:
    """Return what the person says, or the result by which they are asked."""
    if not _can_ask(ctx):
        return Answer.NOBODY
    if not is_version_at_least(ctx.protocol_version, STATELESS_SINCE):
        return await _asked_now(ctx, question)
    answer = (params.input_responses or {}).get(ASKED)
    if isinstance(answer, types.ElicitResult) and params.request_state == _state(question):
        return _understood(answer)
    form = types.ElicitRequestFormParams(message=question, requested_schema=FORM)
    return types.InputRequiredResult(
        input_requests={ASKED: types.ElicitRequest(params=form)}, request_state=_state(question)
    )


async def _asked_now(ctx: Context, question: str) -> Answer:
    try:
        answer = await ctx.session.elicit_form(question, FORM, related_request_id=ctx.request_id)
    except MCPError:
        return Answer.NOBODY  # it said it could ask, and then could not
    return _understood(answer)


def _can_ask(ctx: Context) -> bool:
    able = ctx.session.client_capabilities
    elicitation = able.elicitation if able is not None else None
    # A bare `elicitation: {}` means forms, the only kind there was.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _understood(answer: types.ElicitResult) -> Answer:
    if answer.action == "cancel":
        return Answer.NONE
    confirmed = (answer.content or {}).get(ASKED)
    return Answer.YES if answer.action == "accept" and confirmed is True else Answer.NO


def _state(question: str) -> str:
    return sha256_hex(question)

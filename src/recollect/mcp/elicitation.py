"""
Ask the user for confirmation (MCP elicitation), in both versions of the protocol.

Up to 2025-11-25 the server sends `elicitation/create` and waits. Since 2026-07-28 it returns
`input_required`, and the client repeats the call with the user's answer. The request state is
sealed, bound to the call and contains a hash of the question, so that an answer counts only for
its question. If the client does not support elicitation, the user is not asked.
"""

from enum import Enum, auto
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from recollect.text.fingerprint import sha256_hex

STATELESS_SINCE = "2026-07-28"
CONFIRM_FIELD = "confirm"

RequestContext = ServerRequestContext[Any, Any]


class Confirmation(Enum):
    """The outcome of a question."""

    CONFIRMED = auto()
    DECLINED = auto()
    DISMISSED = auto()  # cancelled by the user, or by a client without a user
    UNAVAILABLE = auto()  # the client cannot ask the user


async def request_confirmation(
    ctx: RequestContext,
    params: types.CallToolRequestParams,
    question: str,
    *,
    is_yes_by_default: bool,
) -> Confirmation | types.InputRequiredResult:
    """Return the user's answer, or the result that makes the client ask."""
    if not _supports_forms(ctx):
        return Confirmation.UNAVAILABLE
    if not is_version_at_least(ctx.protocol_version, STATELESS_SINCE):
        return await _elicit(ctx, question, confirmation_form(is_yes_by_default))
    answer = (params.input_responses or {}).get(CONFIRM_FIELD)
    state = sha256_hex(question)
    if isinstance(answer, types.ElicitResult) and params.request_state == state:
        return _parse_result(answer)
    schema = confirmation_form(is_yes_by_default)
    form = types.ElicitRequestFormParams(message=question, requested_schema=schema)
    return types.InputRequiredResult(
        input_requests={CONFIRM_FIELD: types.ElicitRequest(params=form)}, request_state=state
    )


def confirmation_form(is_yes_by_default: bool) -> dict[str, Any]:
    """Return the form of a question with its default answer."""
    choice = {"type": "boolean", "title": "Yes, do it", "default": is_yes_by_default}
    return {"type": "object", "properties": {CONFIRM_FIELD: choice}, "required": [CONFIRM_FIELD]}


async def _elicit(ctx: RequestContext, question: str, form: dict[str, Any]) -> Confirmation:
    try:
        answer = await ctx.session.elicit_form(question, form, related_request_id=ctx.request_id)
    except MCPError:
        return Confirmation.UNAVAILABLE  # it announced support but failed to ask
    return _parse_result(answer)


def _supports_forms(ctx: RequestContext) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    # An empty `elicitation: {}` means forms, which once were the only kind.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _parse_result(answer: types.ElicitResult) -> Confirmation:
    if answer.action == "cancel":
        return Confirmation.DISMISSED
    confirmed = answer.action == "accept" and (answer.content or {}).get(CONFIRM_FIELD) is True
    return Confirmation.CONFIRMED if confirmed else Confirmation.DECLINED

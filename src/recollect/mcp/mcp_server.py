"""
The MCP server for any transport: handle requests, run tools in threads, return results.

A `RecollectError` becomes a tool error with its message. Any other exception is logged and reported
in one line, so that a client never sees a traceback. The transport identifies the caller.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from recollect import __version__
from recollect.app.local_recollect import LocalRecollect
from recollect.calling_client import use_client
from recollect.errors import BlockConflict, RecollectError
from recollect.mcp import resources
from recollect.mcp.caller_scope import Caller
from recollect.mcp.elicitation import Confirmation, RequestContext, request_confirmation
from recollect.mcp.pagination import as_json, one_line, truncate
from recollect.mcp.prompts import PROMPTS, MenuPrompt
from recollect.mcp.server_identity import INSTRUCTIONS, NAME, TITLE
from recollect.mcp.tool_definition import ConfirmationRequest, Tool, ToolResult
from recollect.mcp.tool_profiles import profile_tools
from recollect.text.redact import redact

CACHE_FOR_AN_HOUR = CacheHint(ttl_ms=3_600_000, scope="private")
DO_NOT_CACHE = CacheHint(ttl_ms=0, scope="private")
UNNAMED_CLIENT = "MCP client"
MAX_CONFLICT_CHARS = 4_000  # of each of the two texts
CHANGED_MEANWHILE = (
    "Nothing was changed: the data changed while the user was asked. Call again to ask the user "
    "about its current state."
)

log = logging.getLogger(__name__)
T = TypeVar("T")
CallerResolver = Callable[[RequestContext], Awaitable[Caller]]
Page = types.PaginatedRequestParams | None


def create_mcp_server(rec: LocalRecollect, resolve_caller: CallerResolver) -> Server[Any]:
    """Return a server of *memory*; *resolve_caller* returns the caller of a request."""
    handlers = _McpHandlers(rec, resolve_caller)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": CACHE_FOR_AN_HOUR,
            "prompts/list": CACHE_FOR_AN_HOUR,
            "resources/templates/list": CACHE_FOR_AN_HOUR,
            "resources/list": DO_NOT_CACHE,
            "resources/read": DO_NOT_CACHE,
        },
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # No telemetry. The request state of a question is sealed.
    sealed = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)
    server.middleware[:] = [sealed]
    return server


class _McpHandlers:
    def __init__(self, rec: LocalRecollect, callers: CallerResolver) -> None:
        self._memory = rec
        self._resolve_caller = callers

    async def list_tools(self, ctx: RequestContext, params: Page) -> types.ListToolsResult:
        _, tools = await _with_protocol_errors(self._caller_and_tools(ctx))
        return types.ListToolsResult(tools=[_protocol_tool(tool) for tool in tools])

    async def call_tool(
        self, ctx: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        caller, tools = await _with_protocol_errors(self._caller_and_tools(ctx))
        tool = next((tool for tool in tools if tool.name == params.name), None)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]}")
        try:
            with use_client(caller.client or UNNAMED_CLIENT):
                return await self._run_tool(ctx, params, tool, caller)
        except BlockConflict as error:
            yours = truncate(error.yours, MAX_CONFLICT_CHARS)
            current = truncate(error.theirs, MAX_CONFLICT_CHARS)
            return _error_result(
                f"{error}\n\nThe current version is {error.version}.\n\n"
                f"Your text:\n{yours}\n\nCurrent text:\n{current}"
            )
        except RecollectError as error:
            return _error_result(str(error))
        except MCPError:
            raise
        except Exception as error:  # tool boundary: an error must not end the connection
            log.exception("tool %s failed", tool.name)
            return _error_result(f"unexpected {type(error).__name__}; see the server's log")

    async def _run_tool(
        self, ctx: RequestContext, params: types.CallToolRequestParams, tool: Tool, caller: Caller
    ) -> types.CallToolResult | types.InputRequiredResult:
        arguments = tool.validate(params.arguments or {})
        outcome = await _in_thread(lambda: tool.run(self._memory, caller, arguments))
        if isinstance(outcome, ToolResult):
            return _success_result(outcome)
        if not caller.trusted:
            answer = await request_confirmation(
                ctx, params, outcome.question, is_yes_by_default=outcome.is_yes_by_default
            )
            if isinstance(answer, types.InputRequiredResult):
                return answer
            if answer is not Confirmation.CONFIRMED:
                if outcome.propose is not None and answer is not Confirmation.DECLINED:
                    return _success_result(await _in_thread(outcome.propose))
                return _error_result(_refusal_message(answer, outcome))
            # The data may have changed meanwhile: do only what the user confirmed.
            confirmed_question = outcome.question
            outcome = await _in_thread(lambda: tool.run(self._memory, caller, arguments))
            if isinstance(outcome, ToolResult):
                return _success_result(outcome)
            if outcome.question != confirmed_question:
                return _error_result(CHANGED_MEANWHILE)
        return _success_result(await _in_thread(outcome.on_confirm))

    async def list_resources(self, ctx: RequestContext, params: Page) -> types.ListResourcesResult:
        caller = await _with_protocol_errors(self._resolve_caller(ctx))
        listed = await _with_protocol_errors(
            _in_thread(lambda: resources.list_resources(self._memory, caller))
        )
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resource.uri,
                    name=resource.name,
                    description=resource.description or None,
                    mime_type=resource.mime_type,
                )
                for resource in listed
            ]
        )

    async def list_templates(
        self, ctx: RequestContext, params: Page
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                uri_template=resources.SCHEME + path, name=name, description=description
            )
            for path, (name, description) in resources.TEMPLATES.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, ctx: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        caller = await _with_protocol_errors(self._resolve_caller(ctx))
        uri = str(params.uri)
        with use_client(client_name(ctx) or UNNAMED_CLIENT):
            content = await _with_protocol_errors(
                _in_thread(lambda: resources.read_resource(self._memory, caller, uri))
            )
        text = types.TextResourceContents(uri=uri, text=content.text, mime_type=content.mime_type)
        return types.ReadResourceResult(contents=[text])

    async def list_prompts(self, ctx: RequestContext, params: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_protocol_prompt(prompt) for prompt in PROMPTS])

    async def get_prompt(
        self, ctx: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        caller = await _with_protocol_errors(self._resolve_caller(ctx))
        prompt = next((item for item in PROMPTS if item.name == params.name), None)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}")
        arguments = params.arguments or {}
        with use_client(client_name(ctx) or UNNAMED_CLIENT):
            text = await _with_protocol_errors(
                _in_thread(lambda: prompt.render(self._memory, caller, arguments))
            )
        prompt_message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[prompt_message])

    async def _caller_and_tools(self, ctx: RequestContext) -> tuple[Caller, tuple[Tool, ...]]:
        caller = replace(await self._resolve_caller(ctx), client=client_name(ctx))
        return caller, profile_tools(caller.profile)


def client_name(ctx: RequestContext) -> str:
    """Return the name that the client gave itself, '' if it gave none."""
    params = ctx.session.client_params
    name = params.client_info.name if params is not None else ""
    return redact(one_line("".join(char for char in name if char.isprintable()), 80)).text


async def _with_protocol_errors(operation: Awaitable[T]) -> T:
    """Return the result of *operation*; turn its errors into protocol errors."""
    try:
        return await operation
    except RecollectError as error:
        code = types.INVALID_PARAMS if error.status < 500 else types.INTERNAL_ERROR
        raise MCPError(code, str(error)) from error
    except MCPError:
        raise
    except Exception as error:  # request boundary: the client gets an answer
        log.exception("a request failed")
        message = f"unexpected {type(error).__name__}; see the server's log"
        raise MCPError(types.INTERNAL_ERROR, message) from error


async def _in_thread(do: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(do)


def _protocol_tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations.model_validate(dict(tool.hints)),
    )


def _protocol_prompt(prompt: MenuPrompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=description, required=True)
        for name, description in prompt.parameters.items()
    ]
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=arguments)


def _success_result(outcome: ToolResult) -> types.CallToolResult:
    content = types.TextContent(text=outcome.text or as_json(outcome.values))
    return types.CallToolResult(content=[content], structured_content=dict(outcome.values))


def _error_result(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)


def _refusal_message(answer: Confirmation, request: ConfirmationRequest) -> str:
    if answer is Confirmation.DECLINED:
        return "The user said no. Nothing was changed."
    # Claude Code also closes the question if it runs without a user.
    closed = answer is Confirmation.DISMISSED
    why = "they closed the question without an answer" if closed else "this client cannot ask them"
    return f"Only the user can decide this, and {why}. Nothing was changed; {request.alternative}."

"""
Run the tools of a message: in the order of its calls, neighbours that allow it at the same time.

A tool that raises has not ended the run: the model is told what happened. A tool is called once,
whatever happens; nothing here is tried again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

from recollect.domain.agent_run import RunCall
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.runtime.agent_tool import AgentTool

MAX_PARALLEL = 8


@dataclass(frozen=True)
class ReadyCall:
    """A stored call with its tool and its arguments."""

    call: RunCall
    tool: AgentTool
    arguments: Mapping[str, Any]
    wants_heartbeat: bool = False


@dataclass(frozen=True)
class ToolOutcome:
    """What a tool returned, as text for the model."""

    text: str
    succeeded: bool


def batches(calls: Sequence[ReadyCall]) -> Iterator[list[ReadyCall]]:
    """Yield the calls in order; neighbours whose tools may run at the same time come together."""
    batch: list[ReadyCall] = []
    for call in calls:
        if batch and not (_is_parallel(call) and _is_parallel(batch[-1])):
            yield batch
            batch = []
        batch.append(call)
    if batch:
        yield batch


def _is_parallel(call: ReadyCall) -> bool:
    return call.tool.enable_parallel_execution


def run_batch(batch: Sequence[ReadyCall]) -> list[ToolOutcome]:
    """Run the calls, at the same time if there are several; return their outcomes in order."""
    if len(batch) == 1:
        return [_run(batch[0])]
    with ThreadPoolExecutor(min(len(batch), MAX_PARALLEL)) as pool:
        return list(pool.map(_run, batch))


def _run(call: ReadyCall) -> ToolOutcome:
    limit = call.tool.return_char_limit
    try:
        return ToolOutcome(_shorten(_as_text(call.tool.run(call.arguments)), limit), True)
    except RecollectError as error:
        return ToolOutcome(_shorten(f"Error: {error}", limit), False)
    except Exception as error:  # the boundary to code of others: the model is told of its failure
        return ToolOutcome(_shorten(f"Error: {type(error).__name__}: {error}", limit), False)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return json.dumps(value, ensure_ascii=False, default=_json_default)


def _json_default(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, set | frozenset | tuple) else str(value)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [cut: {limit:,} of {len(text):,} characters]"

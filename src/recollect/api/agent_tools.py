"""
An agent's memory tools under Letta's names, for programs that run an agent loop.

Each tool is a plain function of the arguments a model sends, carried out in the agent's name:
limits and read-only blocks are enforced, and the text of an error can be returned to the model.
An edit of a shared block (`human`, `style`, `project`) is proposed to the user, and the result says
so. With `trusted=True` it is applied, and marked as the agent's words.

Docstrings are read by models: `schemas` returns them with the parameters as JSON schemas.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from recollect.api.archive import Archive
from recollect.api.arguments import AgentLike, ConversationLike, Moment, Place, Texts
from recollect.api.blocks import Blocks
from recollect.api.conversations import Conversations
from recollect.api.files import Files
from recollect.api.transport import Transport
from recollect.api.verb_group import BlockingMethods
from recollect.domain.block import Block, proposal_note
from recollect.errors import InvalidInput
from recollect.wire.function_schema import FunctionSchema
from recollect.wire.to_json import to_json

_FORMS: Mapping[str, Callable[[FunctionSchema], dict[str, Any]]] = {
    "openai": lambda function: {
        "type": "function",
        "function": {
            "name": function.name,
            "description": function.description,
            "parameters": function.parameters,
        },
    },
    "responses": lambda function: {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
        "strict": False,  # a strict schema has no optional parameters
    },
    "anthropic": lambda function: {
        "name": function.name,
        "description": function.description,
        "input_schema": function.parameters,
    },
    "mcp": lambda function: {
        "name": function.name,
        "description": function.description,
        "inputSchema": function.parameters,
    },
}


class AgentTools(BlockingMethods):
    """The memory tools of one agent, in a project and a conversation if it is in one."""

    NAMES: ClassVar[tuple[str, ...]] = (
        "core_memory_append",
        "core_memory_replace",
        "memory_replace",
        "memory_insert",
        "memory_rethink",
        "archival_memory_insert",
        "archival_memory_search",
        "conversation_search",
        "conversation_search_date",
        "open_files",
        "grep_files",
        "semantic_search_files",
    )

    def __init__(
        self,
        transport: Transport,
        agent: AgentLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        trusted: bool = False,
    ) -> None:
        self._trusted = trusted
        self._blocks = Blocks(transport)
        self._archive = Archive(transport)
        self._conversations = Conversations(transport)
        self._files = Files(transport)
        self._project = project
        self._agent = agent
        self._conversation = conversation
        place: dict[str, Any] = {"project": project, "conversation": conversation}
        self._edit = {**place, "by": "agent"}

    def schemas(self, form: str = "openai") -> list[dict[str, Any]]:
        """
        Return every tool with its name, description and parameters, for a model.

        *form* is openai (chat completions), responses (OpenAI's), anthropic or mcp.
        """
        if form not in _FORMS:
            raise InvalidInput(f"form {form!r} is not known; use one of {', '.join(_FORMS)}")
        functions = (FunctionSchema(getattr(self, name)) for name in self.NAMES)
        return [_FORMS[form](function) for function in functions]

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """
        Call a tool by its name with the arguments a model sent, an object or its JSON text.

        Return the text for the model. An unknown tool and arguments that do not fit raise
        `InvalidInput`, whose text can be returned to the model as well.
        """
        if name not in self.NAMES:
            raise InvalidInput(f"there is no tool {name!r}; use one of {', '.join(self.NAMES)}")
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError as error:
                raise InvalidInput(f"the arguments of {name} are not JSON: {error}") from None
        if not isinstance(arguments, Mapping):
            raise InvalidInput(f"the arguments of {name} must be an object")
        result = FunctionSchema(getattr(self, name)).call(arguments)
        return result if isinstance(result, str) else json.dumps(to_json(result))

    def core_memory_append(self, label: str, content: str) -> str:
        """
        Append lines to a block; return its new value, or that the edit was proposed.

        Args:
            label: The label of the block.
            content: The text to append.
        """
        return self._result(self._blocks.append(self._agent, label, content, **self._edit))

    def core_memory_replace(self, label: str, old_content: str, new_content: str) -> str:
        """
        Replace a text that occurs exactly once in a block; return the block's new value.

        Args:
            label: The label of the block.
            old_content: The text to replace, exactly as it stands in the block.
            new_content: The text to put in its place; empty to delete.
        """
        return self._result(
            self._blocks.replace(self._agent, label, old_content, new_content, **self._edit)
        )

    def memory_replace(self, label: str, old_str: str, new_str: str) -> str:
        """
        Replace a text that occurs exactly once in a block; return the block's new value.

        Args:
            label: The label of the block.
            old_str: The text to replace, exactly as it stands in the block, without line numbers.
            new_str: The text to put in its place; empty to delete.
        """
        return self.core_memory_replace(label, old_str, new_str)

    def memory_insert(self, label: str, new_str: str, insert_line: int = -1) -> str:
        """
        Insert lines into a block; return the block's new value.

        Args:
            label: The label of the block.
            new_str: The text to insert.
            insert_line: How many lines stand before it: 0 for the beginning, -1 for the end.
        """
        return self._result(
            self._blocks.insert(self._agent, label, new_str, insert_line, **self._edit)
        )

    def memory_rethink(self, label: str, new_memory: str) -> str:
        """
        Replace the whole value of a block; return its new value.

        Args:
            label: The label of the block.
            new_memory: The new value.
        """
        return self._result(self._blocks.set(self._agent, label, new_memory, **self._edit))

    def _result(self, block: Block) -> str:
        """Return the result of an edit for the model."""
        if not block.proposal_id:
            return block.value
        if self._trusted:
            self._blocks.accept(block.proposal_id, by="agent")
            return self._blocks.get(None, block.id).value
        return proposal_note(block)

    def archival_memory_insert(self, content: str, tags: Texts | None = None) -> str:
        """
        Store a passage in long-term memory; return its id.

        Args:
            content: The text to store.
            tags: Tags to find it by.
        """
        return self._archive.insert(self._agent, content, tags=tags or (), by="agent").id

    def archival_memory_search(
        self,
        query: str,
        tags: Texts | None = None,
        tag_match_mode: str = "any",
        top_k: int = 10,
        start_datetime: Moment = None,
        end_datetime: Moment = None,
    ) -> Mapping[str, Any]:
        """
        Search long-term memory for passages that answer a query.

        Args:
            query: What to search for, in words.
            tags: Only passages with these tags.
            tag_match_mode: "any" or "all" of the tags.
            top_k: How many passages at most.
            start_datetime: Only passages since then, as in 2026-05-08.
            end_datetime: Only passages until then.
        """
        hits = self._archive.search(
            self._agent,
            query,
            project=self._project,
            tags=tags or (),
            tag_match=tag_match_mode,
            since=start_datetime,
            until=end_datetime,
            limit=top_k,
        )
        return {
            "results": [
                {
                    "id": hit.memory.id,
                    "timestamp": hit.memory.observed_at.isoformat(),
                    "content": hit.memory.content,
                    "tags": list(hit.memory.tags),
                }
                for hit in hits
            ],
            "count": len(hits),
        }

    def conversation_search(
        self,
        query: str = "",
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
    ) -> Mapping[str, Any]:
        """
        Search earlier messages of all conversations.

        Args:
            query: What to search for, in words; empty for the latest messages.
            roles: Only messages of these roles: user, assistant, tool.
            limit: How many messages at most.
            start_date: Only messages since then, as in 2026-05-08.
            end_date: Only messages until then.
        """
        return self._conversations.letta_search(
            self._agent,
            query,
            project=self._project,
            roles=roles,
            limit=limit,
            start_date=start_date,
            end_date=end_date,
            asked_in=self._conversation,
        )

    def conversation_search_date(
        self, start_date: str, end_date: str, limit: int = 10
    ) -> Mapping[str, Any]:
        """
        Return the messages of a time.

        Args:
            start_date: The first day, as in 2026-05-08.
            end_date: The last day.
            limit: How many messages at most.
        """
        return self.conversation_search("", None, limit, start_date, end_date)

    def open_files(
        self, file_requests: list[dict[str, Any]], close_all_others: bool = False
    ) -> str:
        """
        Open files, so that their lines are in the context.

        Args:
            file_requests: For each file an object with file_name and, for a part of it, offset (the
                number of lines before it) and length (in lines).
            close_all_others: Close the files that are open now.
        """
        requests = [
            {"path" if name == "file_name" else name: value for name, value in request.items()}
            for request in file_requests
        ]
        opened = self._files.open(
            self._agent, requests, project=self._project, close_others=close_all_others
        )
        lines = [
            f"{window.path}: lines {window.first_line} to {window.last_line} of "
            f"{window.total_lines}\n{window.text}"
            for window in opened
        ]
        return "\n\n".join(lines)

    def grep_files(
        self, pattern: str, include: str | None = None, context_lines: int = 1, offset: int = 0
    ) -> str:
        """
        Search the project's files for a regular expression.

        Args:
            pattern: The regular expression (RE2).
            include: Only files whose path matches this glob, as in *.py.
            context_lines: How many lines to show before and after each match.
            offset: How many matches to skip, to read the next page.
        """
        page = self._files.grep(
            pattern,
            agent=self._agent,
            project=self._project,
            include=include,
            context_lines=context_lines,
            offset=offset,
        )
        lines = [
            "\n".join((f"{match.path}:{match.line}", *match.before, match.text, *match.after))
            for match in page.matches
        ]
        more = f"; continue with offset={page.next_offset}" if page.next_offset else ""
        return "\n\n".join([f"{page.total} matches{more}", *lines])

    def semantic_search_files(self, query: str, limit: int = 5) -> list[Mapping[str, Any]]:
        """
        Search the indexed files of the project by meaning.

        Args:
            query: What to search for, in words.
            limit: How many files at most.
        """
        hits = self._files.search(query, project=self._project, limit=limit)
        return [
            {"path": hit.path, "score": round(hit.score, 3), "text": hit.excerpt} for hit in hits
        ]

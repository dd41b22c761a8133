"""MCP prompts, which the user chooses from a menu of the client."""

from collections.abc import Callable, Mapping

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.mcp.action_prompts import blame_text, fix_text, how_text
from recollect.mcp.caller_scope import Caller
from recollect.mcp.pagination import as_json
from recollect.mcp.tools.context import context
from recollect.mcp.tools.review import list_inbox

PromptArguments = Mapping[str, str]


@dataclass(frozen=True)
class MenuPrompt:
    """A prompt: its required parameters with their descriptions, and a function for its text."""

    name: str
    description: str
    parameters: Mapping[str, str]
    template: Callable[[LocalRecollect, Caller, PromptArguments], str]

    def render(self, rec: LocalRecollect, caller: Caller, arguments: PromptArguments) -> str:
        """Return the text of the prompt."""
        missing = [name for name in self.parameters if not arguments.get(name, "").strip()]
        if missing:
            raise InvalidInput(f"the prompt {self.name} needs {', '.join(missing)}")
        return self.template(rec, caller, arguments)


def _recall(rec: LocalRecollect, caller: Caller, arguments: PromptArguments) -> str:
    bundle = context(rec, caller, {"task": arguments["task"]}).values["text"]
    return f"{arguments['task']}\n\nRelevant memories:\n\n{bundle}"


def _review(rec: LocalRecollect, caller: Caller, arguments: PromptArguments) -> str:
    page = list_inbox(rec, caller, {})
    if not page["waiting"]:
        return "The memory inbox is empty. Tell me so."
    return (
        "Review my memory inbox with me. For each candidate, tell me what it says, where it comes "
        "from and whether it conflicts with another memory, and propose keep, replace or reject. "
        "After each of my decisions, call the tool `review`.\n\n" + as_json(page)
    )


_TASK = {"task": "What you are about to do"}
_FILE = {"file": "The path of the file"}
_ERROR = {"error": "What the command printed"}
_PROGRAM = {"program": "A command, such as pnpm or docker build"}
PROMPTS = (
    MenuPrompt("recall", "Start a task with the memories about it", _TASK, _recall),
    MenuPrompt("review", "Review the candidates in the inbox", {}, _review),
    MenuPrompt("blame", "Who changed a file, and what was decided about it", _FILE, blame_text),
    MenuPrompt("fix", "What helped against an error before", _ERROR, fix_text),
    MenuPrompt("how", "How a program is run here", _PROGRAM, how_text),
)

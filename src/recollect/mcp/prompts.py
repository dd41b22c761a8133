"""What a person can choose from a client's menu: recall for a task, review the inbox."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recollect.app import Recollect
from recollect.errors import InvalidInput
from recollect.mcp.caller import Caller
from recollect.mcp.pages import as_json
from recollect.mcp.tools.context import context
from recollect.mcp.tools.review import waiting

Given = Mapping[str, str]


@dataclass(frozen=True)
class Prompt:
    """A prompt: its arguments with what they mean, all of them needed, and what it says."""

    name: str
    description: str
    takes: Mapping[str, str]
    text: Callable[[Recollect, Caller, Given], str]

    def written(self, memory: Recollect, caller: Caller, given: Given) -> str:
        """Return the text of the prompt."""
        missing = [name for name in self.takes if not given.get(name, "").strip()]
        if missing:
            raise InvalidInput(f"the prompt {self.name} needs {', '.join(missing)}")
        return self.text(memory, caller, given)


def _recall(memory: Recollect, caller: Caller, given: Given) -> str:
    bundle = context(memory, caller, {"task": given["task"]}).values["text"]
    return f"{given['task']}\n\nWhat is remembered about this:\n\n{bundle}"


def _review(memory: Recollect, caller: Caller, given: Given) -> str:
    page = waiting(memory, caller, {})
    if not page["waiting"]:
        return "The memory inbox is empty. Tell me so."
    return (
        "Go through my memory inbox with me. For each candidate say what it claims, where it comes "
        "from and whether it conflicts with something, and propose keep, replace or reject. Then "
        "decide with the tool `review`, one by one, as I say.\n\n" + as_json(page)
    )


PROMPTS = (
    Prompt(
        "recall",
        "Start a task with what is remembered about it",
        {"task": "What you are about to do"},
        _recall,
    ),
    Prompt("review", "Go through the memories that wait in the inbox", {}, _review),
)

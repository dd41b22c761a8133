"""The `/` commands of the chat with their help. Light: the prompt completes them at once."""

from collections.abc import Mapping

COMMAND_HELP: Mapping[str, str] = {
    "/help": "list the commands and keys",
    "/context": "show how full the context window is",
    "/remember": "TEXT: store a memory",
    "/forget": "ID or WORDS: delete a memory everywhere, after asking",
    "/inbox": "review candidates and proposed edits of blocks",
    "/why": "show the memories behind the last answer; ID: explain one memory",
    "/block": "list blocks; LABEL: print one; LABEL edit: open it in your editor",
    "/model": "show the model; NAME: use another one in this chat",
    "/compact": "replace older messages by a summary",
    "/undo": "take back the last change of memory made in this chat",
    "/files": "list open files; PATH: open one; close [PATH]: close it, or all",
    "/resume": "list earlier conversations; NUMBER or ID: continue one",
    "/new": "start another conversation",
    "/quit": "end the conversation and leave (also ctrl-d)",
}
KEYS_HELP = (
    "Enter sends; alt-enter or ctrl-j starts a new line; arrow up repeats earlier messages; "
    "ctrl-c stops an answer; ctrl-d leaves."
)

"""
Add, update and remove our entries in a JSON settings file. All functions take and return text.

Our entries are recognised by the command they run. A server named recollect that runs another
command is not own_paths and is never changed.
"""

from typing import Any

from recollect.errors import AlreadyExists
from recollect.setup.invocation import (
    Invocation,
    is_customised,
    parse_hook_command,
    parse_server_entry,
    server_entry,
)
from recollect.setup.jsonc_edit import CreatedParts, append, delete, format_path, put, remove_empty
from recollect.setup.jsonc_parser import JsonPath, is_blank, scan, value_of
from recollect.setup.supported_clients import SERVER_NAME, HookSettings, SettingsFile


def add_server(
    text: str, file: SettingsFile, call: Invocation, *, client: str
) -> tuple[str, CreatedParts]:
    """Return *text* with the MCP server of *client*, and the containers created for it."""
    value = _parse(text)
    path = (*_servers_path(value, file), SERVER_NAME)
    if SERVER_NAME not in (_value_at(value, path[:-1]) or {}):
        return put(text, path, server_entry(call.server_command(agent=client), file.entry_shape))
    entry = _value_at(value, path)
    previous = parse_server_entry(entry)
    if previous is None:
        raise AlreadyExists(
            f"{format_path(path)} already exists and does not start Recollect; "
            "rename or remove it, then run this again"
        )
    new_entry = server_entry(call.server_command(previous), file.entry_shape)
    for key, new in new_entry.items():
        if key != "type" and entry.get(key, []) != new:
            text, _ = put(text, (*path, key), new)
    return text, CreatedParts()


def add_hooks(
    text: str, file: SettingsFile, call: Invocation, *, client: str
) -> tuple[str, CreatedParts]:
    """Return *text* with a hook for each event of the client, and the containers created."""
    created = CreatedParts()
    for key, required in file.required_members.items():
        if key not in _parse(text):
            text, more = put(text, (key,), required)
            created |= more | CreatedParts(frozenset({(key,)}))
    for event, hook in file.events.items():
        own_paths = [path for path in _own_hook_paths(_parse(text), file) if path[1] == event]
        for path in own_paths:
            previous = str(_value_at(_parse(text), (*path, "command")))
            new = call.hook_command(hook.event, client, previous)
            if new != previous:
                text, _ = put(text, (*path, "command"), new)
        if not own_paths:
            line = call.hook_command(hook.event, client)
            handler = _hook_entry(line, hook, file)
            text, more = append(text, ("hooks", event), handler)
            created |= more
    return text, created


def _hook_entry(line: str, hook: HookSettings, file: SettingsFile) -> dict[str, Any]:
    """Return the settings entry of one hook."""
    matcher = {"matcher": hook.tools} if hook.tools else {}
    timeout = hook.timeout_s * 1_000 if file.timeouts_in_ms else hook.timeout_s
    if not file.hooks_in_groups:
        return {**matcher, "command": line, "timeout": timeout}
    return {**matcher, "hooks": [{"type": "command", "command": line, "timeout": timeout}]}


def has_entries(text: str, file: SettingsFile) -> bool:
    """Return whether all our entries are in *text*, up to date or not."""
    value = _parse(text)
    if file.holds == "server":
        path = (*_servers_path(value, file), SERVER_NAME)
        return parse_server_entry(_value_at(value, path)) is not None
    return set(file.events) <= {path[1] for path in _own_hook_paths(value, file)}


def remove_entries(text: str, file: SettingsFile, created: CreatedParts | None) -> str:
    """Return *text* without our entries; *created* is from the undo record, None if none exists."""
    value = _parse(text)
    if file.holds == "server":
        return _remove_server(text, (*_servers_path(value, file), SERVER_NAME), created)
    commands = {path: _value_at(value, (*path, "command")) for path in _own_hook_paths(value, file)}
    own_paths = [path for path, command in commands.items() if not is_customised(command)]
    for path in reversed(own_paths):
        text = delete(text, path)
        group = path[:-2]
        if file.hooks_in_groups and _value_at(_parse(text), (*group, "hooks")) == []:
            text = delete(text, group)
    if not own_paths:
        return text
    text = remove_empty(text, [("hooks",), *(path[:2] for path in own_paths)], created)
    for key, required in file.required_members.items():
        value = _parse(text)
        is_created = created is not None and (key,) in created.containers
        if is_created and value.get(key) == required and "hooks" not in value:
            text = delete(text, (key,))
    return remove_empty(text, [()], created)


def has_no_content(text: str) -> bool:
    """Return whether a file has neither members nor comments."""
    if is_blank(text):
        return True
    root = scan(text)
    inside = text[root.start + 1 : root.end - 1]
    outside = text[: root.start] + text[root.end :]
    return root.kind == "object" and not inside.strip() and is_blank(outside)


def _remove_server(text: str, path: JsonPath, created: CreatedParts | None) -> str:
    if parse_server_entry(_value_at(_parse(text), path)) is None:
        return text
    above = [path[:length] for length in range(len(path))]
    return remove_empty(delete(text, path), above, created)


def _servers_path(value: Any, file: SettingsFile) -> tuple[str, ...]:
    key = file.alternative_servers_key
    servers = _value_at(value, key) if key else None
    # The key may also be a server that is named “servers”; then it has these members.
    own_members = {"type", "command", "enabled", "url"}
    is_list = isinstance(servers, dict) and not own_members & set(servers)
    return key if is_list else file.servers_key


def _own_hook_paths(value: Any, file: SettingsFile) -> list[JsonPath]:
    paths: list[JsonPath] = []
    events = value.get("hooks") if isinstance(value, dict) else None
    for event, entries in events.items() if isinstance(events, dict) else ():
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            if not file.hooks_in_groups:
                if parse_hook_command(entry.get("command")):
                    paths.append(("hooks", event, index))
                continue
            handlers = entry.get("hooks")
            for inner_index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and parse_hook_command(handler.get("command")):
                    paths.append(("hooks", event, index, "hooks", inner_index))
    return paths


def _parse(text: str) -> Any:
    return {} if is_blank(text) else value_of(scan(text))


def _value_at(value: Any, path: JsonPath) -> Any:
    for step in path:
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not in_list and not (isinstance(value, dict) and step in value):
            return None
        value = value[step]
    return value

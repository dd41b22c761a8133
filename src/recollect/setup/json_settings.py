"""
Our entries in a JSON settings file: put them in, bring them up to date, take them out.

What is ours is known by the command it runs, not by a mark. A server called recollect that runs
something else is not ours, and is never changed. Pure: text in, text out.
"""

from typing import Any

from recollect.errors import AlreadyExists
from recollect.setup.clients import SERVER, SettingsFile
from recollect.setup.invocation import (
    Invocation,
    does_more,
    hook_words,
    server_entry,
    server_words,
)
from recollect.setup.jsonc import Path, is_blank, scan, value_of
from recollect.setup.jsonc_edit import Made, append, drop, put, shown_path, tidy


def with_server(text: str, file: SettingsFile, call: Invocation) -> tuple[str, Made]:
    """Return *text* with the MCP server in it."""
    value = _value(text)
    path = (*_below(value, file), SERVER)
    if SERVER not in (_at(value, path[:-1]) or {}):
        return put(text, path, server_entry(call.server(), file.shape))
    present = _at(value, path)
    former = server_words(present)
    if former is None:
        raise AlreadyExists(
            f"{shown_path(path)} is there already and starts something else than Recollect; "
            "rename or remove it, then run this again"
        )
    wanted = server_entry(call.server(former), file.shape)
    for key, new in wanted.items():
        if key != "type" and present.get(key, []) != new:
            text, _ = put(text, (*path, key), new)
    return text, Made()


def with_hooks(text: str, file: SettingsFile, call: Invocation, *, client: str) -> tuple[str, Made]:
    """Return *text* with a hook for each event of the client."""
    made = Made()
    for key, needed in file.needs.items():
        if key not in _value(text):
            text, more = put(text, (key,), needed)
            made |= Made(more.containers | {(key,)}, more.insides, more.blank)
    for event, (own, timeout_s) in file.events.items():
        ours = [path for path in _our_hooks(_value(text), file) if path[1] == event]
        for path in ours:
            former = str(_at(_value(text), (*path, "command")))
            new = call.hook(own, client, former)
            if new != former:
                text, _ = put(text, (*path, "command"), new)
        if not ours:
            handler = hook_entry(call.hook(own, client), timeout_s, nested=file.nested)
            text, more = append(text, ("hooks", event), handler)
            made |= more
    return text, made


def hook_entry(line: str, timeout_s: int, *, nested: bool) -> dict[str, Any]:
    """Return the entry of one hook as a client wants it."""
    if not nested:
        return {"command": line, "timeout": timeout_s}
    return {"hooks": [{"type": "command", "command": line, "timeout": timeout_s}]}


def is_in(text: str, file: SettingsFile) -> bool:
    """Return whether everything of ours is in *text*, up to date or not."""
    value = _value(text)
    if file.holds == "server":
        return server_words(_at(value, (*_below(value, file), SERVER))) is not None
    return set(file.events) <= {path[1] for path in _our_hooks(value, file)}


def without_ours(text: str, file: SettingsFile, made: Made | None) -> str:
    """Return *text* without what is ours; *made* is what the record says, None without one."""
    value = _value(text)
    if file.holds == "server":
        return _without_server(text, (*_below(value, file), SERVER), made)
    every = _our_hooks(value, file)
    ours = [path for path in every if not does_more(_at(value, (*path, "command")))]
    for path in reversed(ours):
        text = drop(text, path)
        group = path[:-2]
        if file.nested and _at(_value(text), (*group, "hooks")) == []:
            text = drop(text, group)
    if not ours:
        return text
    text = tidy(text, [("hooks",), *(path[:2] for path in ours)], made)
    for key, needed in file.needs.items():
        value = _value(text)
        ours_alone = made is not None and (key,) in made.containers and value.get(key) == needed
        if ours_alone and "hooks" not in value:
            text = drop(text, (key,))
    return tidy(text, [()], made)


def is_empty(text: str) -> bool:
    """Return whether a file says nothing: no member, no comment."""
    if is_blank(text):
        return True
    root = scan(text)
    inside = text[root.start + 1 : root.end - 1]
    outside = text[: root.start] + text[root.end :]
    return root.kind == "object" and not inside.strip() and is_blank(outside)


def _without_server(text: str, path: Path, made: Made | None) -> str:
    if server_words(_at(_value(text), path)) is None:
        return text
    above = [path[:length] for length in range(len(path))]
    return tidy(drop(text, path), above, made)


def _below(value: Any, file: SettingsFile) -> tuple[str, ...]:
    """Return where the servers of this file are listed."""
    other = _at(value, file.below_if_there) if file.below_if_there else None
    # A server may be called “servers” itself; then it says what it is.
    is_list = isinstance(other, dict) and not {"type", "command", "enabled", "url"} & set(other)
    return file.below_if_there if is_list else file.below


def _our_hooks(value: Any, file: SettingsFile) -> list[Path]:
    """Return where the hooks of ours are, in order."""
    found: list[Path] = []
    events = value.get("hooks") if isinstance(value, dict) else None
    for event, entries in events.items() if isinstance(events, dict) else ():
        for place, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                continue
            if not file.nested:
                if hook_words(entry.get("command")):
                    found.append(("hooks", event, place))
                continue
            handlers = entry.get("hooks")
            for inner, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                if isinstance(handler, dict) and hook_words(handler.get("command")):
                    found.append(("hooks", event, place, "hooks", inner))
    return found


def _value(text: str) -> Any:
    return {} if is_blank(text) else value_of(scan(text))


def _at(value: Any, path: Path) -> Any:
    for step in path:
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not in_list and not (isinstance(value, dict) and step in value):
            return None
        value = value[step]
    return value

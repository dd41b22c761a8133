"""
What an .af record says beyond what we model, carried along so that an export says it again.

A record becomes a value of ours plus a *carry*: the fields we have no place for (`rest`), and for
each field we do model the pair of what we made of it and what it was (`was`), where the two differ.
`restore` writes a field as it was while our value is still the one we made, and as ours once
somebody changed it. Pure functions on JSON; secrets' values never get this far.
"""

from collections.abc import Mapping
from typing import Any

from recollect.domain.agent_transfer import LETTA

# Values that are secrets whatever they look like: an agent's variables; anywhere, what is called a
# key or a password; in the record of a server, tokens, headers and variables too.
_VARIABLES = ("tool_exec_environment_variables", "secrets")
_KEYS = frozenset({"api_key", "api_key_enc", "auth_token", "access_token", "password"})
_SERVER_KEYS = _KEYS | {"token", "token_enc", "value", "value_enc"}
_SERVER_VALUES = frozenset({"custom_headers", "custom_headers_enc", "env", "headers"})

Record = Mapping[str, Any]


def carry_over(record: Record, ours: Record, *, elsewhere: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what *ours* cannot say of *record*; fields *elsewhere* are written by other code."""
    was: dict[str, Any] = {}
    for name, value in ours.items():
        if name not in record:
            was[name] = {"ours": value}
        elif record[name] != value:
            was[name] = {"ours": value, "theirs": record[name]}
    rest = {
        name: value for name, value in record.items() if name not in ours and name not in elsewhere
    }
    return {"rest": rest, "was": was}


def restore(carry: Any, ours: Record) -> dict[str, Any]:
    """Return the record *ours* came from, with whatever changed since."""
    kept = carry if isinstance(carry, Mapping) else {}
    rest = kept.get("rest")
    was = kept.get("was")
    record: dict[str, Any] = dict(rest) if isinstance(rest, Mapping) else {}
    for name, value in ours.items():
        former = was.get(name) if isinstance(was, Mapping) else None
        if not isinstance(former, Mapping) or former.get("ours") != value:
            record[name] = value
        elif "theirs" in former:
            record[name] = former["theirs"]
    return record


def carry_of(metadata: Record) -> dict[str, Any]:
    """Return what an import left in a value's metadata, if one did."""
    found = metadata.get(LETTA)
    return dict(found) if isinstance(found, Mapping) else {}


def blank_variables(agent: Record) -> tuple[dict[str, Any], list[str]]:
    """Return an agent's record with the names of its variables only, and those that had a value."""
    kept: dict[str, Any] = blank_keys(agent)
    dropped: list[str] = []
    for field in _VARIABLES:
        found = kept.get(field)
        if isinstance(found, Mapping):
            dropped += [name for name, value in found.items() if value]
            kept[field] = dict.fromkeys(found, "")
        elif isinstance(found, list):
            named = [one for one in found if isinstance(one, Mapping)]
            dropped += [str(one.get("key", "")) for one in named if one.get("value")]
            kept[field] = [_blank(one, _SERVER_KEYS, frozenset()) for one in named]
        elif found is not None:
            kept[field] = {}
    return kept, sorted(set(dropped))


def blank_keys(value: Any) -> Any:
    """Return a record without the values of what is called a key or a password."""
    return _blank(value, _KEYS, frozenset())


def blank_server_secrets(server: Any) -> Any:
    """Return an MCP server's record without tokens, headers and variables, their names kept."""
    return _blank(server, _SERVER_KEYS, _SERVER_VALUES)


def _blank(value: Any, keys: frozenset[str], groups: frozenset[str]) -> Any:
    """Return *value* with the texts called one of *keys* emptied, and all under *groups*."""
    if isinstance(value, list):
        return [_blank(one, keys, groups) for one in value]
    if not isinstance(value, Mapping):
        return value
    blank: dict[str, Any] = {}
    for name, one in value.items():
        if name in keys and isinstance(one, str):
            blank[name] = ""
        elif name in groups:
            blank[name] = dict.fromkeys(one, "") if isinstance(one, Mapping) else None
        else:
            blank[name] = _blank(one, keys, groups)
    return blank

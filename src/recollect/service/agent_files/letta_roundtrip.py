"""
Carry the fields of .af records that we do not model, so that an export writes them again.

A record becomes a domain value plus a *carry*: the fields that we do not model (`rest`), and for
each field that we do model, if they differ, our value and the original (`was`). `restore` writes
the original if our value has not changed since the import, else our value. Secrets are blanked.
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
    carry = carry if isinstance(carry, Mapping) else {}
    rest, was = carry.get("rest"), carry.get("was")
    record: dict[str, Any] = dict(rest) if isinstance(rest, Mapping) else {}
    for name, value in ours.items():
        original = was.get(name) if isinstance(was, Mapping) else None
        if not isinstance(original, Mapping) or original.get("ours") != value:
            record[name] = value
        elif "theirs" in original:
            record[name] = original["theirs"]
    return record


def carry_of(metadata: Record) -> dict[str, Any]:
    """Return what an import left in a value's metadata, if one did."""
    carry = metadata.get(LETTA)
    return dict(carry) if isinstance(carry, Mapping) else {}


def blank_variables(agent: Record) -> tuple[dict[str, Any], list[str]]:
    """Return an agent's record with the names of its variables only, and those that had a value."""
    blanked: dict[str, Any] = blank_keys(agent)
    dropped: list[str] = []
    for field in _VARIABLES:
        variables = blanked.get(field)
        if isinstance(variables, Mapping):
            dropped += [name for name, value in variables.items() if value]
            blanked[field] = dict.fromkeys(variables, "")
        elif isinstance(variables, list):
            records = [item for item in variables if isinstance(item, Mapping)]
            dropped += [str(item.get("key", "")) for item in records if item.get("value")]
            blanked[field] = [_blank(item, _SERVER_KEYS, frozenset()) for item in records]
        elif variables is not None:
            blanked[field] = {}
    return blanked, sorted(set(dropped))


def blank_keys(value: Any) -> Any:
    """Return a record without the values of what is called a key or a password."""
    return _blank(value, _KEYS, frozenset())


def blank_server_secrets(server: Any) -> Any:
    """Return an MCP server's record without tokens, headers and variables, their names kept."""
    return _blank(server, _SERVER_KEYS, _SERVER_VALUES)


def _blank(value: Any, keys: frozenset[str], groups: frozenset[str]) -> Any:
    """Return *value* with the texts called one of *keys* emptied, and all under *groups*."""
    if isinstance(value, list):
        return [_blank(item, keys, groups) for item in value]
    if not isinstance(value, Mapping):
        return value
    blank: dict[str, Any] = {}
    for name, item in value.items():
        if name in keys and isinstance(item, str):
            blank[name] = ""
        elif name in groups:
            blank[name] = dict.fromkeys(item, "") if isinstance(item, Mapping) else None
        else:
            blank[name] = _blank(item, keys, groups)
    return blank

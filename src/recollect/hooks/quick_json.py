"""
Read and quote JSON with the parts of the standard library that are compiled.

The package `json` loads `re`, `enum` and `functools`, which take longer than all that a hook does
with a running server. Its scanner and its quoting are in `_json`; where that is missing or differs,
`json` itself is used. Errors are ValueError, as there.
"""

TYPE_CHECKING = False  # not from typing, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Scanner = Callable[[str, int], tuple[Any, int]]

WHITE_SPACE = " \t\n\r"
_SAMPLE = '{"a": [1, 2.5, "b", null]}'


class _ScannerOptions:
    """What the scanner reads of a `json.JSONDecoder`: the defaults of that class."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


def parse_json(text: str) -> object:
    """Return the value of a JSON text."""
    stripped = text.strip(WHITE_SPACE)
    if _SCAN is not None:
        try:
            value, end = _SCAN(stripped, 0)
            if end == len(stripped):
                return value
        except (StopIteration, SystemError, ValueError):
            pass  # not JSON; without `json` loaded, the scanner cannot create its own error
    # Imported here: it is slow to load, and needed only to say what is wrong.
    import json

    loaded: object = json.loads(text)
    return loaded


def _find_scanner() -> "Scanner | None":
    try:
        from _json import make_scanner

        scan: Any = make_scanner(_ScannerOptions)  # type: ignore[arg-type]
        return scan if scan(_SAMPLE, 0)[1] == len(_SAMPLE) else None
    except (ImportError, AttributeError, TypeError):
        return None  # another implementation of Python, or a later version that reads other options


def _find_quoting() -> "Callable[[str], str]":
    try:
        from _json import encode_basestring_ascii

        return encode_basestring_ascii
    except ImportError:
        # Imported here: it is slow to load.
        from json.encoder import py_encode_basestring_ascii

        return py_encode_basestring_ascii


_SCAN = _find_scanner()
quote = _find_quoting()  # a text as a JSON string

"""
Decode server-sent events as their bytes arrive, however the network splits them.

An event is its data; names and ids of events are ignored, and so are comments. A line that is not
a field of an event is kept in `stray`, because it shows that the sender speaks something else.
"""

import codecs
import re

_LINE_END = re.compile(r"\r\n|\n|\r")  # not splitlines: JSON may hold U+2028 as it is
_FIELDS = ("data", "event", "id", "retry")


class SseDecoder:
    """Decodes one stream. Raises `UnicodeDecodeError` if it is not UTF-8."""

    def __init__(self) -> None:
        self.stray = ""
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._rest = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of the events that *chunk* completes."""
        return self._take(self._rest + self._decode(chunk), is_last=False)

    def close(self) -> list[str]:
        """Return the last event, if the stream ended without the empty line after it."""
        return self._take(self._rest + self._decode(b"", final=True) + "\n\n", is_last=True)

    def _take(self, text: str, *, is_last: bool) -> list[str]:
        events = []
        # A carriage return at the end may be the first half of a line end.
        cut = len(text) - 1 if text.endswith("\r") and not is_last else len(text)
        *lines, rest = _LINE_END.split(text[:cut])
        self._rest = rest + text[cut:]
        for line in lines:
            field, _, value = line.partition(":")
            if line and field and field not in _FIELDS:
                self.stray = self.stray or line
            if field == "data":
                self._data.append(value.removeprefix(" "))
            elif not line:
                if any(self._data):
                    events.append("\n".join(self._data))
                self._data = []
        return events

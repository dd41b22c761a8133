"""How the events of a verb travel over HTTP: as server-sent events, each with its JSON as data."""

EVENT_STREAM = "text/event-stream"
ERROR_EVENT = "error"  # the type of an event that ends the stream with a problem
PING = b": ping\n\n"  # a comment, so that no proxy ends a stream in which nothing happens


def encode_event(data: bytes) -> bytes:
    """Return JSON *data* as one event."""
    return b"data: " + data + b"\n\n"

from recollect.client.intercept.sse import SseEvent, parse_events
from tables import each_row


@each_row(
    ("raw", "events"),
    [
        (b"", []),
        (b'data: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
        (b'event: ping\ndata: {"a":1}\n\n', [SseEvent("ping", {"a": 1})]),
        (b'event:ping\r\ndata:{"a":1}\r\n\r\n', [SseEvent("ping", {"a": 1})]),
        (b'data: {"a":1}\r\rdata: {"a":2}\r\r', [SseEvent("", {"a": 1}), SseEvent("", {"a": 2})]),
        (b'\xef\xbb\xbfdata: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
        (b': comment\nid: 7\nretry: 9\ndata: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
        (b'data: {"a":\ndata: 1}\n\n', [SseEvent("", {"a": 1})]),
        (
            b'data: {"a":1}\n\n\n\ndata: {"a":2}\n\n',
            [SseEvent("", {"a": 1}), SseEvent("", {"a": 2})],
        ),
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', [SseEvent("", {"a": 1})]),
        ('data: {"a":"\u2028ß"}\n\n'.encode(), [SseEvent("", {"a": "\u2028ß"})]),
        (b'event: cut\ndata: {"a":1}', [SseEvent("cut", {"a": 1})]),
        (b'data: {"a":1}\n\ndata: {"a":', [SseEvent("", {"a": 1})]),
        (b'data: {"a":1}\n\nevent: cut\n', [SseEvent("", {"a": 1})]),
        (b'data: {"a":"\xff"}\n\ndata: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
        (b'data: {oops\n\ndata: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
        (b"data: null\n\nnonsense\n\ndata\n\n", []),
        (b'event: one\n\ndata: {"a":1}\n\n', [SseEvent("", {"a": 1})]),
    ],
)
def test_events_are_read_and_the_rest_passed_over(raw: bytes, events: list[SseEvent]) -> None:
    assert list(parse_events(raw)) == events


def test_a_stream_cut_anywhere_gives_the_events_that_were_whole() -> None:
    raw = 'event: a\ndata: {"t":"Łódź"}\n\ndata: {"t":"é"}\n\n'.encode()
    whole = list(parse_events(raw))

    for end in range(len(raw)):
        found = list(parse_events(raw[:end]))

        assert found == whole[: len(found)]
    assert len(whole) == 2


def test_json_built_to_do_harm_is_passed_over() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    number = b"9" * 10_000

    found = list(parse_events(b"data: " + deep + b"\n\ndata: " + number + b'\n\ndata: {"a":1}\n\n'))

    assert found == [SseEvent("", {"a": 1})]

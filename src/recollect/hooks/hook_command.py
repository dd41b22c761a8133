"""
The process of `recollect hook`: read JSON from the input, print a response or nothing, and exit.

If a server serves the store, it computes the response; otherwise `without_server` does, in this
process. Capture events only queue the transcript; a background process captures it. If anything
fails, the exit code is still 0, nothing is printed, and the log gets a line without any content of
the session. The client waits for this process, so it imports as little as possible.
"""

import os
import select
import sys
import time

from recollect.hooks import event_names, state_files, target_store
from recollect.hooks.quick_json import parse_json, quote
from recollect.hooks.target_store import TargetStore

SERVER_TIMEOUT_MS = 100.0  # for the response of a server
WITHOUT_SERVER_TIMEOUT_MS = 1_000.0  # for the whole process, if no server runs
SESSION_START_TIMEOUT_MS = 3_000.0  # the same at the start of a session, which happens only once
INPUT_TIMEOUT_S = 2.0  # for the client to send its payload
NICE = 10  # for background work
MAX_INPUT_BYTES = 8_000_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
OPTIONS = ("--client", "--db", "--project")
# The server does not serve this store: answer from the file.
WRONG_SERVER_STATUSES = (401, 403, 404, 409)


class _Payload:
    """The JSON object of the client, and its text."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: dict[str, object]) -> None:
        self.text = text
        self.value = value


class _HookCall:
    """One call of the command. Not a dataclass, because that module is slow to load."""

    __slots__ = (
        "client",
        "environ",
        "input",
        "kind",
        "payload",
        "project",
        "state_folder",
        "target",
    )

    def __init__(
        self,
        kind: str,
        client: str,
        *,
        payload: "_Payload",
        options: dict[str, str],
        environ: dict[str, str],
    ) -> None:
        self.kind = kind
        self.client = client
        self.environ = environ
        self.state_folder = state_files.state_folder(environ)
        self.payload = payload.value
        self.input = payload.text
        self.target = target_store.find_target_store(environ, options.get("--db", ""))
        self.project = _project(options.get("--project", ""), environ)


def main(arguments: list[str]) -> int:
    """Run one hook and return 0, even if it fails."""
    started_at = time.monotonic()
    environ = dict(os.environ)
    label = "-"
    try:
        event, options = _parse_arguments(arguments)
        kind = event_names.event_kind(event)
        client = event_names.client_name(options.get("--client", ""))
        client = event_names.CURSOR if environ.get("CURSOR_VERSION") else client
        label = f"{client} {kind or 'unknown'}"
        outcome = _run_hook(kind, client, options, environ, started_at)
    except (Exception, KeyboardInterrupt) as error:
        # Process boundary: a failing hook must not disturb its client.
        outcome = f"failed: {type(error).__name__}"
    line = f"{label} {(time.monotonic() - started_at) * 1000:.0f}ms {outcome}"
    state_files.append_log(state_files.state_folder(environ), line)
    return 0


def _run_hook(
    kind: str, client: str, options: dict[str, str], environ: dict[str, str], started_at: float
) -> str:
    """Handle the event and return the outcome for the log."""
    if not kind:
        return "unknown event"
    payload = _read_payload()
    if payload is None:
        return "no valid JSON object on the input"
    if "CLAUDE_PLUGIN_ROOT" in environ:
        # Imported here: only the hooks of the plugin need it.
        from recollect.hooks.duplicate_install import runs_from_settings

        if runs_from_settings(kind, environ):
            return "skipped: the client's settings run the same hook"
    call = _HookCall(kind, client, payload=payload, options=options, environ=environ)
    if kind in event_names.CAPTURE_EVENTS:
        return _schedule_capture(call)
    response, origin = _answer(call, started_at)
    if response:
        _print(response)
    if kind == event_names.PROMPT:
        _defer_capture_in_background(call)
    return f"{len(response)} bytes ({origin})" if response else f"no output ({origin})"


def _answer(call: _HookCall, started_at: float) -> tuple[bytes, str]:
    """Return what to print and its origin: the server of this store, or else the file."""
    target = call.target
    address = _server_address(target, call.state_folder)
    if address is not None:
        if _needs_no_lookup(address[0]):
            status, body = _ask_server(address, call)
        else:
            deadline = time.monotonic() + _timeout_s(call.environ, SERVER_TIMEOUT_MS)
            with _ExitAfter(deadline, call.state_folder):
                status, body = _ask_server(address, call)
        if status in (200, 204):
            return body, "server"
        if status not in WRONG_SERVER_STATUSES:
            return b"", f"server returned status {status}" if status else body.decode()
    if target.is_remote:
        return b"", "no server"
    if call.kind in event_names.TOOL_EVENTS:
        # Without a server a hook takes a third of a second: too long before every tool call.
        return b"", "no server"
    if not os.path.isfile(target.db):
        return b"", "no store yet"
    is_start = call.kind == event_names.SESSION_START
    default_ms = SESSION_START_TIMEOUT_MS if is_start else WITHOUT_SERVER_TIMEOUT_MS
    with _ExitAfter(started_at + _timeout_s(call.environ, default_ms), call.state_folder):
        # Imported here: it loads the store and the service, which a server makes unnecessary.
        from recollect.hooks.without_server import answer_from_file

        response = answer_from_file(
            target.db, call.payload, client=call.client, kind=call.kind, project=call.project
        )
        return response, "file"


def _ask_server(address: tuple[str, int, bool], call: _HookCall) -> tuple[int, bytes]:
    """Return status and body of the server's response, or 0 and the reason if there is none."""
    # Imported here: it loads the sockets, which an answer from the file does not need.
    from recollect.hooks import server_request

    timeout_s = _timeout_s(call.environ, SERVER_TIMEOUT_MS)
    deadline = time.monotonic() + timeout_s
    db = "" if call.target.is_remote else call.target.db
    # The client's JSON goes on as it came; it was parsed, so it is one object.
    body = (
        f'{{"db": {quote(db)}, "project": {quote(call.project)}, '
        f'"until": {time.time() + timeout_s}, "told": {call.input}}}'
    ).encode("utf-8", "replace")
    path, token = f"/api/hooks/{call.client}/{call.kind}", call.target.token
    try:
        return server_request.post_json(address, path, body, token=token, deadline=deadline)
    except server_request.ServerUnreachable:
        return WRONG_SERVER_STATUSES[0], b""
    except server_request.ServerTimeout:
        return 0, b"server timed out"
    except server_request.InvalidServerResponse:
        return 0, b"invalid server response"


def _defer_capture_in_background(call: _HookCall) -> None:
    """Queue the transcript, so that it is captured even if the client is killed."""
    if "transcript_path" not in call.payload:
        return
    if os.name != "posix" or "recollect.hooks.client_events" in sys.modules:
        _defer_capture(call)
    elif os.fork() == 0:
        # In a child process: the imports are slow, and the client waits only for the parent.
        try:
            _detach_from_client()
            _defer_capture(call)
        finally:
            os._exit(0)


def _detach_from_client() -> None:
    """Leave the client's session and release its input and output."""
    os.setsid()
    os.nice(NICE)
    devnull = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(devnull, descriptor)


def _defer_capture(call: _HookCall) -> None:
    # Imported here because most calls do not need them.
    from recollect.hooks.client_events import parse_event
    from recollect.hooks.pending_captures import defer_capture

    event = parse_event(call.payload, client=call.client, kind=call.kind, project=call.project)
    if event.transcript_path:
        folder = state_files.session_folder(call.state_folder)
        project = event.project_or_cwd or os.getcwd()
        defer_capture(folder, event, db=_queue_key(call.target), project=project)


def _queue_key(target: TargetStore) -> str:
    """Return the name of the store in the capture queue."""
    return target.server_url if target.is_remote else target.db


def _schedule_capture(call: _HookCall) -> str:
    """Queue the transcript and start the capture process if it is due; return the outcome."""
    # Imported here because only capture events need them.
    from recollect.hooks.client_events import parse_event
    from recollect.hooks.pending_captures import NOW, schedule_capture
    from recollect.hooks.start_capture import start_capture

    event = parse_event(call.payload, client=call.client, kind=call.kind, project=call.project)
    if not event.transcript_path:
        return "no transcript path in the payload"
    try:
        size = os.stat(event.transcript_path).st_size
    except OSError as error:
        return f"the transcript cannot be read: {type(error).__name__}"
    target = call.target
    folder = state_files.session_folder(call.state_folder)
    project = event.project_or_cwd or os.getcwd()
    when = schedule_capture(folder, event, db=_queue_key(target), project=project, size=size)
    if when == NOW:
        server_url = target.server_url if target.is_remote else ""
        start_capture(db=target.db, server_url=server_url, folder=folder)
    return f"capture {when}"


def _server_address(target: TargetStore, folder: str) -> "tuple[str, int, bool] | None":
    if target.server_url:
        return target_store.parse_server_url(target.server_url)
    address = target_store.local_server_address(folder, target.db)
    return None if address is None else (*address, False)


def _needs_no_lookup(host: str) -> bool:
    """Return whether *host* needs no DNS lookup, which a socket timeout does not limit."""
    return host == "localhost" or ":" in host or host.replace(".", "").isdigit()


def _parse_arguments(arguments: "list[str]") -> "tuple[str, dict[str, str]]":
    """Return the event and the options of the command; raise ValueError if they are wrong."""
    event = ""
    options: dict[str, str] = {}
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if name in OPTIONS:
            options[name] = value if equals else next(remaining, "")
        elif argument.startswith("-") or event:
            raise ValueError("unknown argument")
        else:
            event = argument
    return event, options


def _project(option: str, environ: "dict[str, str]") -> str:
    """Return the configured project: a name, or the absolute path of a folder."""
    project = option or environ.get("CLAUDE_PROJECT_DIR") or environ.get("CURSOR_PROJECT_DIR") or ""
    is_path = project.startswith((".", "~", "/", "\\")) or os.path.isabs(project)
    return os.path.abspath(os.path.expanduser(project)) if is_path else project


def _read_payload() -> "_Payload | None":
    """Return the JSON object on the input, None if it is missing, too large or too late."""
    deadline = time.monotonic() + INPUT_TIMEOUT_S
    received = b""
    while True:
        # Windows cannot wait for a pipe with a timeout.
        if os.name == "posix" and not select.select([0], [], [], deadline - time.monotonic())[0]:
            return None
        chunk = os.read(0, 1 << 20)
        if not chunk:
            break
        received += chunk
        if len(received) > MAX_INPUT_BYTES or time.monotonic() > deadline:
            return None
        if chunk.rstrip().endswith(b"}"):
            # The payload may be complete: not every client closes the pipe.
            try:
                return _parse_object(received)
            except ValueError:
                continue
    return _parse_object(received)


def _parse_object(received: bytes) -> "_Payload | None":
    text = received.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace") or "null"
    value = parse_json(text)
    return _Payload(text, value) if isinstance(value, dict) else None


def _timeout_s(environ: "dict[str, str]", default_ms: float) -> float:
    """Return a timeout in seconds: the configured one, or the default."""
    configured = environ.get("RECOLLECT_HOOK_TIMEOUT_MS", "")
    return (float(configured) if configured.isdigit() else default_ms) / 1000


def _print(response: bytes) -> None:
    written = 0
    while written < len(response):
        written += os.write(1, response[written:])


class _ExitAfter:
    """Exit the process silently if the block is still running at *deadline*."""

    def __init__(self, deadline: float, folder: str) -> None:
        # Imported here: a request to a local server needs no thread.
        from threading import Timer

        self._folder = folder
        self._timer = Timer(max(deadline - time.monotonic(), 0.0), self._exit)
        self._timer.daemon = True

    def _exit(self) -> None:
        state_files.append_log(self._folder, "timed out")
        os._exit(0)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *raised: object) -> None:
        # After the block only the response is printed, which is fast.
        self._timer.cancel()

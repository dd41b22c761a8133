"""
The process of a hook: JSON on its input, an answer or nothing on its output, and gone.

It only carries. A server, where one serves the store, does the thinking; without one the file is
asked here (direct.py). What is to be captured is noted, and a process of its own does it. Whatever
goes wrong, the exit code is 0, nothing is printed, and a line in the log says what it was, never
what was said. Only the least of the standard library is loaded here: a client waits for it.
"""

import json
import os
import select
import sys
import time

from recollect.hooks import names, state
from recollect.hooks.ask import Late, NoAnswer, Nobody, post
from recollect.hooks.whose import Whose, address_in, served_at, whose

SERVER_MS = 100.0  # for a server to answer
ALONE_MS = 1_000.0  # for the whole process, where there is none
STARTING_MS = 3_000.0  # the same when a session begins: it does so once, and loading takes its time
INPUT_S = 2.0  # for the client to say what happened
NICE = 10  # of what nobody waits for
MOST_INPUT_BYTES = 8_000_000
OPTIONS = ("--client", "--db", "--project")
# The server cannot answer for this store; the file can.
NOT_HERS = (401, 403, 404, 409)


class _Call:
    """One call of the command: the event, and what was said about it. No dataclass: see above."""

    __slots__ = ("client", "environ", "kind", "project", "state", "told", "wanted")

    def __init__(
        self,
        kind: str,
        client: str,
        *,
        told: dict[str, object],
        options: dict[str, str],
        environ: dict[str, str],
    ) -> None:
        self.kind = kind
        self.client = client
        self.environ = environ
        self.state = state.state_folder(environ)
        self.told = told
        self.wanted = whose(environ, options.get("--db", ""))
        self.project = _project(options.get("--project", ""), environ)


def main(arguments: list[str]) -> int:
    """Run one hook; always 0."""
    begun = time.monotonic()
    environ = dict(os.environ)
    who = "-"
    try:
        event, options = _read(arguments)
        kind, client = names.kind_of(event), _client(options.get("--client", ""), environ)
        who = f"{client} {kind or 'unknown'}"
        outcome = _hooked(kind, client, options, environ, begun)
    except (Exception, KeyboardInterrupt) as error:
        # The boundary of the process: a hook that fails must not be noticed by its client.
        outcome = f"failed: {type(error).__name__}"
    line = f"{who} {(time.monotonic() - begun) * 1000:.0f}ms {outcome}"
    state.log(state.state_folder(environ), line)
    return 0


def _hooked(
    kind: str, client: str, options: dict[str, str], environ: dict[str, str], begun: float
) -> str:
    """Do what the event asks for, and return what came of it, for the log."""
    if not kind:
        return "no such event"
    told = _told()
    if told is None:
        return "nothing to read in what the client said"
    if "CLAUDE_PLUGIN_ROOT" in environ:
        # Only the hooks of the plugin pay for loading this.
        from recollect.hooks.twice import runs_from_settings

        if runs_from_settings(kind, environ):
            return "left to the hook in the client's settings"
    call = _Call(kind, client, told=told, options=options, environ=environ)
    if kind in names.TELLING:
        return _noted(call)
    answer, how = _asked(call, begun)
    if answer:
        _print(answer)
    if kind == names.PROMPT:
        _foreseen(call)
    return f"{len(answer)} bytes ({how})" if answer else f"nothing to say ({how})"


def _asked(call: _Call, begun: float) -> tuple[bytes, str]:
    """Return what to print and who said it: a server of this store, or else the file."""
    wanted = call.wanted
    where = _server(wanted, call.state)
    if where is not None:
        if _is_number(where[0]):
            status, answer = _answer_of(where, call)
        else:
            with _Deadline(time.monotonic() + _limit(call.environ, SERVER_MS), call.state):
                status, answer = _answer_of(where, call)
        if status in (200, 204):
            return answer, "server"
        if status not in NOT_HERS:
            return b"", f"the server answered {status}" if status else answer.decode()
    if wanted.elsewhere:
        return b"", "no server"
    if not os.path.isfile(wanted.db):
        return b"", "no store yet"
    alone = STARTING_MS if call.kind == names.SESSION_START else ALONE_MS
    with _Deadline(begun + _limit(call.environ, alone), call.state):
        # Loads the store and the service: only here, where nobody else answers.
        from recollect.hooks.direct import answered

        told, project = call.told, call.project
        found = answered(wanted.db, told, client=call.client, kind=call.kind, project=project)
        return found, "file"


def _answer_of(where: tuple[str, int, bool], call: _Call) -> tuple[int, bytes]:
    """Return status and body of a server's answer; 0 and why, where there is none to wait for."""
    wanted = call.wanted
    db = "" if wanted.elsewhere else wanted.db
    limit = _limit(call.environ, SERVER_MS)
    until = time.monotonic() + limit
    asked = {"db": db, "project": call.project, "told": call.told, "until": time.time() + limit}
    body = json.dumps(asked).encode("ascii")
    path = f"/api/hooks/{call.client}/{call.kind}"
    try:
        return post(where, path, body, token=wanted.token, until=until)
    except Nobody:
        return NOT_HERS[0], b""
    except Late:
        return 0, b"the server was late"
    except NoAnswer:
        return 0, b"the server's answer is none"


def _foreseen(call: _Call) -> None:
    """Note that the session is to be captured one day, should its client be killed meanwhile."""
    if "transcript_path" not in call.told:
        return
    if os.name != "posix" or "recollect.hooks.events" in sys.modules:
        _wish_later(call)
    elif os.fork() == 0:
        # Loading what that takes would keep the client waiting; it waits for the parent alone.
        try:
            _let_go()
            _wish_later(call)
        finally:
            os._exit(0)


def _let_go() -> None:
    """Hold nothing that a client waits for, and nobody up."""
    os.setsid()
    os.nice(NICE)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for held in (0, 1, 2):
        os.dup2(nowhere, held)


def _wish_later(call: _Call) -> None:
    # As above.
    from recollect.hooks.events import event_of
    from recollect.hooks.wishes import wish_later

    event = event_of(call.told, client=call.client, kind=call.kind, project=call.project)
    if event.transcript:
        folder = state.session_folder(call.state)
        wish_later(folder, event, db=_key(call.wanted), place=event.place or os.getcwd())


def _key(wanted: Whose) -> str:
    """Return the name of the store under which wishes are kept."""
    return wanted.server_url if wanted.elsewhere else wanted.db


def _noted(call: _Call) -> str:
    """Note what is to be captured, and start who does it."""
    # Only those who capture pay for loading these.
    from recollect.hooks.detach import start_capture
    from recollect.hooks.events import event_of
    from recollect.hooks.wishes import NOW, wish_for

    event = event_of(call.told, client=call.client, kind=call.kind, project=call.project)
    if not event.transcript:
        return "no transcript was named"
    try:
        size = os.stat(event.transcript).st_size
    except OSError as error:
        return f"the transcript cannot be read: {type(error).__name__}"
    wanted = call.wanted
    folder = state.session_folder(call.state)
    place = event.place or os.getcwd()
    decided = wish_for(folder, event, db=_key(wanted), place=place, size=size)
    if decided == NOW:
        server_url = wanted.server_url if wanted.elsewhere else ""
        start_capture(db=wanted.db, server_url=server_url, folder=folder)
    return f"capture {decided}"


def _server(wanted: Whose, folder: str) -> "tuple[str, int, bool] | None":
    if wanted.server_url:
        return address_in(wanted.server_url)
    found = served_at(folder, wanted.db)
    return None if found is None else (*found, False)


def _is_number(host: str) -> bool:
    """Say whether *host* need not be looked up, for which no socket has a limit."""
    return host == "localhost" or ":" in host or host.replace(".", "").isdigit()


def _read(arguments: "list[str]") -> "tuple[str, dict[str, str]]":
    """Return the event and the options of the command; raises ValueError where they are wrong."""
    event = ""
    options: dict[str, str] = {}
    given = iter(arguments)
    for one in given:
        name, equals, value = one.partition("=")
        if name in OPTIONS:
            options[name] = value if equals else next(given, "")
        elif one.startswith("-") or event:
            raise ValueError("unknown argument")
        else:
            event = one
    return event, options


def _client(named: str, environ: "dict[str, str]") -> str:
    return names.CURSOR if environ.get("CURSOR_VERSION") else names.client_of(named)


def _project(named: str, environ: "dict[str, str]") -> str:
    """Return the project as somebody names it: a name, or a folder, made absolute."""
    project = named or environ.get("CLAUDE_PROJECT_DIR") or environ.get("CURSOR_PROJECT_DIR") or ""
    is_path = project.startswith((".", "~", "/", "\\")) or os.path.isabs(project)
    return os.path.abspath(os.path.expanduser(project)) if is_path else project


def _told() -> "dict[str, object] | None":
    """Return the object on the input, None where there is none, or too much, or too late."""
    until = time.monotonic() + INPUT_S
    received = b""
    while True:
        # On Windows one cannot wait for a pipe with a limit.
        if os.name == "posix" and not select.select([0], [], [], until - time.monotonic())[0]:
            return None
        piece = os.read(0, 1 << 20)
        if not piece:
            break
        received += piece
        if len(received) > MOST_INPUT_BYTES or time.monotonic() > until:
            return None
        if piece.rstrip().endswith(b"}"):
            # Whole already, perhaps: not every client closes what it writes to.
            try:
                return _object_in(received)
            except ValueError:
                continue
    return _object_in(received)


def _object_in(received: bytes) -> "dict[str, object] | None":
    read = json.loads(received.decode("utf-8-sig", "replace") or "null")
    return read if isinstance(read, dict) else None


def _limit(environ: "dict[str, str]", default_ms: float) -> float:
    """Return a time limit in seconds: the one somebody set, or our own."""
    written = environ.get("RECOLLECT_HOOK_TIMEOUT_MS", "")
    return (float(written) if written.isdigit() else default_ms) / 1000


def _print(answer: bytes) -> None:
    written = 0
    while written < len(answer):
        written += os.write(1, answer[written:])


class _Deadline:
    """Ends the process, silently, where a block takes longer than *until*."""

    def __init__(self, until: float, folder: str) -> None:
        # Loaded here: asking a server needs no thread.
        from threading import Timer

        self._folder = folder
        self._timer = Timer(max(until - time.monotonic(), 0.0), self._ended)
        self._timer.daemon = True

    def _ended(self) -> None:
        state.log(self._folder, "gave up: no time left")
        os._exit(0)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *raised: object) -> None:
        # Afterwards only the answer is printed, and that at once.
        self._timer.cancel()

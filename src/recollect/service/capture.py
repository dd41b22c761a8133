"""
Capture material: one transaction writes source, event and job, and the caller goes on.

The engine reads the source later. The same material captured twice for the same owner is
recognised and not stored again.
"""

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from recollect.calling_client import LIBRARY, calling_client
from recollect.domain.capture_event import CaptureMode, Event, EventState, Trigger
from recollect.domain.job import JobKind
from recollect.domain.limits import MAX_NAME, MAX_TITLE
from recollect.domain.scope import Scope, owner_of
from recollect.domain.source import BLANKS, Source, SourceKind
from recollect.domain.transcript import Transcript, Voice
from recollect.engine.leased_job import NextStep, new_job
from recollect.engine.source_text import TYPED_CHECKED, TranscriptText, render_transcript
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.service.place_lookup import RequestPlace, ensure_place, place_of
from recollect.service.read_material import read_material
from recollect.service.services import Services
from recollect.service.write_memory import scope_of
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fingerprint import sha256_hex, short_hash
from recollect.text.redact import redact
from recollect.text.transcripts.plain_text import DIALOGUE
from recollect.wire.requests import captures as requests
from recollect.wire.requests.recollect import CaptureConversationRequest, CaptureSessionRequest
from recollect.wire.requests.shared import CaptureFields

_KINDS = {
    CaptureMode.TRANSCRIPT: SourceKind.CONVERSATION,
    CaptureMode.NOTE: SourceKind.DOCUMENT,
    CaptureMode.SUMMARY: SourceKind.CONVERSATION,
    CaptureMode.IMPORT: SourceKind.IMPORT,
}


class NothingToCapture(InvalidInput):
    """The material is valid, but it has no words, or all of them are private."""


@dataclass(frozen=True, kw_only=True)
class Capture:
    """One conversation that is ready to be stored: validated and without secrets."""

    transcript: Transcript
    material: TranscriptText
    mode: CaptureMode
    trigger: Trigger
    place: RequestPlace
    scope: Scope
    explicit_scope: bool
    title: str
    given_title: str  # '' if the title is the transcript's own: a model may have written that
    uri: str
    imported: bool = False  # from the history of another program: candidates wait in the inbox


def capture_session(services: Services, request: CaptureSessionRequest) -> Event:
    """Store the transcript of one session."""
    captures = parse_captures(request.transcript, request, trigger=Trigger.SESSION)
    return _store_single(services, captures)


def capture_conversation(services: Services, request: CaptureConversationRequest) -> Event:
    """Store one conversation as transcript, note, summary or import."""
    material, mode = request.material, request.capture_mode
    captures = parse_captures(material, request, trigger=Trigger.CONVERSATION, mode=mode)
    return _store_single(services, captures)


def capture_many(services: Services, request: requests.CaptureManyRequest) -> list[Event]:
    """Store every conversation in several texts or files, all or none."""
    captures: list[Capture] = []
    mode = request.capture_mode
    for material in request.materials:
        captures += parse_captures(material, request, trigger=Trigger.SESSION, mode=mode)
    return _store_all(services, captures)


def get_capture(services: Services, request: requests.GetCaptureRequest) -> Event:
    """Return the progress of one capture."""
    with services.store.read() as tables:
        event = tables.sources.event(request.event_id)
    if event is None:
        raise NotFound(f"there is no event {request.event_id!r} in this store")
    return event


def list_captures(services: Services, request: requests.ListCapturesRequest) -> list[Event]:
    """Return every capture and write, oldest first."""
    with services.store.read() as tables:
        return tables.sources.events()


def parse_captures(
    material: object,
    fields: CaptureFields,
    *,
    trigger: Trigger,
    mode: CaptureMode = CaptureMode.TRANSCRIPT,
) -> list[Capture]:
    """Return the conversations in *material*; a file may hold several."""
    transcripts, uri = read_material(material, mode)
    texts = (message.text for transcript in transcripts for message in transcript.messages)
    if not any(text.strip() for text in texts):
        raise NothingToCapture("there is nothing to capture: the conversation contains no messages")
    place = place_of(fields)
    captures = [
        prepare_capture(
            replace(
                _with_user(_clean_names(transcript), fields.user),
                started_at=fields.observed_at or transcript.started_at,
            ),
            place=place,
            trigger=trigger,
            mode=mode,
            scope=fields.scope,
            title=fields.title,
            uri=uri,
        )
        for transcript in transcripts
    ]
    captures = [capture for capture in captures if capture.material.turns]
    if not captures:
        raise NothingToCapture("there is nothing to capture: all of it was private")
    return captures


def prepare_capture(
    transcript: Transcript,
    *,
    place: RequestPlace,
    trigger: Trigger,
    mode: CaptureMode,
    scope: Scope | None = None,
    title: str = "",
    uri: str = "",
    imported: bool = False,
) -> Capture:
    """Return one conversation as it will be stored: cleaned, redacted, with its place."""
    transcript = _clean_names(transcript)
    place = _with_folder(place, transcript.folder)
    return Capture(
        transcript=transcript,
        material=render_transcript(transcript),
        mode=mode,
        trigger=trigger,
        place=place,
        # A session name identifies the capture. It does not limit who sees the memories.
        scope=scope_of(scope, place if scope else replace(place, session=None)),
        explicit_scope=scope is not None,
        title=redact(clean(title or transcript.title)).text[:MAX_TITLE],
        given_title=redact(clean(title)).text[:MAX_TITLE],
        uri=redact(clean(uri)).text,
        imported=imported,
    )


def _store_single(services: Services, captures: list[Capture]) -> Event:
    if len(captures) != 1:
        raise InvalidInput(
            f"the material holds {len(captures)} conversations; use captures.add_file or "
            "captures.add_many"
        )
    return _store_all(services, captures)[0]


def _store_all(services: Services, captures: Iterable[Capture]) -> list[Event]:
    return services.store.write(
        lambda tables: [store_capture(services, tables, capture) for capture in captures]
    )


def store_capture(services: Services, tables: Tables, capture: Capture) -> Event:
    """Store one conversation and queue its first job, inside a transaction."""
    place_ids = asdict(ensure_place(tables, capture.place, services.clock))
    owner = owner_of(capture.scope, **place_ids)
    source = _source(services, tables, capture)
    for event in tables.sources.events_of(source.id):
        if (event.owner, event.trigger) == (owner, capture.trigger):
            return event  # the same material for the same owner is captured already
    now = services.clock.now()
    event = Event(
        id=services.clock.new_id(),
        trigger=capture.trigger,
        source_id=source.id,
        owner=owner,
        state=EventState.CAPTURED,
        title=capture.title,
        uri=capture.uri,
        created_at=now,
        updated_at=now,
    )
    tables.sources.add_event(event)
    tables.clients.count_write(calling_client() or LIBRARY, at=now)
    explicit = capture.scope.value if capture.explicit_scope else None
    payload: dict[str, Any] = {**place_ids, "scope": explicit, "title": capture.given_title}
    tables.jobs.add(new_job(event.id, NextStep(JobKind.EXTRACT, payload=payload), services.clock))
    return event


def _source(services: Services, tables: Tables, capture: Capture) -> Source:
    kind = SourceKind.IMPORT if capture.imported else _KINDS[capture.mode]
    if kind is SourceKind.CONVERSATION and capture.mode is CaptureMode.TRANSCRIPT:
        kind = SourceKind.RUN if capture.trigger is Trigger.SESSION else kind
    digest = sha256_hex(capture.material.content)
    stored = tables.sources.with_hash(digest, kind)
    if stored is not None:
        return stored
    now = services.clock.now()
    transcript = capture.transcript
    source = Source(
        id=services.clock.new_id(),
        kind=kind,
        content=capture.material.content,
        sha256=digest,
        session=_session_name(tables, capture),
        redactions=capture.material.redactions,
        metadata={
            "mode": capture.mode.value,
            "format": transcript.format,
            "turns": capture.material.turns,
            TYPED_CHECKED: True,
            **({"client": client} if (client := calling_client()) not in ("", LIBRARY) else {}),
        },
        captured_at=now,
        observed_at=transcript.started_at or now,
    )
    tables.sources.add(source)
    return source


def _session_name(tables: Tables, capture: Capture) -> str:
    """Return the name of the session; without one, a name derived from its first message."""
    name = capture.place.session or capture.transcript.session
    if name:
        return name
    content = capture.material.content
    first = capture.transcript.messages[0]
    beginning = f"{first.voice} {first.at} {content[: capture.material.turns[0][1]]}"
    prefix = f"begins {short_hash(beginning).hex()[:16]}"
    sessions = tables.sources.with_session_prefix(prefix)
    for session, stored in sessions:
        if continues(stored, content) or continues(content, stored):
            return session  # the same session, captured before it was over
    return f"{prefix} {len(sessions)}"


def continues(earlier: str, later: str) -> bool:
    """Return whether *later* begins with all of *earlier*; forgotten characters match any."""
    if not any(blank in earlier for blank in BLANKS):
        return later.startswith(earlier)
    return len(later) >= len(earlier) and all(
        char == other or char in BLANKS for char, other in zip(earlier, later, strict=False)
    )


def _clean_names(transcript: Transcript) -> Transcript:
    """Return *transcript* with names that can be stored; `render_transcript` cleans its texts."""
    return replace(
        transcript,
        messages=tuple(
            replace(message, speaker=redact(clean(message.speaker)).text[:MAX_NAME])
            if message.speaker
            else message
            for message in transcript.messages
        ),
        title=clean(transcript.title),
        session=redact(clean(transcript.session)).text[:MAX_NAME],
        folder=clean(transcript.folder),
    )


def _with_user(transcript: Transcript, user: str) -> Transcript:
    """Return *transcript* with the messages of the speaker named *user* as those of the user."""
    if not user:
        return transcript
    # Labels in a plain text are not evidence of who typed it.
    voice = Voice.PASTED if transcript.format == DIALOGUE else Voice.USER
    messages = tuple(
        replace(message, voice=voice) if message.speaker.casefold() == user.casefold() else message
        for message in transcript.messages
    )
    if not any(message.speaker.casefold() == user.casefold() for message in messages):
        raise InvalidInput(
            f"no message of this conversation has the speaker {user!r}; check user=…"
        )
    return replace(transcript, messages=messages)


def _with_folder(place: RequestPlace, folder: str) -> RequestPlace:
    """Return *place*, with the folder of the conversation as its project if it names none."""
    path = Path(folder)
    if place.project or place.repo or not path.is_absolute():
        return place
    if path in (Path.home(), Path("/"), Path("/tmp")):
        return place  # sessions of all kinds run there, so it is not a project
    try:
        path.exists()
        return RequestPlace.of(str(path), None, place.agent, place.session)
    except (InvalidInput, OSError):
        return place  # not a valid path on this machine; the material is still worth storing

"""
Take raw material in: one transaction writes source, event and job, and the caller goes on.

Nothing is read here that was not handed over, and nothing is decided; the engine reads the source
later. The same material captured twice for the same owner is recognised and not stored again.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from recollect.domain.capture_event import Event, EventState, Trigger
from recollect.domain.job import JobKind
from recollect.domain.scope import Scope, owner_of
from recollect.domain.source import BLANKS, Source, SourceKind
from recollect.domain.transcript import Transcript, TranscriptMessage, Voice
from recollect.engine.leased_job import NextStep, new_job
from recollect.engine.source_text import TranscriptText, render_transcript
from recollect.errors import InvalidInput
from recollect.service import inputs
from recollect.service.handed import CaptureMode, transcripts_in
from recollect.service.places import Where, settle, where_of
from recollect.service.services import Services
from recollect.service.write import scope_of
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.fingerprint import sha256_hex, short_hash
from recollect.text.redact import redact
from recollect.wire.requests.shared import CaptureFields

_KINDS = {
    CaptureMode.TRANSCRIPT: SourceKind.CONVERSATION,
    CaptureMode.NOTE: SourceKind.DOCUMENT,
    CaptureMode.SUMMARY: SourceKind.CONVERSATION,
    CaptureMode.IMPORT: SourceKind.IMPORT,
}


@dataclass(frozen=True, kw_only=True)
class Capture:
    """What a caller hands over: checked and without secrets, not yet stored."""

    transcript: Transcript
    material: TranscriptText
    mode: CaptureMode
    trigger: Trigger
    where: Where
    scope: Scope
    explicit_scope: bool
    title: str
    uri: str
    imported: bool = False  # from another program's past: it waits for a person


def captures(
    material: object,
    request: CaptureFields,
    *,
    trigger: Trigger,
    mode: object = CaptureMode.TRANSCRIPT,
) -> list[Capture]:
    """Check and lay out what a caller wants captured; a file may hold several conversations."""
    chosen = inputs.one_of("capture_mode", CaptureMode, mode)
    named = inputs.text_of("title", request.title, most=inputs.MAX_TITLE)
    speaker = inputs.text_of("user", request.user, most=inputs.MAX_NAME)
    moment = request.observed_at
    found, uri = transcripts_in(material, chosen)
    if not any(said.text.strip() for one in found for said in one.messages):
        raise InvalidInput("there is nothing to capture: nobody says anything in it")
    taken = [
        laid_out(
            replace(_as_said_by(_clean(one), speaker), started_at=moment or one.started_at),
            where=where_of(request),
            trigger=trigger,
            mode=chosen,
            scope=request.scope,
            title=named,
            uri=uri,
        )
        for one in found
    ]
    kept = [one for one in taken if one.material.turns]
    if not kept:
        raise InvalidInput("there is nothing to capture: all of it was private")
    return kept


def laid_out(
    told: Transcript,
    *,
    where: Where,
    trigger: Trigger,
    mode: CaptureMode,
    scope: object = None,
    title: str = "",
    uri: str = "",
    imported: bool = False,
) -> Capture:
    """Return one conversation as it will be stored: cleaned, without secrets, in its place."""
    transcript = _clean(told)
    place = _placed(where, transcript)
    return Capture(
        transcript=transcript,
        material=render_transcript(transcript),
        mode=mode,
        trigger=trigger,
        where=place,
        # A session's name says which one it was, not that nobody else may know of it.
        scope=scope_of(scope, place if scope else replace(place, session=None)),
        explicit_scope=scope is not None,
        title=redact(clean(title or transcript.title)).text[: inputs.MAX_TITLE],
        uri=uri,
        imported=imported,
    )


def capture_many(services: Services, wanted: Sequence[Capture]) -> list[Event]:
    """Store each one's material and put its first step in the queue, in one transaction."""
    return services.store.write(lambda tables: [take_in(services, tables, one) for one in wanted])


def take_in(services: Services, tables: Tables, wanted: Capture) -> Event:
    """Store one conversation's material and its first step, inside a transaction."""
    wanted = _with_agent_scope(wanted, single_user=services.settings.single_user)
    places = settle(tables, wanted.where, services.clock)
    owner = owner_of(wanted.scope, **asdict(places))
    source = _source(services, tables, wanted)
    for event in tables.sources.events_of(source.id):
        if (event.owner, event.trigger) == (owner, wanted.trigger):
            return event  # the same material for the same owner: it is on its way, or done
    now = services.clock.now()
    event = Event(
        id=services.clock.new_id(),
        trigger=wanted.trigger,
        source_id=source.id,
        owner=owner,
        state=EventState.CAPTURED,
        title=wanted.title,
        uri=wanted.uri,
        created_at=now,
        updated_at=now,
    )
    tables.sources.add_event(event)
    explicit = wanted.scope.value if wanted.explicit_scope else None
    payload: dict[str, Any] = {**asdict(places), "scope": explicit}
    tables.jobs.add(new_job(event.id, NextStep(JobKind.EXTRACT, payload=payload), services.clock))
    return event


def _with_agent_scope(capture: Capture, *, single_user: bool) -> Capture:
    """
    Return *capture* in the scope of its agent, if it names one and its caller chose no scope.

    Agents may serve different users. What one user tells their agent, facts about the user
    included, must not reach another agent. In a store of a single user it may.
    """
    if single_user or capture.explicit_scope or capture.where.agent is None:
        return capture
    return replace(capture, scope=Scope.AGENT, explicit_scope=True)


def _source(services: Services, tables: Tables, wanted: Capture) -> Source:
    kind = SourceKind.IMPORT if wanted.imported else _KINDS[wanted.mode]
    if (
        kind is not SourceKind.IMPORT
        and wanted.mode is CaptureMode.TRANSCRIPT
        and wanted.trigger is Trigger.SESSION
    ):
        kind = SourceKind.RUN
    digest = sha256_hex(wanted.material.content)
    known = tables.sources.with_hash(digest, kind)
    if known is not None:
        return known
    now = services.clock.now()
    transcript = wanted.transcript
    source = Source(
        id=services.clock.new_id(),
        kind=kind,
        content=wanted.material.content,
        sha256=digest,
        session=_session(tables, wanted),
        redactions=wanted.material.redactions,
        metadata={
            "mode": wanted.mode.value,
            "format": transcript.format,
            "turns": wanted.material.turns,
        },
        captured_at=now,
        observed_at=transcript.started_at or now,
    )
    tables.sources.add(source)
    return source


def _session(tables: Tables, wanted: Capture) -> str:
    """Return the name of the session; one without a name is known by how it begins and goes on."""
    named = wanted.where.session or wanted.transcript.session
    if named:
        return named
    content = wanted.material.content
    first = wanted.transcript.messages[0]
    begun = f"{first.voice} {first.at} {content[: wanted.material.turns[0][1]]}"
    mark = f"begins {short_hash(begun).hex()[:16]}"
    known = tables.sources.with_session_prefix(mark)
    for session, earlier in known:
        if goes_on(earlier, content) or goes_on(content, earlier):
            return session  # the same session, captured before it was over
    return f"{mark} {len(known)}"


def goes_on(earlier: str, later: str) -> bool:
    """Say whether *later* begins with all of *earlier*, whatever of it was forgotten since."""
    if not any(mark in earlier for mark in BLANKS):
        return later.startswith(earlier)
    return len(later) >= len(earlier) and all(
        one == other or one in BLANKS for one, other in zip(earlier, later, strict=False)
    )


def _clean(transcript: Transcript) -> Transcript:
    """Return *transcript* with storable names; its texts are cleaned as they are laid out."""
    return replace(
        transcript,
        messages=tuple(
            replace(message, speaker=_speaker(message)) for message in transcript.messages
        ),
        title=clean(transcript.title),
        session=redact(clean(transcript.session)).text[: inputs.MAX_NAME],
        folder=clean(transcript.folder),
    )


def _speaker(said: TranscriptMessage) -> str:
    return redact(clean(said.speaker)).text[: inputs.MAX_NAME] if said.speaker else ""


def _as_said_by(transcript: Transcript, user: str) -> Transcript:
    """Return *transcript* with what the speaker named *user* says in the user's own voice."""
    if not user:
        return transcript
    if not any(said.speaker.casefold() == user.casefold() for said in transcript.messages):
        raise InvalidInput(f"nobody named {user!r} speaks in this conversation; check user=…")
    said = tuple(
        replace(one, voice=Voice.USER) if one.speaker.casefold() == user.casefold() else one
        for one in transcript.messages
    )
    return replace(transcript, messages=said)


def _placed(where: Where, transcript: Transcript) -> Where:
    """Return where the material belongs: as told, or else the folder in which it was said."""
    if where.project or where.repo or not transcript.folder:
        return where
    place = Path(transcript.folder)
    if not place.is_absolute() or place in (Path.home(), Path("/"), Path("/tmp")):
        return where  # everything happens there, so it is no project
    try:
        place.exists()
        return Where.of(str(place), where.repo, where.agent, where.session)
    except (InvalidInput, OSError):
        return where  # no folder anybody could have; the material is still worth keeping

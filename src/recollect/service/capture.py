"""
Take raw material in: one transaction writes source, event and job, and the caller goes on.

Nothing is read here that was not handed over, and nothing is decided; the engine reads the source
later. The same material captured twice for the same owner is recognised and not stored again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from recollect.config import at_home
from recollect.domain.event import Event, EventState, Trigger
from recollect.domain.job import JobKind
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Source, SourceKind
from recollect.domain.transcript import Said, Transcript, Voice
from recollect.engine.desk import Next, new_job
from recollect.engine.material import Material, lay_out
from recollect.errors import InvalidInput, TooLarge
from recollect.service import inputs
from recollect.service.deps import Deps
from recollect.service.places import Places, Where, settle
from recollect.service.write import scope_of
from recollect.store.protocol import Tables
from recollect.text.clean import clean
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact

MOST_CHARS = 64_000_000
MOST_BYTES = 4 * MOST_CHARS


class CaptureMode(StrEnum):
    """What kind of material is handed over."""

    TRANSCRIPT = "transcript"  # what was said, message by message
    NOTE = "note"  # somebody's own notes: each sentence is meant to be kept
    SUMMARY = "summary"  # what an agent wrote about a conversation, saved on purpose
    IMPORT = "import"  # a transcript from another program


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
    material: Material
    mode: CaptureMode
    trigger: Trigger
    where: Where
    scope: Scope
    explicit_scope: bool
    title: str
    uri: str


def captures(
    material: object,
    *,
    where: Where,
    trigger: Trigger,
    mode: object = CaptureMode.TRANSCRIPT,
    scope: object = None,
    title: object = "",
    user: object = "",
    observed_at: object = None,
) -> list[Capture]:
    """Check and lay out what a caller wants captured; a file may hold several conversations."""
    chosen = inputs.one_of("capture_mode", CaptureMode, mode)
    named = inputs.text_of("title", title, most=inputs.MAX_TITLE)
    speaker = inputs.text_of("user", user, most=inputs.MAX_NAME)
    moment = inputs.moment_of("observed_at", observed_at)
    found, uri = _transcripts(material, chosen)
    taken = []
    for one in found:
        transcript = _as_said_by(_clean(one), speaker)
        transcript = replace(transcript, started_at=moment or one.started_at)
        place = _placed(where, transcript)
        taken.append(
            Capture(
                transcript=transcript,
                material=lay_out(transcript),
                mode=chosen,
                trigger=trigger,
                where=place,
                # A session's name says which one it was, not that nobody else may know of it.
                scope=scope_of(scope, place if scope else replace(place, session=None)),
                explicit_scope=scope is not None,
                title=redact(clean(named or transcript.title)).text[: inputs.MAX_TITLE],
                uri=uri,
            )
        )
    return [one for one in taken if _has_something(one, len(taken))]


def capture(deps: Deps, wanted: Capture) -> Event:
    """Store the material and put its first step in the queue; return the event."""
    return deps.store.write(lambda tables: _capture(deps, tables, wanted))


def capture_many(deps: Deps, wanted: Sequence[Capture]) -> list[Event]:
    """Do the same for several, in one transaction."""
    return deps.store.write(lambda tables: [_capture(deps, tables, one) for one in wanted])


def _capture(deps: Deps, tables: Tables, wanted: Capture) -> Event:
    places = settle(tables, wanted.where, deps.clock)
    owner = _owner(wanted.scope, places)
    source = _source(deps, tables, wanted)
    for event in tables.sources.events_of(source.id):
        if (event.owner, event.trigger) == (owner, wanted.trigger):
            return event  # the same material for the same owner: it is on its way, or done
    now = deps.clock.now()
    event = Event(
        id=deps.clock.new_id(),
        trigger=wanted.trigger,
        source_id=source.id,
        owner=owner,
        state=EventState.CAPTURED,
        created_at=now,
        updated_at=now,
    )
    tables.sources.add_event(event)
    payload: dict[str, Any] = {
        "project_id": places.project_id,
        "repo_id": places.repo_id,
        "agent_id": places.agent_id,
        "session_id": places.session_id,
        "scope": wanted.scope.value if wanted.explicit_scope else None,
    }
    tables.jobs.add(new_job(event.id, Next(JobKind.EXTRACT), deps.clock, payload))
    return event


def _source(deps: Deps, tables: Tables, wanted: Capture) -> Source:
    kind = SourceKind.RUN if wanted.trigger is Trigger.SESSION else _KINDS[wanted.mode]
    digest = sha256_hex(wanted.material.content)
    known = tables.sources.with_hash(digest, kind)
    if known is not None:
        return known
    now = deps.clock.now()
    transcript = wanted.transcript
    source = Source(
        id=deps.clock.new_id(),
        kind=kind,
        content=wanted.material.content,
        sha256=digest,
        uri=wanted.uri,
        title=wanted.title,
        session=wanted.where.session or transcript.session,
        redactions=wanted.material.redactions,
        metadata={
            "mode": wanted.mode.value,
            "format": transcript.format,
            "place": transcript.place,
            "turns": wanted.material.turns,
        },
        captured_at=now,
        observed_at=transcript.started_at or now,
    )
    tables.sources.add(source)
    return source


def _transcripts(material: object, mode: CaptureMode) -> tuple[list[Transcript], str]:
    """Return the conversations in *material*, and where it came from."""
    if isinstance(material, Transcript):
        return [material], ""
    if isinstance(material, Path):
        return _read(_file(material), mode), material.expanduser().absolute().as_uri()
    if isinstance(material, str):
        if len(material) > MOST_CHARS:
            raise TooLarge(
                f"the material has {len(material):,} characters; the limit is {MOST_CHARS:,}. "
                "Capture it in parts"
            )
        return _read(material, mode), ""
    if isinstance(material, Mapping):
        material = material.get("messages", [material])
    if isinstance(material, Sequence) and not isinstance(material, bytes | bytearray):
        # The formats are loaded by those who capture, not by everybody.
        from recollect.text.transcripts.messages import from_messages

        return [from_messages(material)], ""
    raise InvalidInput(
        "the material must be text, a list of {role, content} messages, or a path to a file, "
        f"not {type(material).__name__}"
    )


def _read(text: str, mode: CaptureMode) -> list[Transcript]:
    if mode in (CaptureMode.NOTE, CaptureMode.SUMMARY):
        voice = Voice.ASSISTANT if mode is CaptureMode.SUMMARY else Voice.USER
        return [Transcript(said=(Said(voice, text),), format="text")]
    # As above.
    from recollect.text.transcripts.read import read_transcripts

    return read_transcripts(text)


def _file(path: Path) -> str:
    where = at_home(str(path))
    try:
        if where.is_dir():
            raise InvalidInput(f"{path} is a folder; name a transcript file in it")
        if where.stat().st_size > MOST_BYTES:
            raise TooLarge(
                f"{path} is larger than {MOST_BYTES // 1_000_000} MB; capture it in parts"
            )
        return where.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error


def _clean(transcript: Transcript) -> Transcript:
    """Return *transcript* with storable names; its texts are cleaned as they are laid out."""
    return replace(
        transcript,
        said=tuple(replace(one, speaker=clean(one.speaker)) for one in transcript.said),
        title=clean(transcript.title),
        session=redact(clean(transcript.session)).text[: inputs.MAX_NAME],
        place=clean(transcript.place),
    )


def _as_said_by(transcript: Transcript, user: str) -> Transcript:
    """Return *transcript* with what the speaker named *user* says in the user's own voice."""
    if not user:
        return transcript
    if not any(said.speaker.casefold() == user.casefold() for said in transcript.said):
        raise InvalidInput(f"nobody named {user!r} speaks in this conversation; check user=…")
    said = tuple(
        replace(one, voice=Voice.USER) if one.speaker.casefold() == user.casefold() else one
        for one in transcript.said
    )
    return replace(transcript, said=said)


def _placed(where: Where, transcript: Transcript) -> Where:
    """Return where the material belongs: as told, or else the folder in which it was said."""
    if where.project or where.repo or not transcript.place:
        return where
    place = Path(transcript.place)
    if not place.is_absolute() or place in (Path.home(), Path("/"), Path("/tmp")):
        return where  # everything happens there, so it is no project
    return replace(where, project=str(place))


def _has_something(one: Capture, of: int) -> bool:
    if one.material.turns:
        return True
    if of > 1:
        return False  # an empty conversation among others is no reason to refuse the others
    raise InvalidInput(
        "there is nothing to capture: no message has any text"
        + (", or all of it was private" if one.material.redactions else "")
    )


def _owner(scope: Scope, places: Places) -> Owner:
    owner_id = {
        Scope.GLOBAL: "",
        Scope.PROJECT: places.project_id,
        Scope.REPO: places.repo_id,
        Scope.AGENT: places.agent_id,
        Scope.SESSION: places.session_id,
    }[scope]
    return Owner(scope, owner_id or "")

"""
Import an export that this store did not write: everything becomes a candidate in the inbox.

Such a file may say anything, so nothing in it is trusted. Its active memories,
candidates and blocks become candidates with redacted text, which only a person can make active.
Nothing else is imported: no agents with their prompts, no conversations, no history, no repos (a
repo would claim the identity of a project), no views. The result counts what was left out.
Candidates that are here already are recognised, so an interrupted import can be run again.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from itertools import islice
from typing import Any

from recollect.clock import derived_id, from_micros
from recollect.domain.maintenance import Imported
from recollect.domain.memory import MemoryType, Status
from recollect.domain.project import ByPath, parse_reference
from recollect.domain.scope import Scope
from recollect.domain.unfinished_work import UnfinishedWork
from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.service.outside_candidates import add_candidate
from recollect.service.services import Services
from recollect.service.write_memory import MemoryDraft, draft_memory
from recollect.store.bounded_steps import PAUSE_S
from recollect.store.protocol import Tables
from recollect.wire.requests.recollect import IngestRequest

WRITER = "import"
DRAFTS_AT_ONCE = 50  # stored in one transaction
MAX_PLACES = 100_000
MAX_CONFLICTS = 1_000

_IMPORTED_STATUSES = frozenset({Status.ACTIVE.value, Status.INBOX.value})
_TYPES = {type.value for type in MemoryType}
_BLOCK_TYPE = {Scope.GLOBAL.value: MemoryType.PROFILE, Scope.PROJECT.value: MemoryType.PROJECT}

Row = Mapping[str, Any]


@dataclass
class _Places:
    """The names of the places that rows refer to by id."""

    projects: dict[str, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        if len(self.projects) + len(self.agents) > MAX_PLACES:
            raise ImportRefused(
                f"the import has more than {MAX_PLACES:,} projects and agents; is it an export?"
            )
        if row.get("table") == "projects":
            self.projects[str(row.get("id"))] = _reference(row)
        elif row.get("table") == "agents":
            self.agents[str(row.get("id"))] = str(row.get("name") or "")


@dataclass
class _Candidate:
    """A candidate of the file: its draft, and the id that it always gets here."""

    original_id: str
    draft: MemoryDraft

    @property
    def id(self) -> str:
        return derived_id(self.original_id, "untrusted import", 0)


def import_as_candidates(
    services: Services, first_reading: Iterable[Row], rows: Iterable[Row], work: UnfinishedWork
) -> Imported:
    """Store the memories and blocks of *rows* as candidates; both readings give the same rows."""
    places = _Places()
    total: Counter[str] = Counter()
    for row in first_reading:  # to its end: a damaged file changes nothing
        places.add(row)
        total[str(row.get("table"))] += 1
    added = unchanged = 0
    conflicts: list[str] = []
    candidates = _candidates(rows, places, services.clock.now(), conflicts)
    services.store.write(lambda tables: tables.unfinished_work.add(work))
    while batch := list(islice(candidates, DRAFTS_AT_ONCE)):
        stored = services.store.write(lambda tables: _store(services, tables, batch))
        added += stored
        unchanged += len(batch) - stored
        time.sleep(PAUSE_S)
    services.store.write(lambda tables: tables.unfinished_work.remove(work.kind, work.subject))
    left_out = total - Counter({"projects": total["projects"]})
    left_out["memories"] = total["memories"] + total["blocks"] - added - unchanged
    del left_out["blocks"]
    return Imported(
        added={"memories": added} if added else {},
        unchanged=unchanged,
        conflicts=tuple(conflicts),
        trusted=False,
        left_out={table: count for table, count in left_out.items() if count > 0},
    )


def _candidates(
    rows: Iterable[Row], places: _Places, now: datetime, conflicts: list[str]
) -> Iterator[_Candidate]:
    for number, row in enumerate(rows, start=1):
        try:
            request = _request_of(row, places, now)
            if request is not None:
                yield _Candidate(str(row.get("id")), draft_memory(request))
        except (InvalidInput, ValueError, TypeError) as error:
            if len(conflicts) < MAX_CONFLICTS:
                conflicts.append(f"row {number} ({row.get('table')}) is left out: {error}")


def _request_of(row: Row, places: _Places, now: datetime) -> IngestRequest | None:
    """Return what a row says, as a candidate; None if it is not a memory or block to import."""
    table = row.get("table")
    place: dict[str, Any] = {}
    scope = row.get("scope")
    if table == "memories" and row.get("status") in _IMPORTED_STATUSES:
        project_id, agent_id = row.get("project_id"), row.get("agent_id")
        fields = {name: row.get(name) for name in ("content", "title", "summary", "rationale")}
        fields["type"] = row.get("type") if row.get("type") in _TYPES else None
        fields["observed_at"] = min(from_micros(int(row["observed_at"])), now)
    elif table == "blocks" and str(row.get("value") or "").strip():
        owner_id = row.get("owner_id")
        project_id = owner_id if scope == Scope.PROJECT else None
        agent_id = owner_id if scope == Scope.AGENT else None
        fields = {"content": row["value"], "title": f"Block {row.get('label')}"}
        fields["type"] = _BLOCK_TYPE.get(str(scope), MemoryType.ARTIFACT)
    else:
        return None
    if scope != Scope.GLOBAL:
        # The narrowest place that exists without the conversations and repos of the file.
        if scope in (Scope.AGENT, Scope.SESSION) and (agent := places.agents.get(str(agent_id))):
            place = {"agent": agent, "scope": Scope.AGENT}
        elif project := places.projects.get(str(project_id)):
            place = {"project": project, "scope": Scope.PROJECT}
        else:
            raise InvalidInput("its project or agent is not in the file")
    else:
        place = {"scope": Scope.GLOBAL}
    fields = {name: value for name, value in fields.items() if value is not None}
    return IngestRequest.of({**fields, **place, "status": Status.INBOX})


def _reference(project: Row) -> str:
    """Return how a project of the file is called here; '' if it was a folder of another machine."""
    for written in (project.get("identity"), project.get("name")):
        if isinstance(written, str) and written.strip():
            try:
                if not isinstance(parse_reference(written), ByPath):
                    return written
            except InvalidInput:
                continue
    return ""


def _store(services: Services, tables: Tables, batch: list[_Candidate]) -> int:
    return sum(_store_candidate(services, tables, candidate) for candidate in batch)


def _store_candidate(services: Services, tables: Tables, candidate: _Candidate) -> bool:
    """Store a candidate unless it, or a memory of the same words and place, is here already."""
    if tables.memories.get(candidate.original_id) or tables.memories.get(candidate.id):
        return False
    memory = add_candidate(
        services,
        tables,
        candidate.draft,
        memory_id=candidate.id,
        by=WRITER,
        reason="imported from a file that this store did not write",
    )
    return memory is not None

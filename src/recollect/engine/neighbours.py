"""
Read the neighbours of candidates: the memories that consolidation compares them with.

The candidates of a transaction are searched together, with a handful of statements for all of
them. What was read ahead stays true while memories change their status or evidence, except for
their own rows, which are read again. If a memory is deleted, the weights of words differ, and
everything is to be read again (`forget`).

A candidate that is proposed as global is also compared with the place in which it would become
active by itself, and with its project. What was said in different places is never one memory: no
project and no agent learns what was said in another one, unless a person decides so. What is about
the user of one agent is never compared with what another agent was told (`may_compare`).
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from recollect.domain.candidate_scope import (
    PLACES_OF_WORK,
    automatic_scope,
    may_change,
    may_compare,
)
from recollect.domain.change import ChangeKind
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.model_profile import SAME_SCALE, SimilarityScale
from recollect.domain.scope import Owner, Scope
from recollect.engine.capture_owners import CaptureOwners
from recollect.engine.consolidate import NearMemory
from recollect.engine.quoted_utterances import own_evidence, utterances_of
from recollect.store.protocol import Tables
from recollect.store.search_index import NeighbourQuery
from recollect.text.fingerprint import fingerprint

MAX_NEIGHBOURS = 12  # of each index
MAX_NEIGHBOURS_WIDE = 100  # of each index, if too few of the nearest are consolidated


class NeighbourReader:
    """Reads neighbours in one transaction; *changed_ids* are the memories it has changed."""

    def __init__(
        self,
        tables: Tables,
        model_id: int | None,
        changed_ids: Collection[str] = (),
        *,
        single_user: bool = False,
        captures: CaptureOwners | None = None,
    ) -> None:
        self._tables = tables
        self._single_user = single_user
        self._model_id = model_id
        self._changed_ids = changed_ids
        self._similarities: dict[str, dict[str, float | None]] = {}  # by candidate, by neighbour
        self._pending: set[str] = set()  # neighbours that wait for consolidation
        self._memories: dict[str, Memory] = {}
        self._captures = captures or CaptureOwners(tables)

    def read_ahead(self, candidates: Sequence[Memory], *, limit: int = MAX_NEIGHBOURS) -> None:
        """Read the neighbours of some candidates, *limit* of each index."""
        if not candidates:
            return
        tables = self._tables
        owners = [self._owners(candidate) for candidate in candidates]
        texts = [
            (fingerprint(candidate.content), owner)
            for candidate, those in zip(candidates, owners, strict=True)
            for owner in those
        ]
        same = iter(tables.memories.with_fingerprints(texts))
        queries = [
            NeighbourQuery(
                candidate.content,
                those,
                like=candidate.id,
                also=[memory_id for _ in those for memory_id in next(same)],
            )
            for candidate, those in zip(candidates, owners, strict=True)
        ]
        results = tables.search_index.neighbours(
            queries, limit=limit, model_id=self._model_id, scale=self._scale
        )
        for candidate, near in zip(candidates, results, strict=True):
            self._similarities[candidate.id] = {
                memory_id: near[memory_id] for memory_id in near if memory_id != candidate.id
            }
        ids = list(dict.fromkeys(id_ for near in results for id_ in near))
        self._pending |= tables.jobs.unconsolidated_candidates_among(ids)
        # One candidate may become the neighbour of the next one.
        others = self._pending.difference(candidate.id for candidate in candidates)
        memories = tables.memories.get_many([id_ for id_ in ids if id_ not in others])
        self._memories |= {memory.id: memory for memory in memories}
        if any(candidate.scope is Scope.GLOBAL for candidate in candidates):
            self._captures.read_ahead(mem for mem in memories if mem.scope is Scope.GLOBAL)

    @cached_property
    def _scale(self) -> SimilarityScale:
        """The scale of the model's similarities."""
        model_id = self._model_id
        profile = None if model_id is None else self._tables.embeddings.profile(model_id)
        return SAME_SCALE if profile is None else profile.texts

    def forget(self) -> None:
        """Discard what was read ahead. From now on it is read for one candidate at a time."""
        self._similarities.clear()
        self._pending.clear()
        self._memories.clear()

    def of(self, candidate: Memory, done: Collection[str] = ()) -> list[NearMemory]:
        """
        Return the consolidated memories of the candidate's owner nearest in words or meaning.

        *done* are candidates of the same batch that are consolidated, though not marked yet.
        """
        if candidate.id not in self._similarities:
            self.read_ahead([candidate])
        memories = self._comparable_memories(candidate, done)
        not_stated = sum(memory.status is not Status.STATED for memory in memories)
        is_crowded = not_stated < MAX_NEIGHBOURS <= len(self._similarities[candidate.id])
        if is_crowded and candidate.status is not Status.STATED:
            # Pending candidates, episodes and statements must not crowd out existing memories.
            self.read_ahead([candidate], limit=MAX_NEIGHBOURS_WIDE)
            memories = self._comparable_memories(candidate, done)
        similarities = self._similarities[candidate.id]
        sources = {evidence.source_id for evidence in candidate.evidence}
        near = [
            NearMemory(
                memory,
                similarities[memory.id],
                is_same_utterance=_is_same_utterance(self._tables, candidate, memory),
                is_same_source=any(evidence.source_id in sources for evidence in memory.evidence),
                is_same_place=self._is_same_place(candidate, memory),
            )
            for memory in memories
        ]
        return sorted(near, key=lambda other: (-(other.similarity or 0.0), other.memory.id))

    def _owners(self, candidate: Memory) -> list[Owner]:
        """Return the candidate's owner, the one it would have without a person, and the project."""
        if candidate.scope is not Scope.GLOBAL:
            return [candidate.owner]
        session = self._captures.of(candidate)
        scope = automatic_scope(candidate, session, single_user=self._single_user)
        narrow = session if session and session.scope is scope else candidate.owner
        if scope is Scope.AGENT:
            narrow = Owner(scope, candidate.agent_id or "")
        # It may change what was said about the work: see `consolidate_stage._move_to_project`.
        project = session if session and session.scope in PLACES_OF_WORK else candidate.owner
        return list(dict.fromkeys((candidate.owner, narrow, project)))

    def _is_same_place(self, candidate: Memory, memory: Memory) -> bool:
        """Return whether two were said in the same place, or *memory* holds everywhere."""
        if not may_change(candidate, memory, single_user=self._single_user):
            return False
        if candidate.scope is not Scope.GLOBAL:
            return True
        session = self._captures.of(candidate)
        if memory.scope is Scope.GLOBAL:
            other = self._captures.of(memory)
            is_of_agent = memory.agent_id == candidate.agent_id
            return other is None or (is_of_agent and other == session)
        if memory.scope is not Scope.AGENT or memory.project_id is None or session is None:
            return True
        places = {Scope.PROJECT: memory.project_id, Scope.REPO: memory.repo_id}
        return places.get(session.scope, session.id) == session.id

    def _comparable_memories(self, candidate: Memory, done: Collection[str]) -> list[Memory]:
        """Return the consolidated neighbours; episodes only for episodes."""
        pending = self._pending.difference(done)
        ids = [id_ for id_ in self._similarities[candidate.id] if id_ not in pending]
        unread = [id_ for id_ in ids if id_ in self._changed_ids or id_ not in self._memories]
        current = {memory.id: memory for memory in self._tables.memories.get_many(unread)}
        is_episode = candidate.type is MemoryType.EPISODE
        memories = [
            memory for id_ in ids if (memory := current.get(id_) or self._memories.get(id_))
        ]
        same_kind = [
            memory
            for memory in memories
            if (memory.type is MemoryType.EPISODE) is is_episode
            if may_compare(candidate, memory, single_user=self._single_user)
        ]
        return [memory for memory in same_kind if not _is_archived_duplicate(self._tables, memory)]


def _is_archived_duplicate(tables: Tables, memory: Memory) -> bool:
    """
    Return whether *memory* was archived because it was merged into another one.

    No person rejected it, and the other memory has its evidence. If candidates were compared with
    it, the last of several duplicates would be archived too, and none would be left.
    """
    if memory.status is not Status.ARCHIVED:
        return False
    changes = tables.memories.changes(memory.id)
    kinds = [change.kind for change in changes if change.before != change.after]
    return kinds[-1:] == [ChangeKind.MERGED]


def _is_same_utterance(tables: Tables, candidate: Memory, memory: Memory) -> bool:
    """Return whether the same words of the same session were captured before."""
    candidate, memory = (
        replace(quoting, evidence=own_evidence(quoting)) for quoting in (candidate, memory)
    )
    sources = {evidence.source_id for evidence in candidate.evidence}
    quotes = {fingerprint(evidence.quote) for evidence in candidate.evidence}
    # Few memories share a quote; only for those the session is looked up.
    earlier_quotes = [
        evidence
        for evidence in memory.evidence
        if evidence.source_id not in sources and fingerprint(evidence.quote) in quotes
    ]
    utterances = utterances_of(tables, candidate) if earlier_quotes else set()
    earlier = replace(memory, evidence=tuple(earlier_quotes))
    return not utterances.isdisjoint(utterances_of(tables, earlier))

"""
Any sequence of edits is what a few lines of Python over a dict say it is, refusals included.

An agent's edit of the shared block is a proposal, which is accepted, rejected and taken back; the
text that an agent wrote into its own block is marked with its name until a person confirms it.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect import (
    Block,
    BlockConflict,
    BlockProposal,
    BlockReadOnly,
    IllegalTransition,
    InvalidInput,
    TooLarge,
)
from recollect.service.block_proposals import MAX_PENDING
from support import FakeClock, open_memory

pytestmark = pytest.mark.fuzz

AGENTS = ("anna", "ben")
LABELS = ("persona", "human", "notes")
SHARED = "human"
TEXT = st.one_of(
    st.sampled_from(["", "tea", "tea tea", "a\nb", "é👩‍👩‍👧", "x" * 12]),
    st.text(alphabet="ab \n\u2028é🦓", max_size=8),
)
AGENT = st.sampled_from(AGENTS)
LABEL = st.sampled_from(LABELS)
BY = st.sampled_from(["user", "agent", "system"])
REFUSALS = (InvalidInput, BlockConflict, BlockReadOnly, IllegalTransition)
Edit = Callable[[str], str | None]  # None if the edit does not apply


class VersionModel(NamedTuple):
    """A value of a block, who set it, and the agent that wrote it if no person confirmed it."""

    value: str
    by: str
    author: str = ""


@dataclass
class ProposalModel:
    """An edit of a shared block that waits for a person, or was decided about."""

    author: str
    base: str
    value: str
    id: str = ""
    state: str = "pending"
    accepted_version: int | None = None


@dataclass
class BlockModel:
    """A block in memory."""

    limit: int | None = 20_000
    read_only: bool = False
    is_shared: bool = False
    history: list[VersionModel] = field(default_factory=list)
    proposals: list[ProposalModel] = field(default_factory=list)
    proposed: ProposalModel | None = None  # by the last edit

    @property
    def value(self) -> str:
        return self.history[-1].value

    @property
    def author(self) -> str:
        return self.history[-1].author

    @property
    def pending(self) -> list[ProposalModel]:
        return [proposal for proposal in self.proposals if proposal.state == "pending"]

    def fits(self, value: str | None) -> bool:
        return value is not None and (self.limit is None or len(value) <= self.limit)

    def save(self, value: str, by: str, author: str) -> None:
        self.history.append(VersionModel(value, by, author if value else ""))

    def edit(
        self,
        edit: Edit,
        by: str,
        agent: str,
        *,
        expected: int | None = None,
        author: str | None = None,
    ) -> bool:
        """Apply an edit; say whether it was taken. *author*: of the new value if a person edits."""
        self.proposed = None
        if expected is not None and expected != len(self.history):
            return False
        if self.read_only and by != "system":
            return False
        if by == "agent" and self.is_shared:
            return self.propose(edit, agent)
        value = edit(self.value)
        if value is None or not self.fits(value):
            return False
        if value != self.value:
            kept = self.author if author is None else author
            self.save(value, by, agent if by == "agent" else kept)
        return True

    def propose(self, edit: Edit, agent: str) -> bool:
        """Continue the agent's pending proposal for this text, or make its first one."""
        own = [
            proposal
            for proposal in self.pending
            if (proposal.author, proposal.base) == (agent, self.value)
        ]
        former = own[-1] if own else None
        value = edit(self.value)
        if former is not None and not (self.fits(value) and value == former.value):
            value = edit(former.value)
        if value is None or not self.fits(value):
            return False
        if former is not None and value == former.value:
            self.proposed = former
            return True
        if former is not None:
            former.state = "replaced"
        elif value != self.value and len(self.pending) >= MAX_PENDING:
            return False
        if value != self.value:
            self.proposed = ProposalModel(agent, self.value, value)
            self.proposals.append(self.proposed)
        return True

    def accept(self, proposal: ProposalModel, own_text: str | None, by: str) -> bool:
        """Write the proposed text, or the text of who decides."""
        text = proposal.value if own_text is None else own_text
        is_outdated = self.value not in (proposal.base, text)
        if proposal.state != "pending" or (is_outdated and own_text is None):
            return False
        if self.read_only or not self.fits(text):
            return False
        if text != self.value:
            author = self.author if own_text is None else ""
            author = author if by == "user" else proposal.author
            self.save(text, "agent" if own_text is None else by, author)
            proposal.accepted_version = len(self.history)
        proposal.state = "accepted"
        return True

    def reject(self, proposal: ProposalModel) -> bool:
        if proposal.state != "pending":
            return False
        proposal.state = "rejected"
        return True

    def undo(self, proposal: ProposalModel) -> bool:
        """Let a proposal wait again; restore the text that it replaced."""
        if proposal.state not in ("accepted", "rejected"):
            return False
        if proposal.accepted_version is not None:
            former, accepted = self.history[proposal.accepted_version - 2 :][:2]
            if accepted.value != self.value or self.read_only or not self.fits(former.value):
                return False
            self.save(former.value, "user", former.author)
        proposal.state, proposal.accepted_version = "pending", None
        return True


def replace_text(value: str, old: str, new: str) -> str | None:
    places = [at for at in range(len(value)) if old and value.startswith(old, at)]
    if len(places) != 1:
        return None
    return value[: places[0]] + new + value[places[0] + len(old) :]


def insert_lines(value: str, line: int, text: str) -> str | None:
    lines = value.split("\n") if value else []
    if not -1 <= line <= len(lines):
        return None
    lines.insert(len(lines) if line == -1 else line, text)
    return "\n".join(lines)


class BlockMachine(RuleBasedStateMachine):
    """Two agents, their own blocks and one they share, beside a model of each."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.clock = FakeClock()
        self.memory = open_memory(
            Path(self._folder.name, "m.db"), clock=self.clock, words_only=True
        )
        self.models: dict[tuple[str, str], BlockModel] = {}

    def teardown(self) -> None:
        assert self.memory.maintenance.verify().ok
        self.memory.close()
        self._folder.cleanup()

    @initialize()
    def born(self) -> None:
        shared = BlockModel(is_shared=True, history=[VersionModel("", "system")])
        for name in AGENTS:
            self.memory.agents.create(name)
            self.models[name, "persona"] = BlockModel(history=[VersionModel("", "system")])
            self.models[name, SHARED] = shared

    @property
    def shared(self) -> BlockModel:
        return self.models[AGENTS[0], SHARED]

    def proposal(self, back: int) -> ProposalModel:
        """Return one of the latest proposals for the shared block."""
        return self.shared.proposals[-1 - min(back, len(self.shared.proposals) - 1)]

    def model_of(self, agent: str, label: str) -> BlockModel | None:
        return self.models.get((agent, label))

    def compare(self, agent: str, label: str, taken: bool, block: Block | None) -> None:
        """The store and the model agree on whether the edit was taken, and on its proposal."""
        assert (block is not None) == taken, (agent, label, block)
        if block is None:
            return
        proposed = self.models[agent, label].proposed
        if proposed is not None and not proposed.id:
            proposed.id = block.proposal_id  # a new one
            assert proposed.id
        assert block.proposal_id == (proposed.id if proposed else "")

    def attempt(
        self, agent: str, label: str, verb: str, *args: object, **how: object
    ) -> Block | None:
        """Return the block after an edit, None if the edit was refused."""
        try:
            block: Block = getattr(self.memory.blocks, verb)(agent, label, *args, **how)
        except REFUSALS:
            return None
        return block

    def decide(
        self, verb: str, proposal: ProposalModel, taken: bool, **how: object
    ) -> BlockProposal | None:
        """The store and the model agree on whether a decision was taken."""
        try:
            decided: BlockProposal = getattr(self.memory.blocks, verb)(proposal.id, **how)
        except REFUSALS:
            assert not taken
            return None
        assert taken
        assert (decided.state.value, decided.value) == (proposal.state, proposal.value)
        assert decided.accepted_version == proposal.accepted_version
        return decided

    @rule(agent=AGENT, text=TEXT, limit=st.sampled_from([None, 5, 20]))
    def create(self, agent: str, text: str, limit: int | None) -> None:
        if (agent, "notes") in self.models:
            return
        try:
            self.memory.blocks.create("notes", text, agent=agent, limit=limit)
        except TooLarge:
            assert limit is not None
            assert len(text) > limit
            return
        self.models[agent, "notes"] = BlockModel(limit=limit, history=[VersionModel(text, "user")])

    @rule(
        agent=AGENT,
        label=LABEL,
        text=TEXT,
        by=BY,
        stale=st.integers(-2, 1),
        is_checked=st.booleans(),
    )
    def rethink(
        self, agent: str, label: str, text: str, by: str, stale: int, is_checked: bool
    ) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        expected = len(model.history) + stale if is_checked else None
        outcome = self.attempt(agent, label, "set", text, by=by, expected_version=expected)
        taken = model.edit(lambda _: text, by, agent, expected=expected, author="")
        self.compare(agent, label, taken, outcome)

    @rule(agent=AGENT, label=LABEL, text=TEXT, by=BY)
    def append(self, agent: str, label: str, text: str, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "append", text, by=by)
        taken = model.edit(lambda value: f"{value}\n{text}" if value else text, by, agent)
        self.compare(agent, label, taken, outcome)

    @rule(agent=AGENT, label=LABEL, old=TEXT, new=TEXT, by=BY)
    def replace(self, agent: str, label: str, old: str, new: str, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "replace", old, new, by=by)
        taken = model.edit(lambda value: replace_text(value, old, new), by, agent)
        self.compare(agent, label, taken, outcome)

    @rule(agent=AGENT, label=LABEL, text=TEXT, line=st.integers(-2, 4), by=BY)
    def insert(self, agent: str, label: str, text: str, line: int, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "insert", text, line, by=by)
        taken = model.edit(lambda value: insert_lines(value, line, text), by, agent)
        self.compare(agent, label, taken, outcome)

    @rule(agent=AGENT, label=LABEL, back=st.integers(0, 4), by=BY)
    def rollback(self, agent: str, label: str, back: int, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None or back >= len(model.history):
            return
        version = len(model.history) - back
        outcome = self.attempt(agent, label, "rollback", version, by=by)
        restored = model.history[version - 1]
        taken = model.edit(lambda _: restored.value, by, agent, author=restored.author)
        self.compare(agent, label, taken, outcome)

    @rule(agent=AGENT, label=LABEL)
    def confirm(self, agent: str, label: str) -> None:
        model = self.model_of(agent, label)
        if model is not None:
            self.memory.blocks.confirm(agent, label)
            if model.author:
                model.save(model.value, "user", "")

    @precondition(lambda self: self.shared.proposals)
    @rule(back=st.integers(0, 3), own_text=st.none() | TEXT, by=BY)
    def accept(self, back: int, own_text: str | None, by: str) -> None:
        proposal = self.proposal(back)
        taken = self.shared.accept(proposal, own_text, by)
        self.decide("accept", proposal, taken, value=own_text, by=by)

    @precondition(lambda self: self.shared.proposals)
    @rule(back=st.integers(0, 3))
    def reject(self, back: int) -> None:
        proposal = self.proposal(back)
        self.decide("reject", proposal, self.shared.reject(proposal))

    @precondition(lambda self: self.shared.proposals)
    @rule(back=st.integers(0, 3))
    def undo(self, back: int) -> None:
        proposal = self.proposal(back)
        self.decide("undo", proposal, self.shared.undo(proposal))

    @rule(agent=AGENT, label=LABEL, limit=st.sampled_from([None, 3, 10, 100]))
    def limit(self, agent: str, label: str, limit: int | None) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "update", limit=limit)
        fits = limit is None or len(model.value) <= limit
        assert (outcome is not None) == fits
        if fits and model.limit != limit:
            model.limit = limit
            model.save(model.value, "user", model.author)  # a version with the same text

    @rule(agent=AGENT, label=LABEL, read_only=st.booleans())
    def seal(self, agent: str, label: str, read_only: bool) -> None:
        model = self.model_of(agent, label)
        if model is not None:
            self.memory.blocks.update(agent, label, read_only=read_only)
            if model.read_only != read_only:
                model.read_only = read_only
                model.save(model.value, "user", model.author)

    @precondition(lambda self: any(label == "notes" for _, label in self.models))
    @rule(agent=AGENT)
    def delete(self, agent: str) -> None:
        if self.models.pop((agent, "notes"), None) is not None:
            self.memory.blocks.delete(agent, "notes")

    @invariant()
    def every_block_is_as_its_model(self) -> None:
        for agent in AGENTS if self.models else ():
            blocks = {block.label: block for block in self.memory.blocks.list(agent)}
            expected = {label for name, label in self.models if name == agent}
            assert set(blocks) & set(LABELS) == expected
            for label in expected:
                model, block = self.models[agent, label], blocks[label]
                history = self.memory.blocks.history(agent, label)
                assert (block.value, block.version) == (model.value, len(model.history))
                assert block.unconfirmed_author == model.author
                assert [version.version for version in history] == list(range(1, len(history) + 1))
                assert [
                    (version.value, version.by.value, version.unconfirmed_author)
                    for version in history
                ] == model.history

    @invariant()
    def the_proposals_that_wait_are_those_of_the_model(self) -> None:
        if not self.models:
            return
        waiting = [
            (proposal.id, proposal.author, proposal.base_value, proposal.value)
            for proposal in self.memory.blocks.proposals()
        ]
        assert waiting == [
            (proposal.id, proposal.author, proposal.base, proposal.value)
            for proposal in self.shared.pending
        ]


TestBlocks = BlockMachine.TestCase
TestBlocks.settings = settings(max_examples=30, stateful_step_count=30, deadline=None)

"""Any sequence of edits is what a few lines of Python over a dict say it is, refusals included."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect import BlockConflict, BlockReadOnly, InvalidInput, TooLarge
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
REFUSED = "refused"


@dataclass
class BlockModel:
    """A block in memory."""

    limit: int | None = 20_000
    read_only: bool = False
    history: list[tuple[str, str]] = field(default_factory=list)  # value, by

    @property
    def value(self) -> str:
        return self.history[-1][0]

    def edit(self, value: str | None, by: str, expected: int | None) -> bool:
        """Apply an edit that gives *value* (None where it cannot); say whether it was taken."""
        if expected is not None and expected != len(self.history):
            return False
        if (self.read_only and by != "system") or value is None:
            return False
        if self.limit is not None and len(value) > self.limit:
            return False
        if value != self.value:
            self.history.append((value, by))
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
        shared = BlockModel(history=[("", "system")])
        for name in AGENTS:
            self.memory.agents.create(name)
            self.models[name, "persona"] = BlockModel(history=[("", "system")])
            self.models[name, SHARED] = shared

    def model_of(self, agent: str, label: str) -> BlockModel | None:
        return self.models.get((agent, label))

    def compare(self, agent: str, label: str, taken: bool, outcome: str) -> None:
        """The store and the model agree on whether the edit was taken."""
        assert (outcome != REFUSED) == taken, (agent, label, outcome)

    def attempt(self, agent: str, label: str, verb: str, *args: object, **how: object) -> str:
        try:
            block = getattr(self.memory.blocks, verb)(agent, label, *args, **how)
        except (InvalidInput, BlockConflict, BlockReadOnly):
            return REFUSED
        return str(block.value)

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
        self.models[agent, "notes"] = BlockModel(limit=limit, history=[(text, "user")])

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
        self.compare(agent, label, model.edit(text, by, expected), outcome)

    @rule(agent=AGENT, label=LABEL, text=TEXT, by=BY)
    def append(self, agent: str, label: str, text: str, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "append", text, by=by)
        new_value = f"{model.value}\n{text}" if model.value else text
        self.compare(agent, label, model.edit(new_value, by, None), outcome)

    @rule(agent=AGENT, label=LABEL, old=TEXT, new=TEXT, by=BY)
    def replace(self, agent: str, label: str, old: str, new: str, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "replace", old, new, by=by)
        new_value = replace_text(model.value, old, new)
        self.compare(agent, label, model.edit(new_value, by, None), outcome)

    @rule(agent=AGENT, label=LABEL, text=TEXT, line=st.integers(-2, 4), by=BY)
    def insert(self, agent: str, label: str, text: str, line: int, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "insert", text, line, by=by)
        new_value = insert_lines(model.value, line, text)
        self.compare(agent, label, model.edit(new_value, by, None), outcome)

    @rule(agent=AGENT, label=LABEL, back=st.integers(0, 4), by=BY)
    def rollback(self, agent: str, label: str, back: int, by: str) -> None:
        model = self.model_of(agent, label)
        if model is None or back >= len(model.history):
            return
        version = len(model.history) - back
        outcome = self.attempt(agent, label, "rollback", version, by=by)
        new_value = model.history[version - 1][0]
        self.compare(agent, label, model.edit(new_value, by, None), outcome)

    @rule(agent=AGENT, label=LABEL, limit=st.sampled_from([None, 3, 10, 100]))
    def limit(self, agent: str, label: str, limit: int | None) -> None:
        model = self.model_of(agent, label)
        if model is None:
            return
        outcome = self.attempt(agent, label, "update", limit=limit)
        fits = limit is None or len(model.value) <= limit
        self.compare(agent, label, fits, outcome)
        if fits and model.limit != limit:
            model.limit = limit
            model.history.append((model.value, "user"))  # a version of its own, with the same text

    @rule(agent=AGENT, label=LABEL, read_only=st.booleans())
    def seal(self, agent: str, label: str, read_only: bool) -> None:
        model = self.model_of(agent, label)
        if model is not None:
            self.memory.blocks.update(agent, label, read_only=read_only)
            if model.read_only != read_only:
                model.read_only = read_only
                model.history.append((model.value, "user"))

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
                assert [version.version for version in history] == list(range(1, len(history) + 1))
                assert [(version.value, version.by.value) for version in history] == model.history


TestBlocks = BlockMachine.TestCase
TestBlocks.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)

"""The whole bundle: every tier, within any budget, the prefix unchanged until a block changes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import LocalRecollect
from recollect.context.block_prompt import PromptMetadata
from recollect.context.bundle import BundleInput, BundleOptions, assemble_bundle
from recollect.context.history_window import message_size
from recollect.context.token_budget import BudgetShares
from recollect.domain.block import Block
from recollect.domain.context_bundle import Bundle, BundleFormat, SectionName
from recollect.domain.conversation import (
    CompactionMode,
    Message,
    MessageHit,
    MessageParts,
    Pin,
    Role,
    Summary,
)
from recollect.domain.file import FileWindow
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Hit, Parts
from recollect.domain.scope import Scope
from recollect.errors import RecollectError
from recollect.text.token_counter import counter_for
from support import START, FakeClock

COUNT = counter_for("gpt-4o").count
METADATA = PromptMetadata(now=START, recalled=3, archived=2, tags=("a",))
TEXT = st.text(max_size=300) | st.sampled_from(["word " * 300, "语" * 200, "<value></memory>", ""])


def memories(texts: list[str]) -> tuple[Hit, ...]:
    kinds = list(MemoryType)
    return tuple(
        Hit(
            memory=Memory(
                id=f"mem{n}",
                type=kinds[n % len(kinds)],
                scope=Scope.GLOBAL,
                status=Status.ACTIVE,
                content=text or "x",
                observed_at=START,
                confirmed_at=START,
                created_at=START,
                updated_at=START,
            ),
            score=1.0,
            parts=Parts(),
            explanation="why",
        )
        for n, text in enumerate(texts)
    )


def message(position: int, text: str, role: Role = Role.USER) -> Message:
    return Message(
        id=f"msg{position}",
        conversation_id="c",
        position=position,
        role=role,
        content=text,
        created_at=START,
    )


def block(number: int, value: str) -> Block:
    label = ("persona", "human", "project", "notes")[number % 4] + ("" if number < 4 else "x")
    return Block(id=f"b{number}", label=label, value=value, created_at=START, updated_at=START)


@st.composite
def bundle_inputs(draw: st.DrawFn) -> BundleInput:
    texts = st.lists(TEXT, max_size=8)
    history_texts = draw(texts)
    return BundleInput(
        hits=memories(draw(texts)),
        system_prompt=draw(TEXT),
        blocks=tuple(block(n, text) for n, text in enumerate(draw(texts))),
        summary=draw(
            st.none()
            | st.builds(
                Summary,
                id=st.just("s"),
                conversation_id=st.just("c"),
                mode=st.just(CompactionMode.ALL),
                content=TEXT,
                first_position=st.just(0),
                last_position=st.just(1),
                tokens=st.just(1),
                made_by=st.just("extract"),
                created_at=st.just(START),
            )
        ),
        pins=tuple(
            Pin(id=f"p{n}", conversation_id="c", kind="note", content=text or "x", pinned_at=START)
            for n, text in enumerate(draw(texts))
        ),
        messages=tuple(
            MessageHit(
                message=message(n, text or "x"), score=1.0, parts=MessageParts(), explanation="why"
            )
            for n, text in enumerate(draw(texts))
        ),
        topics=tuple((f"t{n}", text or "x") for n, text in enumerate(draw(texts))),
        file=tuple((f"f{n}", text or "x") for n, text in enumerate(draw(texts))),
        history=draw(
            st.none()
            | st.just(tuple(message(n, text or "x") for n, text in enumerate(history_texts)))
        ),
        metadata=draw(
            st.none() | st.just(PromptMetadata(now=START, recalled=3, archived=2, tags=("a",)))
        ),
    )


def total_tokens(bundle: Bundle) -> int:
    return COUNT(bundle.text) + sum(message_size(message, COUNT) for message in bundle.history)


@pytest.mark.fuzz
@settings(max_examples=300)
@given(
    inputs=bundle_inputs(),
    budget=st.integers(200, 2_000) | st.sampled_from([200, 10_000, 200_000]),
    form=st.sampled_from(BundleFormat),
    numbers=st.booleans(),
)
def test_no_bundle_is_over_its_budget(
    inputs: BundleInput, budget: int, form: BundleFormat, numbers: bool
) -> None:
    options = BundleOptions(budget_tokens=budget, count=COUNT, form=form, line_numbers=numbers)

    bundle = assemble_bundle(inputs, options)

    assert total_tokens(bundle) == bundle.tokens <= budget
    assert bundle.text.startswith(bundle.prefix)
    assert assemble_bundle(inputs, options) == bundle
    if form is BundleFormat.TAGS:
        volatile = bundle.text.removeprefix(
            bundle.prefix
        )  # the system prompt is its owner's own text
        assert volatile.count("</memory>") <= 1
        assert "</memory_blocks>" not in volatile
    included = {hit.memory.id for section in bundle.sections for hit in section.hits}
    dropped = {item.item_id for item in bundle.dropped if item.kind == "memory"}
    assert included | dropped == {hit.memory.id for hit in inputs.hits}
    assert not included & dropped


@pytest.mark.fuzz
@given(inputs=bundle_inputs(), other=bundle_inputs(), budget=st.integers(200, 5_000))
def test_the_prefix_depends_on_blocks_and_system_prompt_alone(
    inputs: BundleInput, other: BundleInput, budget: int
) -> None:
    same = replace(
        other,
        blocks=inputs.blocks,
        system_prompt=inputs.system_prompt,
        history=None if inputs.history is None else (other.history or ()),
    )
    options = BundleOptions(budget_tokens=budget, count=COUNT)

    assert assemble_bundle(inputs, options).prefix == assemble_bundle(same, options).prefix


def test_unused_shares_flow_on() -> None:
    hits = memories([f"fact {n} " + "and more of it " * 20 for n in range(40)])
    options = BundleOptions(budget_tokens=2_000, count=COUNT)

    alone = assemble_bundle(BundleInput(hits=hits), options)
    with_history = assemble_bundle(
        BundleInput(hits=hits, history=tuple(message(n, "word " * 100) for n in range(40))), options
    )

    assert alone.tokens > 1_500  # nobody else needed it
    assert with_history.tokens > 1_600
    [history] = [
        section for section in with_history.sections if section.name is SectionName.HISTORY
    ]
    assert 0.5 * 2_000 <= history.tokens <= 0.95 * 2_000
    assert len(with_history.citations) < len(alone.citations)


@pytest.mark.parametrize("form", list(BundleFormat))
def test_the_system_prompt_and_the_persona_are_never_cut_for_memories(form: BundleFormat) -> None:
    persona = "I am the keeper of the harbour and I answer briefly. " * 25
    human = "The user keeps a log of every ship. " * 60
    inputs = BundleInput(
        system_prompt="Be careful with the lamps. " * 40,
        blocks=(_block("human", human), _block("persona", persona)),
        hits=memories([f"fact {n} " + "and more of it " * 20 for n in range(40)]),
        history=tuple(message(n, "word " * 50) for n in range(40)),
    )

    bundle = assemble_bundle(inputs, BundleOptions(budget_tokens=1_000, count=COUNT, form=form))

    assert inputs.system_prompt in bundle.prefix
    assert persona in bundle.prefix
    assert human not in bundle.prefix


def _block(label: str, value: str) -> Block:
    return Block(
        id=label,
        label=label,
        value=value,
        scope=Scope.AGENT,
        created_at=START,
        updated_at=START,
    )


def test_open_files_have_their_share_and_the_last_used_stands_first() -> None:
    files = tuple(
        FileWindow(path=f"/w/{name}.py", first_line=1, last_line=9, total_lines=9, text=text)
        for name, text in [("huge", "x = 1\n" * 2_000), ("small", "y = 2\n" * 9)]
    )
    hits = memories([f"fact {n} " + "and more of it " * 20 for n in range(40)])
    options = BundleOptions(budget_tokens=2_000, count=COUNT)

    bundle = assemble_bundle(BundleInput(hits=hits, open_files=files), options)

    tokens = {section.name: section.tokens for section in bundle.sections}
    assert "/w/small.py, lines 1 to 9 of 9:\n    y = 2" in bundle.text
    assert bundle.text.index("/w/small.py") < bundle.text.index("/w/huge.py")
    assert 0.05 * 2_000 < tokens[SectionName.OPEN_FILES] < 0.3 * 2_000
    assert bundle.citations
    assert ("file", "/w/huge.py") in {(item.kind, item.item_id) for item in bundle.dropped}


def test_shares_can_be_divided_anew() -> None:
    history = tuple(message(n, "word " * 50) for n in range(60))
    hits = memories([f"fact {n} " + "and more of it " * 20 for n in range(40)])
    shares = BudgetShares(history=0.1, relevant=0.6)
    options = BundleOptions(budget_tokens=2_000, count=COUNT, shares=shares)

    bundle = assemble_bundle(BundleInput(hits=hits, history=history), options)

    assert sum(message_size(message, COUNT) for message in bundle.history) < 600
    assert len(bundle.citations) > 10


def start_conversation(rec: LocalRecollect) -> str:
    rec.agents.create("coder", system_prompt="You code.", model="gpt-4o")
    rec.blocks.set("coder", "persona", "I am terse.")
    rec.blocks.set("coder", "project", "Use pnpm.", project="site")
    rec.ingest("Use pnpm, not npm.", type="decision", project="site")
    talk = rec.conversations.start(agent="coder", project="site")
    rec.conversations.append(talk, "user", "Which package manager do we use?")
    rec.conversations.append(talk, "assistant", "pnpm.")
    return talk.id


def test_prompt_caches_keep_working_until_a_block_changes(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    talk = start_conversation(rec)
    first = rec.context_for("install packages", agent="coder", conversation=talk)

    clock.advance(hours=5)
    rec.conversations.append(talk, "user", "And which formatter?")
    rec.ingest("The formatter is ruff.", project="site")
    rec.conversations.pin(talk, "BILL-12", kind="ticket")
    second = rec.context_for("format the code", agent="coder", conversation=talk)
    rec.blocks.append("coder", "persona", "I test first.")
    third = rec.context_for("format the code", agent="coder", conversation=talk)

    assert first.text != second.text
    assert first.prefix == second.prefix
    assert second.text.startswith(first.prefix)
    assert third.prefix != second.prefix


def test_a_bundle_says_what_it_is_made_of_and_so_does_the_log(rec: LocalRecollect) -> None:
    talk = start_conversation(rec)
    rec.conversations.pin(talk, "BILL-12: invoices", kind="ticket")

    bundle = rec.context_for("which package manager?", agent="coder", conversation=talk)
    logged = rec.explain(bundle.retrieval_id or "")

    assert [item.label for item in bundle.blocks] == ["persona", "human", "project", "style"]
    assert [item.content for item in bundle.pins] == ["BILL-12: invoices"]
    assert [item.content for item in bundle.history] == [
        "Which package manager do we use?",
        "pnpm.",
    ]
    assert not bundle.messages  # they are in the history already
    kinds = [item.kind for item in logged.context]  # type: ignore[union-attr]
    assert kinds.count("block") == 4
    assert "pin" in kinds
    assert "BILL-12" in bundle.text
    assert "<memory_metadata>" in bundle.text


def test_an_agent_gets_nothing_of_another_agent_project_or_conversation(
    rec: LocalRecollect,
) -> None:
    start_conversation(rec)
    rec.agents.create("other")
    rec.blocks.set("other", "persona", "I am the other one.")
    rec.blocks.set("other", "project", "Secret of the shop.", project="shop")
    elsewhere = rec.conversations.start(agent="other", project="shop")
    rec.conversations.append(elsewhere, "user", "The package manager of the shop is yarn.")
    rec.conversations.pin(elsewhere, "SHOP-1")
    rec.archive.insert("other", "The package manager of the shop is yarn.")

    text = rec.context_for("which package manager?", agent="coder", project="site").text

    for word in ("other one", "Secret", "yarn", "SHOP-1"):
        assert word not in text


def test_the_markdown_form_is_the_one_of_the_memory_server(rec: LocalRecollect) -> None:
    rec.agents.create("coder", default_blocks=False)
    rec.blocks.create("human", "Name: Alice\nLocation: Boston", agent="coder")
    rec.blocks.create("persona", "I am a helpful assistant.", agent="coder")
    talk = rec.conversations.start(agent="coder")
    rec.conversations.append(talk, "user", "My name is Alice and I live in Boston.")
    rec.conversations.end(talk)

    bundle = rec.context_for("where does Alice live?", agent="coder", form="markdown")

    assert bundle.text.startswith(
        "## Memory\n\n### persona\nI am a helpful assistant.\n\n### human\nName: Alice\n"
    )
    assert (
        "## Relevant Past Conversations\n\n**User**: My name is Alice and I live in Boston."
        in bundle.text
    )


@pytest.mark.parametrize(
    ("arguments", "message_part"),
    [
        ({"budget_tokens": 10}, "budget_tokens"),
        ({"shares": {"history": 2.0}}, "share"),
        ({"shares": {"hystory": 0.5}}, "unknown shares"),
        ({"form": "html"}, "form"),
        ({"conversation": "none"}, "no conversation"),
        ({"file": "\0"}, "file"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_clearly(
    rec: LocalRecollect, arguments: dict[str, object], message_part: str
) -> None:
    with pytest.raises(RecollectError, match=message_part):
        rec.context_for("x", **arguments)  # type: ignore[arg-type]

"""The whole bundle: every tier, within any budget, the prefix unchanged until a block changes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.context.budget import Shares
from recollect.context.bundle import Given, Wish, assemble
from recollect.context.history import size_of
from recollect.context.prompt import Metadata
from recollect.domain.block import Block
from recollect.domain.context import Bundle, Form, SectionName
from recollect.domain.conversation import (
    CompactionMode,
    Message,
    MessageHit,
    MessageParts,
    Pin,
    Role,
    Summary,
)
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Hit, Parts
from recollect.domain.scope import Scope
from recollect.errors import RecollectError
from recollect.text.tokens import counter_for
from support import START, FakeClock

COUNT = counter_for("gpt-4o").count
METADATA = Metadata(now=START, recalled=3, archived=2, tags=("a",))
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
def everything(draw: st.DrawFn) -> Given:
    texts = st.lists(TEXT, max_size=8)
    said = draw(texts)
    return Given(
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
            st.none() | st.just(tuple(message(n, text or "x") for n, text in enumerate(said)))
        ),
        metadata=draw(
            st.none() | st.just(Metadata(now=START, recalled=3, archived=2, tags=("a",)))
        ),
    )


def spent(bundle: Bundle) -> int:
    return COUNT(bundle.text) + sum(size_of(one, COUNT) for one in bundle.history)


@settings(max_examples=300)
@given(
    given_all=everything(),
    budget=st.integers(200, 2_000) | st.sampled_from([200, 10_000, 200_000]),
    form=st.sampled_from(Form),
    numbers=st.booleans(),
)
def test_no_bundle_is_over_its_budget(
    given_all: Given, budget: int, form: Form, numbers: bool
) -> None:
    wish = Wish(budget_tokens=budget, count=COUNT, form=form, line_numbers=numbers)

    bundle = assemble(given_all, wish)

    assert spent(bundle) == bundle.tokens <= budget
    assert bundle.text.startswith(bundle.prefix)
    assert assemble(given_all, wish) == bundle
    if form is Form.TAGS:
        found = bundle.text.removeprefix(bundle.prefix)  # the system prompt is its owner's own text
        assert found.count("</memory>") <= 1
        assert "</memory_blocks>" not in found
    shown = {hit.memory.id for section in bundle.sections for hit in section.hits}
    left_out = {one.item_id for one in bundle.dropped if one.kind == "memory"}
    assert shown | left_out == {hit.memory.id for hit in given_all.hits}
    assert not shown & left_out


@given(given_all=everything(), other=everything(), budget=st.integers(200, 5_000))
def test_the_prefix_depends_on_blocks_and_system_prompt_alone(
    given_all: Given, other: Given, budget: int
) -> None:
    same = replace(
        other,
        blocks=given_all.blocks,
        system_prompt=given_all.system_prompt,
        history=None if given_all.history is None else (other.history or ()),
    )
    wish = Wish(budget_tokens=budget, count=COUNT)

    assert assemble(given_all, wish).prefix == assemble(same, wish).prefix


def test_unused_shares_flow_on() -> None:
    hits = memories([f"fact {n} " + "and more of it " * 20 for n in range(40)])
    wish = Wish(budget_tokens=2_000, count=COUNT)

    alone = assemble(Given(hits=hits), wish)
    with_history = assemble(
        Given(hits=hits, history=tuple(message(n, "word " * 100) for n in range(40))), wish
    )

    assert alone.tokens > 1_500  # nobody else needed it
    assert with_history.tokens > 1_600
    [history] = [one for one in with_history.sections if one.name is SectionName.HISTORY]
    assert 0.5 * 2_000 <= history.tokens <= 0.95 * 2_000
    assert len(with_history.citations) < len(alone.citations)


def test_shares_can_be_divided_anew() -> None:
    history = tuple(message(n, "word " * 50) for n in range(60))
    hits = memories([f"fact {n} " + "and more of it " * 20 for n in range(40)])
    few = Shares(history=0.1, relevant=0.6)
    wish = Wish(budget_tokens=2_000, count=COUNT, shares=few)

    bundle = assemble(Given(hits=hits, history=history), wish)

    assert sum(size_of(one, COUNT) for one in bundle.history) < 600
    assert len(bundle.citations) > 10


def prepared(memory: Recollect) -> str:
    memory.create_agent("coder", system_prompt="You code.", model="gpt-4o")
    memory.set_block("coder", "persona", "I am terse.")
    memory.set_block("coder", "project", "Use pnpm.", project="site")
    memory.ingest("Use pnpm, not npm.", type="decision", project="site")
    talk = memory.start_conversation(agent="coder", project="site")
    memory.append_message(talk, "user", "Which package manager do we use?")
    memory.append_message(talk, "assistant", "pnpm.")
    return talk.id


def test_prompt_caches_keep_working_until_a_block_changes(
    memory: Recollect, clock: FakeClock
) -> None:
    talk = prepared(memory)
    first = memory.context_for("install packages", agent="coder", conversation=talk)

    clock.advance(hours=5)
    memory.append_message(talk, "user", "And which formatter?")
    memory.ingest("The formatter is ruff.", project="site")
    memory.pin(talk, "BILL-12", kind="ticket")
    second = memory.context_for("format the code", agent="coder", conversation=talk)
    memory.append_block("coder", "persona", "I test first.")
    third = memory.context_for("format the code", agent="coder", conversation=talk)

    assert first.text != second.text
    assert first.prefix == second.prefix
    assert second.text.startswith(first.prefix)
    assert third.prefix != second.prefix


def test_a_bundle_says_what_it_is_made_of_and_so_does_the_log(memory: Recollect) -> None:
    talk = prepared(memory)
    memory.pin(talk, "BILL-12: invoices", kind="ticket")

    bundle = memory.context_for("which package manager?", agent="coder", conversation=talk)
    logged = memory.explain(bundle.retrieval_id or "")

    assert [one.label for one in bundle.blocks] == ["persona", "human", "project", "style"]
    assert [one.content for one in bundle.pins] == ["BILL-12: invoices"]
    assert [one.content for one in bundle.history] == ["Which package manager do we use?", "pnpm."]
    assert not bundle.messages  # they are in the history already
    kinds = [item.kind for item in logged.context]  # type: ignore[union-attr]
    assert kinds.count("block") == 4
    assert "pin" in kinds
    assert "BILL-12" in bundle.text
    assert "<memory_metadata>" in bundle.text


def test_an_agent_gets_nothing_of_another_agent_project_or_conversation(memory: Recollect) -> None:
    prepared(memory)
    memory.create_agent("other")
    memory.set_block("other", "persona", "I am the other one.")
    memory.set_block("other", "project", "Secret of the shop.", project="shop")
    elsewhere = memory.start_conversation(agent="other", project="shop")
    memory.append_message(elsewhere, "user", "The package manager of the shop is yarn.")
    memory.pin(elsewhere, "SHOP-1")
    memory.archival_insert("other", "The package manager of the shop is yarn.")

    text = memory.context_for("which package manager?", agent="coder", project="site").text

    for word in ("other one", "Secret", "yarn", "SHOP-1"):
        assert word not in text


def test_the_markdown_form_is_the_one_of_the_memory_server(memory: Recollect) -> None:
    memory.create_agent("coder", default_blocks=False)
    memory.create_block("human", "Name: Alice\nLocation: Boston", agent="coder")
    memory.create_block("persona", "I am a helpful assistant.", agent="coder")
    talk = memory.start_conversation(agent="coder")
    memory.append_message(talk, "user", "My name is Alice and I live in Boston.")
    memory.end_conversation(talk)

    bundle = memory.context_for("where does Alice live?", agent="coder", form="markdown")

    assert bundle.text.startswith(
        "## Memory\n\n### persona\nI am a helpful assistant.\n\n### human\nName: Alice\n"
    )
    assert (
        "## Relevant Past Conversations\n\n**User**: My name is Alice and I live in Boston."
        in bundle.text
    )


@pytest.mark.parametrize(
    ("given_wrong", "message_part"),
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
    memory: Recollect, given_wrong: dict[str, object], message_part: str
) -> None:
    with pytest.raises(RecollectError, match=message_part):
        memory.context_for("x", **given_wrong)  # type: ignore[arg-type]

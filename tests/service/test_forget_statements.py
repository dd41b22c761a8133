"""Forgetting a fact: what was said of it, session records and summaries lose it too."""

from recollect import LocalRecollect, Memory, Status

FLOUR = "Our flour comes from Shipton Mill in 25 kilo sacks."
CARDS = "We take cards with a black SumUp reader."
EVERY_STATUS = [*Status]


def captured_conversation(rec: LocalRecollect) -> str:
    talk = rec.conversations.start(agent="till", project="bakery")
    for role, text in (("user", FLOUR), ("assistant", "Noted."), ("user", CARDS)):
        rec.conversations.append(talk, role, text)
    rec.conversations.compact(talk, mode="all", keep_last=0, force=True)
    rec.conversations.end(talk, capture=True)
    rec.drain()
    return talk.id


def contents(rec: LocalRecollect) -> list[str]:
    memories = rec.memories.list(everywhere=True, statuses=EVERY_STATUS, limit=100)
    return [memory.content for memory in memories]


def flour_candidate(rec: LocalRecollect) -> Memory:
    memories = rec.memories.list(everywhere=True, statuses=["inbox", "stated"])
    return next(memory for memory in memories if memory.content == FLOUR)


def test_forgetting_a_fact_removes_it_from_session_records_and_summaries_and_says_so(
    rec: LocalRecollect,
) -> None:
    talk = captured_conversation(rec)
    [fact] = [
        m
        for m in rec.memories.list(everywhere=True, statuses=["inbox", "stated"])
        if m.content == FLOUR
    ]
    [record] = rec.memories.list(everywhere=True, types=["episode"])
    [summary] = rec.conversations.summaries(talk)
    assert "Shipton" in record.content
    assert "Shipton" in summary.content

    preview = rec.forget(fact.id, dry_run=True)
    receipt = rec.forget(fact.id)

    texts = [*contents(rec), *(s.content for s in rec.conversations.summaries(talk))]
    assert [text for text in texts if "Shipton" in text] == []
    assert any("SumUp" in text for text in texts)
    assert receipt.rewritten == (f"session record {record.id}", f"summary {summary.id}")
    assert preview.rewritten == receipt.rewritten
    assert rec.context_for("who delivers our flour?", agent="till", project="bakery").messages == ()


def test_the_statement_that_an_edited_memory_was_made_of_is_forgotten_with_it(
    rec: LocalRecollect,
) -> None:
    captured_conversation(rec)
    [fact] = [
        m
        for m in rec.memories.list(everywhere=True, statuses=["inbox", "stated"])
        if m.content == FLOUR
    ]
    edited = rec.memories.edit(fact.id, content="The supplier of flour is the mill at Shipton.")

    rec.forget(edited.id)

    assert [text for text in contents(rec) if "Shipton" in text] == []

"""Which hits and messages earn a line in a bundle, and what is said about the others."""

from dataclasses import replace
from datetime import timedelta

from recollect import Bundle, LocalRecollect, MemoryType, Status
from recollect.context.bundle_selection import (
    MAX_FACTS,
    TASK_CONVENTIONS,
    TASK_FACTS,
    WEAK_FACTS,
    RequestAim,
    newer_sides_first,
    select_hits,
    select_messages,
)
from recollect.domain.conversation import Message, MessageHit, MessageParts, Role
from recollect.domain.retrieval import Hit, Parts
from support import START, active_memory

QUESTION = RequestAim(word_count=3)


def hit(content: str, relevance: float = 0.5, *, day: int = 0, **fields: object) -> Hit:
    memory = active_memory(content, MemoryType.PROJECT, content)
    memory = replace(memory, observed_at=START + timedelta(days=day))
    parts = Parts(semantic=0.5, relevance=relevance)
    return Hit(memory=memory, score=relevance, parts=parts, explanation="", **fields)  # type: ignore[arg-type]  # of the caller


def weak_hit(content: str, **fields: object) -> Hit:
    weak = hit(content, is_weak=True)
    return replace(weak, memory=replace(weak.memory, **fields))  # type: ignore[arg-type]  # of the caller


def message(text: str, *, role: Role = Role.USER, day: int = 0, score: float = 0.5) -> MessageHit:
    said = Message(
        id=f"{role} {day} {text}",
        conversation_id="c",
        position=day,
        role=role,
        content=text,
        created_at=START + timedelta(days=day),
    )
    return MessageHit(message=said, score=score, parts=MessageParts(), explanation="")


def told_texts(messages: tuple[MessageHit, ...]) -> list[str]:
    return [hit.message.content for hit in messages]


def lines(bundle: Bundle) -> list[str]:
    return [line for line in bundle.text.splitlines() if line.startswith("- ")]


def test_only_the_best_few_are_told_and_more_for_an_instruction() -> None:
    hits = [hit(f"Lamp {n} hangs in hall {n}.") for n in range(10)]

    question = select_hits(hits, QUESTION)
    task = select_hits(hits, RequestAim(is_instruction=True))

    assert list(question.hits) == hits[:MAX_FACTS]
    assert list(task.hits) == hits[:TASK_FACTS]
    assert [item.item_id for item in question.left_out] == [h.memory.id for h in hits[MAX_FACTS:]]
    assert {item.reason for item in question.left_out} == {f"limit of {MAX_FACTS} reached"}


def test_what_is_far_less_relevant_than_the_best_is_left_out() -> None:
    selected = select_hits([hit("The lamp is green.", 0.6), hit("Mira likes tea.", 0.1)], QUESTION)

    assert [h.memory.content for h in selected.hits] == ["The lamp is green."]
    assert [item.reason for item in selected.left_out] == ["below 20% of the best"]


def test_a_question_is_told_nothing_after_the_relevance_drops_by_half() -> None:
    hits = [hit("The lamp is green.", 0.6), hit("Mira likes tea.", 0.28), hit("Ben is tall.", 0.27)]

    question = select_hits(hits, QUESTION)
    task = select_hits(hits, RequestAim(is_instruction=True))

    assert list(question.hits) == hits[:1]
    assert {item.reason for item in question.left_out} == {
        "after a drop below 50% of the hit before"
    }
    assert list(task.hits) == hits  # several conventions may apply


def test_a_question_is_told_what_declines_slowly() -> None:
    hits = [hit("The lamp is green.", 0.6), hit("Mira likes tea.", 0.31), hit("Ben is tall.", 0.16)]

    assert list(select_hits(hits, QUESTION).hits) == hits


def test_a_weak_match_does_not_raise_what_the_others_need() -> None:
    of_that_day = hit("The lamp is green.", 0.1)

    selected = select_hits([weak_hit("Mira likes tea."), of_that_day], QUESTION)

    assert selected.hits == (of_that_day,)


def test_an_instruction_gets_the_nearest_conventions_of_its_project_however_weak() -> None:
    conventions = [weak_hit(f"Rule {n} holds in hall {n}.", project_id="p1") for n in range(5)]
    other_project = weak_hit("Lamps are red.", project_id="p9")
    statement = weak_hit("run it again", project_id="p1", status=Status.STATED)
    aim = RequestAim(is_instruction=True, project_id="p1")

    selected = select_hits([other_project, statement, *conventions], aim)
    elsewhere = select_hits(conventions, RequestAim(is_instruction=True))

    assert list(selected.hits) == conventions[:TASK_CONVENTIONS]
    assert elsewhere.hits == ()


def test_a_question_about_ones_own_affairs_gets_weak_matches_that_share_a_word() -> None:
    hits = [weak_hit(f"Lamp {n} hangs in hall {n}.") for n in range(3)]
    in_common = [replace(weak, matched_words=("lamp",)) for weak in hits]
    foreign = replace(in_common[0], reached="relevant")
    aim = RequestAim(word_count=3, is_own_affair=True)

    assert list(select_hits(in_common, aim).hits) == in_common[:WEAK_FACTS]
    assert select_hits([foreign], aim).hits == ()
    assert select_hits(in_common, QUESTION).hits == ()
    assert {item.reason for item in select_hits(hits, QUESTION).left_out} == {"weak match"}


def test_without_a_better_answer_the_best_weak_match_of_the_person_or_the_project_is_told() -> None:
    hits = [weak_hit(f"Lamp {n} hangs in hall {n}.") for n in range(3)]
    of_project = [replace(weak, memory=replace(weak.memory, project_id="site")) for weak in hits]

    assert list(select_hits(hits, RequestAim(is_own_affair=True)).hits) == hits[:1]
    assert list(select_hits(of_project, RequestAim(project_id="site")).hits) == of_project[:1]
    assert select_hits(of_project, RequestAim(project_id="shop")).hits == ()
    better = hit("Lamp 1 hangs in hall 2.")
    assert list(select_hits([better, *hits], RequestAim(is_own_affair=True)).hits) == [better]


def test_a_fact_said_twice_is_one_line_with_both_days() -> None:
    first, again = (
        hit("We deploy from main on Thursday."),
        hit("we deploy from main, Thursday", day=4),
    )
    other = hit("We deploy from main on Friday.", day=2)

    selected = select_hits([first, again, other], QUESTION)

    assert list(selected.hits) == [first, other]
    assert selected.repeated_on == {first.memory.id: (again.memory.observed_at.date(),)}
    assert [item.item_id for item in selected.left_out] == [again.memory.id]


def test_other_numbers_or_a_denial_are_another_fact() -> None:
    facts = ["A loaf costs 4.80.", "A loaf costs 5.20.", "A loaf never costs 5.20."]

    assert len(select_hits([hit(fact) for fact in facts], QUESTION).hits) == 3


def test_both_sides_of_a_conflict_stand_together_the_newer_first() -> None:
    old = hit("We deploy on Tuesday.", conflicts=("We deploy on Friday.",))
    new = hit("We deploy on Friday.", day=9, conflicts=("We deploy on Tuesday.",))
    other = hit("The lamp is green.")

    assert newer_sides_first([old, other, new]) == [new, old, other]


def test_questions_remarks_and_replies_are_no_evidence() -> None:
    hits = [
        message("Which lamp do we use?"),
        message("ok thanks"),
        message("I changed the lamp to the green one.", role=Role.ASSISTANT),
        message("We use the green lamp. Is that fine?"),
    ]

    selected = select_messages(hits, QUESTION, memories=(), limit=10)
    asked_for = select_messages(hits, RequestAim(speaker="assistant"), memories=(), limit=10)
    alone = select_messages(hits[2:3], QUESTION, memories=(), limit=10)

    assert told_texts(selected.messages) == ["We use the green lamp. Is that fine?"]
    assert [item.kind for item in selected.left_out] == ["message"] * 3
    assert hits[2] in asked_for.messages
    assert hits[2] in alone.messages  # nothing else answers


def test_a_message_that_repeats_a_told_memory_or_another_message_is_left_out() -> None:
    memory = hit("We use the green lamp.")
    hits = [message("OK. We use the green lamp. Next."), message("Hang it in the hall.", day=1)]
    hits.append(message("hang it in the hall", day=3))

    selected = select_messages(hits, QUESTION, memories=[memory], limit=10)

    assert selected.messages == (hits[1],)
    assert selected.times_said == {hits[1].message.id: 2}


def test_what_was_said_in_passing_is_told_only_if_the_past_is_asked_about() -> None:
    stated = hit("Ask Mira about the lamp.")
    stated = replace(stated, memory=replace(stated.memory, status=Status.STATED))
    passing = message("The lamp flickers just now.")
    told = [hit("Mira repairs lamps on Friday.")]

    def messages(aim: RequestAim) -> tuple[MessageHit, ...]:
        return select_messages(
            [passing], aim, memories=told, limit=3, is_durable=lambda text: "just now" not in text
        ).messages

    past = RequestAim(about_past=True)
    assert (select_hits([stated], QUESTION).hits, messages(QUESTION)) == ((), ())
    assert (select_hits([stated], past).hits, messages(past)) == ((stated,), (passing,))
    told.clear()
    assert messages(QUESTION) == (passing,)  # nothing else answers


def test_what_was_said_at_a_time_is_told_although_it_shares_no_word(rec: LocalRecollect) -> None:
    monday = START - timedelta(days=4)
    rec.ingest("The hall lamp was repaired.", project="site", observed_at=monday)

    bundle = rec.context_for("what did we do on Monday?", project="site", asked_at=START)

    assert [line[7:20] for line in lines(bundle)] == ["The hall lamp"]


def test_text_in_scripts_without_spaces_is_evidence_too() -> None:
    selected = select_messages(
        [message("テストはいつもpytestで実行します")], QUESTION, memories=(), limit=3
    )

    assert len(selected.messages) == 1


def test_an_unrelated_question_gets_no_lines_and_a_preference_comes_with_what_is_told(
    rec: LocalRecollect,
) -> None:
    rec.ingest("Call me Jo, not Johanna.", type="profile", scope="global")
    rec.ingest("My shoe size is 39.", type="profile", scope="global")
    rec.ingest("We deploy the lamp shop from main.", type="decision", project="site")

    def told(task: str) -> list[str]:
        return [line[7:15] for line in lines(rec.context_for(task, project="site"))]

    assert told("how tall is Ben Nevis?") == []
    assert told("thanks!") == []
    assert told("how do we deploy the lamp shop?") == ["Call me ", "We deplo"]
    assert told("which shoe size do I have?")[0] == "My shoe "


def test_messages_are_dated_in_time_order_and_repeated_ones_are_one_line(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("coder", default_blocks=False)
    for day, text in enumerate(
        [
            "The hall lamp flickers again.",
            "Repair the hall lamp with tape.",
            "the hall lamp flickers again",
        ]
    ):
        talk = rec.conversations.start(agent="coder", started_at=START + timedelta(days=day))
        rec.conversations.append_many(
            talk, [{"role": "user", "content": text, "created_at": START + timedelta(days=day)}]
        )

    bundle = rec.context_for("why does the hall lamp flicker?", agent="coder", metadata=False)

    assert [(line[:18], "said 2 times" in line) for line in lines(bundle)] in (
        [("- user, 2026-05-08", True), ("- user, 2026-05-09", False)],
        [("- user, 2026-05-09", False), ("- user, 2026-05-10", True)],
    )


def test_the_topics_of_conversations_are_told_only_if_they_are_asked_for(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("coder", default_blocks=False)
    talk = rec.conversations.start(agent="coder", title="Old lamps")
    rec.conversations.append(talk, "user", "The lamp in the hall flickers.")
    rec.conversations.end(talk)

    def told(task: str) -> bool:
        return "Old lamps" in rec.context_for(task, agent="coder").text

    assert told("")
    assert told("what did we talk about in our last session?")
    assert not told("which lamp flickers?")


def test_a_request_that_names_a_time_is_told_what_is_of_that_time_and_nothing_else() -> None:
    monday, tuesday = hit("We use Stripe.", day=2), hit("The cache is Redis.", day=3)
    unlikely = replace(monday, parts=replace(monday.parts, relevance=0.0))
    start = monday.memory.observed_at.replace(hour=0)
    aim = RequestAim(about_past=True, time_range=(start, start + timedelta(days=1)))

    selected = select_hits([unlikely, tuesday], aim)

    assert selected.hits == (unlikely,)
    assert [item.reason for item in selected.left_out] == ["not of the time that the request names"]

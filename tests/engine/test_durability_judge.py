"""
The judge of durability: what people say about lasting things, told from passing talk.

The sentences here are not among those that the judge was trained on.
"""

from benchmarks.judges.labelled_sentences import features_of, sentences_of
from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import MemoryType
from recollect.domain.transcript import Voice
from recollect.engine.extract.classify_sentence import JUDGED, ExtractionMode
from recollect.engine.extract.find_statements import find_statements
from recollect.engine.judges import durability as durability_judge
from recollect.engine.judges.durability import (
    ABOUT_ASSISTANT,
    ABOUT_PERSON,
    DECISION,
    DURABLE,
    MIN_DURABLE,
    WEIGHTS,
    durability,
    statement_subject,
)
from recollect.engine.judges.linear_model import read_heads
from recollect.engine.judges.sentence_features import (
    BUCKET_BITS,
    DENSE_NAMES,
    MAX_CHARS,
    PERSON_NAMES,
    SentenceContext,
    person_features,
)
from recollect.engine.source_text import SourceTurn
from support import START
from tables import each_row

LASTING = [
    "the greenhouse vents open by themselves above 24 degrees",
    "Priya signs off every invoice over 2,000 before it goes out",
    "the choir rehearses in the parish hall, Thursdays at half seven",
    "fwiw the barcode scanner only works in the left USB port",
    "die Werkstatt hat donnerstags immer bis 20 Uhr auf",
    "mon fils Basile est allergique aux noix de cajou",
    "el almacén cierra los viernes a las dos",
    "我们公司的发票都由小陈审核，超过五千要老板签字",
    "うちの子は卵アレルギーなので、卵なしのレシピにしています。",
]
PASSING = [
    "can you make the second paragraph shorter",
    "hmm that still looks off to me",
    "thanks, that did the trick",
    "why is the build red again",
    "und was heißt das jetzt genau?",
    "merci, c'est parfait comme ça",
    "vale, prueba otra vez",
    "帮我看看这个报错",
    "もう少し短くしてください",
]


def probability(text: str) -> float:
    return durability(features_of(text, SentenceContext()))


def statements_in(text: str, voice: Voice = Voice.USER) -> list[str]:
    turns = [SourceTurn(0, len(text), voice, "", START)]
    found = find_statements(text, turns, ExtractionMode())
    return [statement.content for statement in found if statement.is_proposed]


def test_most_of_what_lasts_is_proposed_in_any_language() -> None:
    proposed = [text for text in LASTING if statements_in(text)]

    assert len(proposed) >= 0.75 * len(LASTING)
    assert all(probability(text) >= MIN_DURABLE for text in proposed)


@each_row("text", PASSING)
def test_passing_talk_is_not_proposed(text: str) -> None:
    assert probability(text) < MIN_DURABLE
    assert statements_in(text) == []


def test_a_statement_that_no_rule_describes_names_the_judge_and_its_probability() -> None:
    text = LASTING[1]
    turns = [SourceTurn(0, len(text), Voice.USER, "", START)]

    [statement] = find_statements(text, turns, ExtractionMode())

    assert statement.rule == JUDGED
    assert MIN_DURABLE <= statement.confidence <= 1


def test_the_voice_of_a_judged_statement_is_that_of_its_message() -> None:
    text = LASTING[1]
    turns = [SourceTurn(0, len(text), Voice.PASTED, "", START)]

    [statement] = find_statements(text, turns, ExtractionMode())

    assert statement.voice is Voice.PASTED
    for voice in (Voice.TOOL, Voice.SYSTEM, Voice.ASSISTANT):
        assert statements_in(text, voice) == []


@each_row(
    ("text", "subject", "memory_type"),
    [
        ("my sister Noor lives in Utrecht with her two boys", "person", MemoryType.PROFILE),
        ("meine Tochter Mia ist gegen Nüsse allergisch", "person", MemoryType.PROFILE),
        ("我太太是素食主义者，家里不吃肉", "person", MemoryType.PROFILE),
        ("the staging database is wiped every Sunday night at 2", "work", MemoryType.PROJECT),
        ("unsere Builds laufen auf dem Server im Keller", "work", MemoryType.PROJECT),
        ("the invoices are archived in the second cabinet", "work", MemoryType.PROJECT),
        ("your job here is triage only, you never close issues", "assistant", MemoryType.PROFILE),
    ],
)
def test_the_judge_says_what_a_statement_is_about(
    text: str, subject: str, memory_type: MemoryType
) -> None:
    features = features_of(text, SentenceContext()).without_context()
    found = find_statements(
        text, [SourceTurn(0, len(text), Voice.USER, "", START)], ExtractionMode()
    )

    assert statement_subject(features, person_features(text)) == subject
    for statement in found:
        if statement.is_proposed:
            assert (statement.subject, statement.type) == (subject, memory_type)


def test_the_weights_fit_the_features_and_the_package() -> None:
    heads, about = read_heads(WEIGHTS)

    subject_heads = {ABOUT_PERSON, ABOUT_ASSISTANT, DECISION}
    assert set(heads) == {DURABLE, *subject_heads}
    assert len(heads[DURABLE].dense) == len(DENSE_NAMES)
    both = len(DENSE_NAMES) + len(PERSON_NAMES)
    assert {len(heads[name].dense) for name in subject_heads} == {both}
    assert {len(head.buckets) for head in heads.values()} == {1 << BUCKET_BITS}
    assert len(features_of("a b", SentenceContext()).dense) == len(DENSE_NAMES)
    assert about["data"]
    assert sum(path.stat().st_size for path in WEIGHTS.parent.glob("*.weights")) <= 1_000_000


def test_a_very_long_sentence_is_judged_by_its_beginning() -> None:
    text = "the vents open above 24 degrees " * 40

    assert probability(text) == probability(text[: MAX_CHARS + 5])


def test_the_weights_are_read_only_when_a_sentence_is_judged() -> None:
    durability_judge._heads.cache_clear()

    assert statements_in("I prefer tabs.", Voice.TOOL) == []
    assert durability_judge._heads.cache_info().currsize == 0
    statements_in(PASSING[0])
    assert durability_judge._heads.cache_info().currsize == 1


def test_explain_says_that_a_statement_was_judged_worth_remembering(rec: LocalRecollect) -> None:
    rec.capture_session(LASTING[1], project="office")
    rec.drain()
    [candidate] = [one.memory for one in rec.inbox.list(project="office")]

    explanation = rec.explain(candidate.id)

    assert "judged worth remembering (confidence 0." in str(explanation)


def test_a_labelled_message_is_cut_into_sentences_with_labels() -> None:
    span = {"quote": "the vents open above 24 degrees", "kind": "fact", "scope": "project"}
    row = {
        "text": "Look at this. And the vents open above 24 degrees, ok?",
        "before": "Anything else?",
        "spans": [span],
        "language": "en",
        "domain": "garden",
    }

    sentences = list(sentences_of(row))

    assert [(one.text, one.is_durable) for one in sentences] == [
        ("Look at this.", False),
        ("And the vents open above 24 degrees, ok?", True),
    ]

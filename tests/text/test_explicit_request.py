"""Requests to remember something, and statements that are none."""

from recollect.text.explicit_request import asks_to_remember, is_explicit_request
from recollect.text.sentence_classifier import normalize_sentence
from tables import each_row


@each_row(
    "text",
    [
        "Remember that we deploy on Thursdays.",
        "please remember: every migration needs a down script",
        "And yes, please remember: every migration needs a down script",
        "Don't forget that the API is read-only.",
        "Keep in mind that the API is read-only.",
        "Note that the API is read-only.",
        "I got this wrong last year so write it down: takeaway is zero rated",
        "This is serious, please never forget it: no sesame in the building",
        "The dark site is the top field, and remember the gate has to be shut.",
    ],
)
def test_asking_to_remember_is_a_request(text: str) -> None:
    assert asks_to_remember(normalize_sentence(text))
    assert is_explicit_request(normalize_sentence(text))


@each_row(
    "text",
    [
        "From now on run the tests with nextest.",
        "ok, from now on we squash commits",
        "Always answer in German.",
        "Please never push to main.",
        "Never use mocks in this repo.",
        "Whenever you write SQL, use upper case.",
        "In future, use tabs.",
        "I want you to always ask first.",
        "Use tabs from now on.",
        "Going forward, we review in pairs.",
        "By default use UTC.",
        "State the assumption before the number, every time.",
    ],
)
def test_a_standing_order_is_a_request(text: str) -> None:
    assert is_explicit_request(normalize_sentence(text))
    assert not asks_to_remember(normalize_sentence(text))


@each_row(
    "text",
    [
        "We use Postgres.",
        "Let's go with Kafka because we need the history.",
        "I prefer tabs.",
        "We always deploy on Fridays.",
        "The bus is late, every time.",
        "I prefer tabs, always.",
        "I went to Rome, and remember the heat.",
        "Do you remember the port?",
        "I don't remember the port.",
        "Remember when we used Perl?",
        "Never mind.",
        "It never worked.",
        "The staging server listens on port 8080 now.",
    ],
)
def test_a_statement_is_not_a_request(text: str) -> None:
    assert not is_explicit_request(normalize_sentence(text))


@each_row(
    "text",
    [
        "Merk dir: der Schlüssel liegt beim Nachbarn.",
        "Retiens que la réunion est le lundi.",
        "Recuerda que el puerto es 9000.",
        "Lembra-te: a chave fica com o porteiro.",
        "Ricordati che il lunedì siamo chiusi.",
        "Onthoud dat de sleutel bij de buren ligt.",
        "请记住，测试库每周日清空",
        "鍵は隣の家にあります、覚えておいて。",
        "열쇠는 옆집에 있어, 기억해 줘.",
    ],
)
def test_the_plain_forms_of_other_languages_are_requests(text: str) -> None:
    assert asks_to_remember(normalize_sentence(text))


@each_row(
    "text",
    [
        "Ab jetzt nutzen wir Vitest.",
        "Désormais, réponds en français.",
        "A partir de ahora usamos pnpm.",
        "D'ora in poi scrivi in italiano.",
        "从现在起用中文回答",
        "今後は敬語でお願いします。",
    ],
)
def test_a_standing_order_in_another_language_is_a_request(text: str) -> None:
    assert is_explicit_request(normalize_sentence(text))


@each_row(
    "text",
    ["你记得端口吗？", "¿Recuerda el puerto?", "Le procès-verbal de hoy", "el acta de hoy"],
)
def test_a_question_or_a_date_in_another_language_is_not_a_request(text: str) -> None:
    assert not is_explicit_request(normalize_sentence(text))


@each_row(
    "text",
    [
        "and remind me: the licence has to be renewed in May",
        "note to self: the oven is off on Sundays",
        "fyi, remember that we close at 5",
        "Notiz: der Ofen ist sonntags aus",
        "Bitte merken: der Ofen ist sonntags aus",
        "à noter : le four est fermé le dimanche",
        "nota: el horno está apagado los domingos",
        "promemoria: il forno è spento la domenica",
        "notitie: de oven is uit op zondag",
        "备注：周日不开炉",
        "メモ：日曜は休み",
        "메모: 일요일은 쉬어",
    ],
)
def test_a_note_with_a_colon_is_a_request_in_every_language(text: str) -> None:
    assert asks_to_remember(normalize_sentence(text))


@each_row(
    "text", ["remind me tomorrow", "remind me what we decided?", "Notiz schreiben", "noter 5"]
)
def test_a_reminder_or_a_note_without_content_is_not(text: str) -> None:
    assert not asks_to_remember(normalize_sentence(text))

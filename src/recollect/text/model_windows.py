"""
The size of the context window of each model, in tokens, by the model's name.

Rules are tried from the top; the first that matches wins. To add a model, add a rule and a row to
tests/text/test_model_windows.py. Where vendors offer several sizes under one name, the smaller one
stands here: a window that is taken for smaller than it is costs a compaction, one that is taken for
larger costs a failed call. A user's own file (models/model_windows_file.py) and an agent's
own setting override the table.
"""

import re

_STATED = re.compile(r"(?<![a-z0-9.])(?P<size>\d{1,4})(?P<unit>[km])(?![a-z0-9])")
_UNITS = {"k": 1_000, "m": 1_000_000}

_RULES = tuple(
    (re.compile(pattern), tokens)
    for pattern, tokens in (
        (r"gpt-?5", 400_000),
        (r"gpt-?4[.-]1", 1_047_576),
        (r"gpt-?oss", 131_072),
        (r"gpt-?4o|gpt-?4-turbo|gpt-?4[.-]5|chatgpt", 128_000),
        (r"gpt-?4", 8_192),
        (r"gpt-?3\.?5", 16_385),
        (r"(?:^|[/:.])o1-(?:mini|preview)", 128_000),
        (r"(?:^|[/:.])o[134](?![a-z0-9.])|codex-mini", 200_000),
        (r"claude-(?:2(?![.-]1)|instant)", 100_000),
        (r"claude", 200_000),
        (r"gemini-1\.0|gemini-pro$", 32_768),
        (r"gemini", 1_048_576),
        (r"gemma-?[34]", 131_072),
        (r"gemma", 8_192),
        (r"llama-?4", 1_048_576),
        (r"llama-?3[.-][123]", 131_072),
        (r"llama-?3", 8_192),
        (r"(?<!o)llama(?!\.?cpp)", 4_096),
        (r"codestral|devstral", 131_072),
        (r"mixtral-8x22b", 65_536),
        (r"mixtral|mistral-?7b|mathstral", 32_768),
        (r"mi[sx]tral|ministral|magistral|pixtral", 131_072),
        (r"qwen-?3-(?:coder|next)|qwen-?3\.", 262_144),
        (r"qwen-?3", 40_960),
        (r"qwen|qwq", 32_768),
        (r"deepseek", 65_536),
        (r"grok-?[45]", 256_000),
        (r"grok", 131_072),
        (r"kimi|moonshot|glm-?[45]|command-?[ra]|jamba", 128_000),
        (r"phi-?4-mini|phi-?3[.-]5", 128_000),
        (r"phi-?4", 16_384),
    )
)


def model_window(model: str) -> int | None:
    """Return the window of *model* in tokens, or None if its name is not known."""
    name = model.strip().lower().replace("_", "-")
    if stated := _STATED.search(name):  # "phi-3-mini-128k", "claude-sonnet-4[1m]"
        return int(stated["size"]) * _UNITS[stated["unit"]]
    return next((tokens for rule, tokens in _RULES if rule.search(name)), None)

"""
Map model names to families of models that count tokens alike.

Rules are tried from the top. The weights turn an o200k count into an estimate for a family whose
tables are not available; docs/log.md (2026-11-15) tells how they were set and their accuracy.
"""

import re

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True)
class TokenFamily:
    """Models that count alike: exactly by their own table, or by weights on the o200k count."""

    name: str
    encoding: str = ""  # the table that counts exactly, if there is one
    per_token: float = 1.0  # for each o200k token
    per_digit: float = 0.0  # and for each digit: some models read numbers digit by digit
    per_letter: float = 0.0  # and for each character U+0080 to U+1FFF: accents, other alphabets
    per_wide_char: float = 0.0  # and for each character above: CJK, symbols, emoji


O200K = TokenFamily("o200k_base", "o200k_base")
# the weights are for machines without the table
CL100K = TokenFamily("cl100k_base", "cl100k_base", per_token=1.2, per_letter=1.2, per_wide_char=0.5)
CLAUDE = TokenFamily("claude", per_token=1.85, per_letter=0.3, per_wide_char=0.1)
CLAUDE_3 = TokenFamily("claude 3 to 4.6", per_token=1.45, per_letter=0.45, per_wide_char=0.4)
GEMINI = TokenFamily("gemini", per_token=1.25, per_digit=0.5, per_letter=0.3)
LLAMA = TokenFamily("llama", per_token=1.2, per_letter=1.1, per_wide_char=0.1)
MISTRAL = TokenFamily("mistral", per_token=1.45, per_digit=0.4, per_letter=0.9, per_wide_char=0.6)
QWEN = TokenFamily("qwen", per_token=1.15, per_digit=0.6, per_letter=0.8)
DEEPSEEK = TokenFamily("deepseek", per_token=1.2, per_letter=0.5)
ANY = TokenFamily("any model", per_token=1.85, per_digit=0.4, per_letter=1.55, per_wide_char=1.0)

FAMILIES = (O200K, CL100K, CLAUDE, CLAUDE_3, GEMINI, LLAMA, MISTRAL, QWEN, DEEPSEEK, ANY)

_RULES = tuple(
    (re.compile(pattern), family)
    for pattern, family in (
        (r"o200k|gpt-?oss|gpt-?4o|gpt-?4[.-][15](?!\d)|gpt-?5|codex-mini", O200K),
        (r"(?:^|[/:.])o[134](?![a-z0-9.])", O200K),
        (r"cl100k|gpt-?4(?![a-z0-9.])|gpt-?3\.?5", CL100K),
        (r"text-embedding-(?:3|ada-002)(?![0-9])|(?:davinci|babbage)-002", CL100K),
        # Opus 4.7, Sonnet 5 and later count some 30 % more than those before
        (r"claude-3", CLAUDE_3),
        (r"claude-(?:(?:opus|sonnet|haiku)-)?4(?:[.-][0-6])?(?![0-9.]|-\d\d?(?!\d))", CLAUDE_3),
        (r"claude", CLAUDE),
        (r"gemini|gemma", GEMINI),
        (r"llama-?2|codellama|tinyllama", ANY),  # tables of their own, long superseded
        (r"(?<!o)llama(?!\.?cpp)", LLAMA),  # before deepseek: deepseek-r1-distill-llama
        (r"qwen|qwq", QWEN),
        (r"mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|mathstral", MISTRAL),
        (r"deepseek", DEEPSEEK),
    )
)


def token_family(model: str) -> TokenFamily:
    """Return the family of *model*: `ANY` if it is unknown, o200k if it is empty."""
    name = model.strip().lower().replace("_", "-")
    if not name:
        return O200K  # the most widely used encoding
    return next((family for rule, family in _RULES if rule.search(name)), ANY)

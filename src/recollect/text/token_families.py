"""
Which models count tokens alike, by the names people write.

Rules are tried from the top. The weights turn an o200k count into an estimate for a family whose
tables are not at hand; docs/log.md (2026-11-15) says how they were set and how far they are off.
This file counts nothing.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Models that count alike: from a table of their own, or by weights on the o200k count."""

    name: str
    encoding: str = ""  # the table that counts exactly, if there is one
    token: float = 1.0  # for each o200k token
    digit: float = 0.0  # and for each digit: some models read numbers digit by digit
    letter: float = 0.0  # and for each character U+0080 to U+1FFF: accents, other alphabets
    wide: float = 0.0  # and for each character above: CJK, symbols, emoji


O200K = Family("o200k_base", "o200k_base")
# the weights are for machines without the table
CL100K = Family("cl100k_base", "cl100k_base", token=1.2, letter=1.2, wide=0.5)
CLAUDE = Family("claude", token=1.85, letter=0.3, wide=0.1)
CLAUDE_3 = Family("claude 3 to 4.6", token=1.45, letter=0.45, wide=0.4)
GEMINI = Family("gemini", token=1.25, digit=0.5, letter=0.3)
LLAMA = Family("llama", token=1.2, letter=1.1, wide=0.1)
MISTRAL = Family("mistral", token=1.45, digit=0.4, letter=0.9, wide=0.6)
QWEN = Family("qwen", token=1.15, digit=0.6, letter=0.8)
DEEPSEEK = Family("deepseek", token=1.2, letter=0.5)
ANY = Family("any model", token=1.85, digit=0.4, letter=1.55, wide=1.0)

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


def family_of(model: str) -> Family:
    """Return the family of *model*: `ANY` if it is unknown, o200k where none is named."""
    name = model.strip().lower().replace("_", "-")
    if not name:
        return O200K  # whoever names no model counts in tokens as most people know them
    return next((family for rule, family in _RULES if rule.search(name)), ANY)

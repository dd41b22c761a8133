"""
Generate the reference texts of the token counters: the same ones on every machine.

Only `Random.random()` is used, whose sequence Python promises to keep for a seed.
"""

import base64
import json
from random import Random

from token_samples import CODE, SENTENCES

SEED = 20261115
NAMES = (
    "Invoice",
    "userSession",
    "max_chunk_chars",
    "HTTPServer",
    "x",
    "parseJSONResponseBody",
    "straße",
    "データ",
)
SPACES = (" ", "  ", "\n", "\n\n", "\t", "\r\n", " \n ", "\u00a0", "\u3000", "    ", "\n\t\t", "\r")
MARKS = "!?#%&*-=_~/\\|<>()[]{}.,:;'\"`^@$+"
CONTRACTIONS = (
    "I'm we're THEY'LL she'd it's don't y'all've O'Brien 'tis rock'n'roll ’s can’t 'S 'Ll "
)
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>user\nhi<|im_end|>",
    "a<|fim_prefix|>b<|endofprompt|>",
    "[INST] <<SYS>> </s>",
)
# ranges of code points: Latin, combining, Cyrillic … symbols, CJK, Hangul, private, emoji, ancient
RANGES = (
    (0x20, 0x7F),
    (0xA0, 0x250),
    (0x300, 0x370),
    (0x400, 0x530),
    (0x590, 0x700),
    (0x900, 0xE80),
    (0x10A0, 0x1400),
    (0x2000, 0x2BFF),
    (0x3040, 0x9FFF),
    (0xAC00, 0xD7A4),
    (0xE000, 0xE100),
    (0xFB00, 0xFE00),
    (0x10000, 0x10400),
    (0x12000, 0x12400),
    (0x1D400, 0x1D800),
    (0x1F300, 0x1FA00),
    (0x20000, 0x20100),
)


class SeededRandom:
    """A seeded source of choices that no release of Python changes."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, n: int) -> int:
        return int(self._random.random() * n)

    def pick(self, items: str | tuple[str, ...]) -> str:
        return items[self.below(len(items))]

    def word(self, letters: str, min_length: int, max_length: int) -> str:
        return "".join(
            self.pick(letters) for _ in range(min_length + self.below(max_length - min_length + 1))
        )


def corpus() -> list[tuple[str, str]]:
    """Return the reference texts, each with its kind."""
    rng = SeededRandom(SEED)
    texts = [*_prose(rng), *_code(rng), *_records(rng), *_runs(rng), *_noise(rng)]
    texts += [("special", text) for text in (*SPECIAL, CONTRACTIONS, CONTRACTIONS.upper())]
    return [*texts, ("empty", "")]


def _prose(rng: SeededRandom) -> list[tuple[str, str]]:
    texts = []
    for language, sentences in SENTENCES.items():
        texts += [(language, sentence) for sentence in sentences]
        for _ in range(7):
            chosen = tuple(rng.pick(sentences) for _ in range(2 + rng.below(5)))
            texts.append((language, rng.pick(SPACES).join(chosen)))
    languages = tuple(SENTENCES)
    for _ in range(40):
        chosen = tuple(rng.pick(SENTENCES[rng.pick(languages)]) for _ in range(4))
        texts.append(("mixed", rng.pick(SPACES).join(chosen)))
    return texts


def _code(rng: SeededRandom) -> list[tuple[str, str]]:
    texts = []
    for language, snippet in CODE.items():
        for times in (1, 1, 2, 3):
            text = "\n".join(
                snippet.replace("NAME", rng.pick(NAMES))
                .replace("OTHER", rng.pick(NAMES))
                .replace("42", str(rng.below(10 ** (1 + rng.below(6)))))
                for _ in range(times)
            )
            indent = rng.pick(("", "", "    ", "\t"))
            texts.append((language, "\n".join(indent + line for line in text.split("\n"))))
    return texts


def _records(rng: SeededRandom) -> list[tuple[str, str]]:
    texts = []
    for size in range(1, 26):
        rows = [
            {
                "id": rng.below(10**9),
                rng.pick(NAMES): rng.pick(SENTENCES["English"]),
                "tags": [rng.pick(NAMES), None, True],
                "score": rng.below(10**6) / 10**4,
            }
            for _ in range(1 + size % 4)
        ]
        stamp = f"2026-{1 + rng.below(12):02}-{1 + rng.below(28):02}T{rng.below(24):02}:07:09Z"
        key = rng.word("0123456789abcdef", 32, 32)
        texts += [
            ("JSON", json.dumps(rows, indent=size % 3 or None, ensure_ascii=size % 2 == 0)),
            ("CSV", "\r\n".join(f'{r["id"]},{r["score"]},{stamp},,"x"' for r in rows)),
            ("log", f"{stamp} INFO [worker-{size}] job={key} took={rng.below(9999)}ms"),
            ("URL", f"https://example.org/{key[:9]}/{rng.pick(NAMES)}?q={size}&utm=a%20b#{key}"),
            ("base64", base64.b64encode(rng.word(key, 5, 200).encode()).decode()),
            ("number", " ".join(str(rng.below(10 ** (1 + i % 18))) for i in range(size))),
            ("number", f"{rng.below(10**9):,}.{size} {rng.below(10**9):#x} -{size}e-{size}%"),
            ("table", "\n".join(f"| {r['id']:>12} | {size:<8} |" for r in rows)),
        ]
    return texts


def _runs(rng: SeededRandom) -> list[tuple[str, str]]:
    texts = []
    for length in (1, 2, 3, 7, 16, 63, 64, 65, 130, 1_000):
        texts += [("run", mark * length) for mark in (" ", "\n", "a", "A", "é", "=", "哈", "9")]
        blank = "".join(rng.pick(SPACES) for _ in range(length % 100))
        texts += [("blank", blank), ("blank", f"a{blank}b"), ("blank", f"{blank}1{blank}!")]
        texts.append(("run", rng.word(MARKS, length, length + 5)))
        texts.append(("word", rng.word("abcdefghijklmnopqrstuvwxyz", length, length)))
        texts.append(("word", rng.word("aeioutnrsAEIOUTNRS", length, length)))
    return texts


def _noise(rng: SeededRandom) -> list[tuple[str, str]]:
    texts = []
    for size in range(1, 41):
        controls = "".join(chr(rng.below(32)) for _ in range(size))
        texts += [("control", controls), ("control", f"a{controls}\x7f\x85\u2028b\ufeff\u200b")]
        scattered = []
        for _ in range(size):
            low, high = RANGES[rng.below(len(RANGES))]
            scattered.append(chr(low + rng.below(high - low)))
        texts.append(("unicode", "".join(scattered)))
        low, high = RANGES[size % len(RANGES)]
        texts.append(("unicode", "".join(chr(low + rng.below(high - low)) for _ in range(size))))
    return texts

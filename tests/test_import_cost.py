"""Importing stays cheap: what a program does not use yet is not loaded."""

import json
import subprocess
import sys

HEAVY = (
    "numpy",
    "onnxruntime",
    "tokenizers",
    "httpx2",
    "click",
    "rich",
    "bpe_openai",
    "re2",
    "yaml",
)


def loaded(code: str) -> set[str]:
    """Return the modules a fresh interpreter has after *code*."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_recollect_loads_no_dependency_and_little_of_itself() -> None:
    modules = loaded("import recollect")

    assert not modules & {*HEAVY, "apsw"}
    assert {name for name in modules if name.startswith("recollect")} == {"recollect"}


def test_writing_loads_neither_numpy_nor_a_model() -> None:
    modules = loaded(
        "import recollect\n"
        "with recollect.open(':memory:') as memory:\n"
        "    memory.ingest('Answers should be short.')"
    )

    assert "apsw" in modules
    assert not modules & set(HEAVY)


def test_searching_by_words_alone_loads_no_model() -> None:
    modules = loaded(
        "import recollect\n"
        "with recollect.open(':memory:', embedding_backend='none') as memory:\n"
        "    memory.search('anything')"
    )

    assert not modules & {"onnxruntime", "tokenizers"}


def test_counting_tokens_loads_the_tables_only_when_asked_and_never_their_package() -> None:
    asked = "from recollect.text.tokens import counter_for\n"

    assert "bpe_openai._bindings" not in loaded(asked)
    assert "bpe_openai" not in loaded(f"{asked}assert counter_for('gpt-4o').count('a b') == 2")

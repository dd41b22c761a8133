"""The script of the guide copies agents and their archives from one server to another."""

from pathlib import Path

import pytest

from doc_examples import ROOT, examples, reader_environment, run_example
from in_process_server import serve_in_thread
from support import open_memory

pytestmark = pytest.mark.vendor

GUIDE = (ROOT / "docs" / "guides" / "letta.md").read_text(encoding="utf-8")


def test_the_script_of_the_guide_copies_agents_with_their_archives(tmp_path: Path) -> None:
    [script] = [example for example in examples(GUIDE) if "OLD_SERVER_URL" in example.code]
    with (
        open_memory(tmp_path / "old.db", words_only=True) as old,
        open_memory(tmp_path / "new.db", words_only=True) as new,
        serve_in_thread(old) as old_url,
        serve_in_thread(new) as new_url,
    ):
        for name, count in (("scout", 203), ("guide", 1), ("empty", 0)):
            old.agents.create(name)
            old.blocks.set(name, "persona", f"I am {name}.")
            for number in range(count):
                at = f"2025-03-01T10:{number // 60:02}:{number % 60:02}+00:00"
                text = f"{name} noted {number}: é “{number}”"
                old.archive.insert(name, text, tags=["b", f"n{number}"], observed_at=at)

        env = reader_environment(tmp_path, OLD_SERVER_URL=old_url, RECOLLECT_SERVER_URL=new_url)
        printed = run_example(script, tmp_path, env)

        assert sorted(printed.splitlines()) == [
            "empty: 0 passages",
            "guide: 1 passages",
            "scout: 203 passages",
        ]
        for name in ("scout", "guide", "empty"):
            before, after = (
                [
                    (kept.content, kept.tags, kept.observed_at)
                    for kept in rec.archive.list(name, limit=500)
                ]
                for rec in (old, new)
            )
            assert after == before
            block = new.blocks.get(name, "persona")
            assert block is not None
            assert block.value == f"I am {name}."
        [hit, *_] = new.archive.search("scout", "", tags=["n202"])
        assert hit.memory.content.startswith("scout noted 202:")

"""
The compared systems by name.

Each one is imported only when it is used: `chromadb` is optional, and a new process that is timed
should only import its own system.
"""

from importlib.util import find_spec

from benchmarks.systems.system_protocol import SystemOpener

OWN = ("recollect", "recollect-words")
BASELINES = ("fts5", "chromadb")


class SystemMissing(Exception):
    """A system is not known, or its package is not installed."""


def system_opener(name: str) -> SystemOpener:
    """Return what opens the system called *name*."""
    match name:
        case "recollect":
            from benchmarks.systems.recollect_system import open_with_embeddings

            return open_with_embeddings
        case "recollect-words":
            from benchmarks.systems.recollect_system import open_words_only

            return open_words_only
        case "fts5":
            from benchmarks.systems.fts5_system import open_fts5

            return open_fts5
        case "chromadb" if find_spec("chromadb") is None:
            raise SystemMissing("chromadb is not installed: pip install -e '.[bench]'")
        case "chromadb":
            from benchmarks.systems.chroma_system import open_chroma

            return open_chroma
        case _:
            raise SystemMissing(f"{name!r} is not one of {', '.join((*OWN, *BASELINES))}")

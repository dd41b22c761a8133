"""A search and a bundle are read in one transaction, with few statements."""

from benchmarks.walks import count_walks
from recollect.models.scripted_models import ScriptedEmbedder


def test_a_search_and_a_bundle_run_few_statements_in_one_transaction() -> None:
    walks = count_walks(embedder=ScriptedEmbedder())

    for name, most in (
        ("search", 15),
        ("search with related", 15),
        ("context_for", 30),
        ("learning() context", 30),
    ):
        assert len(walks[name].statements) <= most, name
        assert walks[name].transactions == 1, name

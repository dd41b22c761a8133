"""One search gives the hits, or why there is none."""

from recollect import LocalRecollect


def test_a_search_with_hits_needs_no_reason(words_only: LocalRecollect) -> None:
    words_only.ingest("The port is 8080.", project="site")

    hits, nothing = words_only.engine.search_or_explain("port", project="site")

    assert [hit.memory.content for hit in hits] == ["The port is 8080."]
    assert nothing is None


def test_a_search_without_a_hit_says_what_why_nothing_says(words_only: LocalRecollect) -> None:
    words_only.ingest("The port of the staging server is 8080.", project="site")

    hits, nothing = words_only.engine.search_or_explain("zebra", project="site")

    assert hits == []
    assert nothing == words_only.why_nothing("zebra", project="site")
    assert [retrieval.query for retrieval in words_only.retrievals.list()] == ["zebra"]


def test_a_page_beyond_the_last_hit_is_no_search_without_a_hit(words_only: LocalRecollect) -> None:
    words_only.ingest("The port is 8080.", project="site")

    assert words_only.engine.search_or_explain("port", project="site", offset=5) == ([], None)

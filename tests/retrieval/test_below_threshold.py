"""Searches that return the best results however good they are, page by page."""

from recollect import LocalRecollect

CITIES = ("Bern", "Lyon", "Porto", "Turin", "Ghent", "Graz")


def test_a_search_below_the_threshold_gives_its_best_results_page_by_page(
    rec: LocalRecollect,
) -> None:
    for city in CITIES:
        rec.ingest(f"The office in {city} opens at nine.", project="site")
    question = "who won the chess tournament?"

    assert all(hit.is_weak for hit in rec.search(question, project="site"))
    best = rec.search(question, project="site", below_threshold=True)
    pages = [
        rec.search(question, project="site", below_threshold=True, limit=2, offset=offset)
        for offset in (0, 2, 4, 6)
    ]
    assert len(best) == len(CITIES)
    assert [hit.memory.id for page in pages for hit in page] == [hit.memory.id for hit in best]
    # The wall stays: other projects are not searched to fill the list.
    assert rec.search(question, project="other", below_threshold=True) == []


def test_messages_and_passages_are_searched_so_too(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    for city in CITIES:
        rec.conversations.append(talk, "user", f"The office in {city} opens at nine.")
        rec.archive.insert("anna", f"The office in {city} opens at nine.")
    question = "who won the chess tournament?"

    assert rec.conversations.search(question, agent="anna") == []
    assert all(hit.is_weak for hit in rec.archive.search("anna", question))
    hits = rec.conversations.search(question, agent="anna", below_threshold=True, limit=4)
    passages = rec.archive.search("anna", question, below_threshold=True, limit=4)
    assert (len(hits), len(passages)) == (4, 4)

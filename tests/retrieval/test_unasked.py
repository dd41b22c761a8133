"""What a prompt is told unasked is surer than what a search shows."""

from pathlib import Path

from support import open_memory

FACTS = [
    "Deploys run every Thursday at 14:00.",
    "The staging server is called Walnut.",
    "Invoices are kept for ten years.",
    "Release notes are written by Lea.",
]


def test_a_request_that_nothing_answers_is_told_nothing_although_a_search_shows_weak_matches() -> (
    None
):
    with open_memory(Path(":memory:")) as rec:
        for fact in FACTS:
            rec.ingest(fact, project="shop")
        rec.drain()
        texts = {
            question: rec.context_for(question, project="shop").text
            for question in (
                "how do I centre a div",
                "write me a haiku about rain",
                "when do we deploy?",
            )
        }

    assert "Deploys run" in texts.pop("when do we deploy?")
    assert not any(fact in text for fact in FACTS for text in texts.values())


def test_names_that_nobody_mentioned_leave_nothing_weak_to_tell() -> None:
    with open_memory(Path(":memory:")) as rec:
        rec.ingest("I own a small bakery in Bristol.", project="shop")
        for fact in FACTS:
            rec.ingest(fact, project="shop")
        rec.drain()

        told = rec.context_for("which restaurant in Paris opens early?", project="shop")

    assert told.text == ""

"""Load at the start of a server what is loaded on first use, so that no request waits for it."""

from recollect.engine.judges.durability import says_something_durable
from recollect.text.token_counter import counter_for

UNREMARKABLE = "The kettle stands beside the window."  # no rule matches: every one is tried


def preload() -> None:
    """Load the token tables, and compile the patterns that judge earlier messages for a bundle."""
    counter_for().count("warm")
    says_something_durable(UNREMARKABLE)

"""Any name is one segment of a path, and comes back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.wire.segment import decoded, filled, names_in, read, written

NAMES = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1d\x1e\x1f/012"))


@given(NAMES)
def test_a_name_comes_back_as_it_was(name: str) -> None:
    path = filled("/agents/{agent}/blocks", {"agent": name})

    _, agents, segment, blocks = decoded(path).split("/")
    assert (agents, read(segment), blocks) == ("agents", name, "blocks")


@pytest.mark.parametrize(("name", "segment"), [("..", "%2E%2E"), (".", "%2E"), ("", "%1E")])
def test_what_would_be_another_path_is_written_otherwise(name: str, segment: str) -> None:
    assert written(name) == segment


def test_the_names_of_a_template_are_found_in_order() -> None:
    assert names_in("/agents/{agent}/skills/{name}") == ("agent", "name")

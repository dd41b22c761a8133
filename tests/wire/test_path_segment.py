"""Any name fits in one path segment and is decoded unchanged."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.wire.path_segment import (
    decode_path,
    decode_segment,
    encode_segment,
    fill_path,
    placeholder_names,
)
from tables import each_row

NAMES = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1d\x1e\x1f/012"))


@given(NAMES)
def test_a_name_comes_back_as_it_was(name: str) -> None:
    path = fill_path("/agents/{agent}/blocks", {"agent": name})

    _, agents, segment, blocks = decode_path(path).split("/")
    assert (agents, decode_segment(segment), blocks) == ("agents", name, "blocks")


@each_row(("name", "segment"), [("..", "%2E%2E"), (".", "%2E"), ("", "%1E")])
def test_what_would_be_another_path_is_written_otherwise(name: str, segment: str) -> None:
    assert encode_segment(name) == segment


def test_the_names_of_a_template_are_found_in_order() -> None:
    assert placeholder_names("/agents/{agent}/skills/{name}") == ("agent", "name")

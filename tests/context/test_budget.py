"""A budget is divided by shares; what one leaves flows on; nobody gets more than they need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.budget import Shares, Want, allot
from recollect.errors import InvalidInput

WANTS = st.lists(st.tuples(st.floats(0, 0.25), st.integers(0, 10_000)), min_size=1, max_size=4).map(
    lambda found: [Want(f"w{n}", share, need) for n, (share, need) in enumerate(found)]
)


@given(total=st.integers(0, 20_000), wants=WANTS)
def test_nobody_starves_and_nothing_is_overspent(total: int, wants: list[Want]) -> None:
    given_out = allot(total, wants)

    assert sum(given_out.values()) <= total
    for want in wants:
        assert min(want.need, int(want.share * total)) <= given_out[want.name] <= want.need
    needed = sum(want.need for want in wants)
    assert sum(given_out.values()) == min(total, needed)  # what is left over flows on


def test_what_is_left_goes_to_the_first_who_needs_more() -> None:
    wants = [Want("a", 0.2, 10), Want("b", 0.2, 90), Want("c", 0.6, 40)]

    assert allot(100, wants) == {"a": 10, "b": 50, "c": 40}


@pytest.mark.parametrize(
    "shares",
    [{"system": -0.1}, {"blocks": 1.5}, {"history": 0.9}, {"margin": True}, {"relevant": "much"}],
)
def test_shares_that_cannot_be_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="share"):
        Shares(**shares)

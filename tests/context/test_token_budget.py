"""A budget is divided by shares; what one leaves flows on; nobody gets more than they need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.token_budget import BudgetShares, TokenRequest, allocate_tokens
from recollect.errors import InvalidInput
from tables import each_row

REQUESTS = st.lists(
    st.tuples(st.floats(0, 0.25), st.integers(0, 10_000)), min_size=1, max_size=4
).map(lambda drawn: [TokenRequest(f"w{n}", share, need) for n, (share, need) in enumerate(drawn)])


@given(total=st.integers(0, 20_000), requests=REQUESTS)
def test_nobody_starves_and_nothing_is_overspent(total: int, requests: list[TokenRequest]) -> None:
    allocated = allocate_tokens(total, requests)

    assert sum(allocated.values()) <= total
    for request in requests:
        assert (
            min(request.need, int(request.share * total)) <= allocated[request.name] <= request.need
        )
    needed = sum(request.need for request in requests)
    assert sum(allocated.values()) == min(total, needed)  # what is left over flows on


def test_what_is_left_goes_to_the_first_who_needs_more() -> None:
    requests = [TokenRequest("a", 0.2, 10), TokenRequest("b", 0.2, 90), TokenRequest("c", 0.6, 40)]

    assert allocate_tokens(100, requests) == {"a": 10, "b": 50, "c": 40}


@each_row(
    "shares",
    [{"system": -0.1}, {"blocks": 1.5}, {"history": 0.9}, {"margin": True}, {"relevant": "much"}],
)
def test_shares_that_cannot_be_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="share"):
        BudgetShares(**shares)

"""
Divide a token budget: everybody gets a share, and what one leaves unused flows on to the next.

Pure arithmetic. It does not know what the shares are spent on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from recollect.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class Shares:
    """
    How a bundle divides its budget.

    The margin is never spent: a model may count a little more than we do.
    """

    system: float = 0.05
    blocks: float = 0.20
    history: float = 0.50
    relevant: float = 0.20
    margin: float = 0.05

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        wrong = [name for name, value in values.items() if not _is_share(value)]
        if wrong:
            raise InvalidInput(f"the share of {', '.join(wrong)} must be a number from 0 to 1")
        if sum(values.values()) > 1.000001:
            raise InvalidInput(f"the shares add up to {sum(values.values()):g}; 1 is all there is")


@dataclass(frozen=True)
class Want:
    """Somebody who needs tokens, and the share they may always have."""

    name: str
    share: float
    need: int


def allot(total: int, wants: Sequence[Want]) -> dict[str, int]:
    """Return how many tokens each gets: its share if needed, then what others left, in order."""
    given = {want.name: min(want.need, int(want.share * total)) for want in wants}
    left = total - sum(given.values())
    for want in wants:
        more = min(want.need - given[want.name], left)
        if more > 0:
            given[want.name] += more
            left -= more
    return given


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= 1  # type: ignore[operator]  # a number, as just asked

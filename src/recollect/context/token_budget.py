"""
Divide a token budget by shares. Tokens that one section does not use go to the next ones.

Pure arithmetic: this file does not know what the tokens are used for.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

TokenCounter = Callable[[str], int]


@dataclass(frozen=True, kw_only=True)
class BudgetShares:
    """How a bundle divides its budget."""

    system: float = 0.05
    blocks: float = 0.20
    history: float = 0.50
    relevant: float = 0.20
    margin: float = 0.05  # never used, because a model may count more tokens than we do

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        invalid = [name for name, value in values.items() if not _is_share(value)]
        if invalid:
            raise InvalidInput(f"the share of {', '.join(invalid)} must be a number from 0 to 1")
        if sum(values.values()) > 1.000001:
            raise InvalidInput(f"the shares add up to {sum(values.values()):g}; the maximum is 1")


@dataclass(frozen=True)
class TokenRequest:
    """The tokens that a section needs, and the share of the total it is guaranteed."""

    name: str
    share: float
    need: int


def allocate_tokens(total: int, requests: Sequence[TokenRequest]) -> dict[str, int]:
    """Return the tokens of each request: first its share, then unused tokens, in order."""
    allocated = {item.name: min(item.need, int(item.share * total)) for item in requests}
    remaining = total - sum(allocated.values())
    for request in requests:
        extra = min(request.need - allocated[request.name], remaining)
        if extra > 0:
            allocated[request.name] += extra
            remaining -= extra
    return allocated


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= 1  # type: ignore[operator]  # checked above

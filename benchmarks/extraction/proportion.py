"""A proportion and its confidence interval."""

from dataclasses import dataclass
from math import sqrt

Z = 1.96  # 95 per cent


@dataclass(frozen=True)
class Proportion:
    """*part* of *whole*."""

    part: int
    whole: int

    @property
    def per_cent(self) -> float:
        """Return the share, or not a number where there is nothing to have a share of."""
        return 100 * self.part / self.whole if self.whole else float("nan")

    def __str__(self) -> str:
        return f"{self.per_cent:.1f} ({self.part} of {self.whole})" if self.whole else "–"


def interval(share: Proportion) -> tuple[float, float]:
    """Return between which per cent the true share lies, by Wilson's interval."""
    if not share.whole:
        return 0.0, 100.0
    n, p = share.whole, share.part / share.whole
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    reach = Z * sqrt(p * (1 - p) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
    return 100 * max(middle - reach, 0.0), 100 * min(middle + reach, 1.0)


def with_interval(share: Proportion) -> str:
    """Return the share and its interval as text."""
    low, high = interval(share)
    return f"{share.per_cent:.1f} [{low:.0f}–{high:.0f}]" if share.whole else "–"

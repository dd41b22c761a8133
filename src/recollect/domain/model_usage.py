"""The ledger of what language models were asked, and the daily budget it is held against."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One line of the ledger. A call that failed is written too: it may have cost something."""

    id: str
    event_id: str | None
    model: str
    purpose: str
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""
    asked_at: datetime


@dataclass(frozen=True)
class ModelUsage:
    """What was spent since some moment."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class ModelBudget:
    """What may be spent in one day (UTC). Zero means: nothing."""

    calls_per_day: int
    tokens_per_day: int

    def refusal(self, spent: ModelUsage) -> str:
        """Return why no further call may be made today, or ''."""
        if spent.calls >= self.calls_per_day:
            return f"{spent.calls} of {self.calls_per_day} model calls a day are spent"
        if spent.tokens >= self.tokens_per_day:
            return f"{spent.tokens:,} of {self.tokens_per_day:,} model tokens a day are spent"
        return ""


def start_of_day(moment: datetime) -> datetime:
    """Return when the day of *moment* began."""
    return datetime.combine(moment.date(), time(), tzinfo=moment.tzinfo)


def start_of_next_day(moment: datetime) -> datetime:
    """Return when the next day begins."""
    return start_of_day(moment) + timedelta(days=1)

"""Calls to language models, and the daily budget for them."""

from datetime import datetime, time, timedelta

from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """One recorded call. Failed calls are recorded too, since they may have cost something."""

    id: str
    event_id: str | None
    model: str
    purpose: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None  # None: the price of the model is not known
    error: str = ""
    asked_at: datetime


@dataclass(frozen=True, kw_only=True)
class ChatModelStatus:
    """
    The chat model that an agent runs on. `name` is '' if none is configured.

    Prices are in US dollars per million tokens; None if they are not known.
    """

    name: str = ""
    input_usd: float | None = None
    output_usd: float | None = None


@dataclass(frozen=True)
class ModelUsage:
    """Calls and tokens used since some time."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class ModelBudget:
    """The limits for one day (UTC). Zero allows nothing."""

    calls_per_day: int
    tokens_per_day: int

    def refusal(self, spent: ModelUsage) -> str:
        """Return why no more calls are allowed today, or ''."""
        if spent.calls >= self.calls_per_day:
            return f"{spent.calls} of {self.calls_per_day} model calls a day are spent"
        if spent.tokens >= self.tokens_per_day:
            return f"{spent.tokens:,} of {self.tokens_per_day:,} model tokens a day are spent"
        return ""


def start_of_day(moment: datetime) -> datetime:
    """Return the start of the day of *moment*."""
    return datetime.combine(moment.date(), time(), tzinfo=moment.tzinfo)


def start_of_next_day(moment: datetime) -> datetime:
    """Return the start of the next day."""
    return start_of_day(moment) + timedelta(days=1)

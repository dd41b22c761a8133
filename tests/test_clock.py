"""Identifiers that sort by time, and times that survive being written down."""

import itertools
import uuid
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.clock import SystemClock, from_micros, to_micros, uuid7_text
from tables import each_row

offsets = st.integers(min_value=-14 * 60, max_value=14 * 60)
zones = offsets.map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(
    min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31), timezones=zones
)

# 48 bits of milliseconds and 12 of their fraction
ticks = st.integers(min_value=0, max_value=(1 << 60) - 1)
entropies = st.integers(min_value=0, max_value=(1 << 64) - 1)


def test_ten_thousand_identifiers_of_one_clock_strictly_increase() -> None:
    clock = SystemClock()

    issued = [clock.new_id() for _ in range(10_000)]

    assert all(one < other for one, other in itertools.pairwise(issued))


def test_an_identifier_is_a_version_7_uuid_in_its_plain_form() -> None:
    issued = SystemClock().new_id()

    parsed = uuid.UUID(issued)

    assert str(parsed) == issued
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122


def test_an_identifier_carries_the_millisecond_of_its_creation() -> None:
    clock = SystemClock()

    before = to_micros(clock.now()) // 1000
    millisecond = uuid.UUID(clock.new_id()).int >> 80
    after = to_micros(clock.now()) // 1000

    assert before <= millisecond <= after


def test_two_clocks_do_not_issue_the_same_identifiers() -> None:
    one, other = SystemClock(), SystemClock()

    assert not {one.new_id() for _ in range(500)} & {other.new_id() for _ in range(500)}


def test_the_example_of_rfc_9562_is_laid_out_as_printed() -> None:
    # Appendix A.6: 2022-02-22 19:22:22 UTC, rand_a 0xCC3, rand_b 0x18C4DC0C0C07398F.
    moment = datetime(2022, 2, 22, 19, 22, 22, tzinfo=UTC)

    laid_out = uuid7_text(to_micros(moment) // 1000 * 4096 + 0xCC3, 0x18C4DC0C0C07398F)

    assert laid_out == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


@given(ticks, entropies)
def test_every_layout_is_version_7_with_its_time_in_front(tick: int, entropy: int) -> None:
    parsed = uuid.UUID(uuid7_text(tick, entropy))

    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == tick >> 12


@given(ticks, ticks, entropies, entropies)
def test_a_later_tick_sorts_later_whatever_the_entropy(
    tick: int, other: int, entropy: int, more: int
) -> None:
    earlier, later = uuid7_text(tick, entropy), uuid7_text(other, more)

    assert (earlier < later) if tick < other else (tick == other or earlier > later)


def test_now_is_aware_and_in_utc() -> None:
    assert SystemClock().now().tzinfo is UTC


@each_row(
    ("moment", "micros"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC), 1_000_001),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 5, 8, 12, 0, tzinfo=UTC), 1_778_241_600_000_000),
        (datetime(2026, 5, 8, 14, 0, tzinfo=timezone(timedelta(hours=2))), 1_778_241_600_000_000),
        (datetime(1, 1, 1, tzinfo=UTC), -62_135_596_800_000_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999_999),
    ],
)
def test_a_moment_is_so_many_microseconds_since_1970(moment: datetime, micros: int) -> None:
    assert to_micros(moment) == micros
    assert from_micros(micros) == moment


@pytest.mark.fuzz
@given(moments)
def test_a_moment_survives_the_round_trip_to_the_microsecond(moment: datetime) -> None:
    returned = from_micros(to_micros(moment))

    assert returned == moment
    assert returned.tzinfo is UTC


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(TypeError):
        to_micros(datetime(2026, 5, 8))

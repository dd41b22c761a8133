"""A window is measured only when what was free before may be used up."""

from recollect.service.window_headroom import MAX_CONVERSATIONS, WindowHeadroom


def test_half_of_the_free_tokens_may_be_spent_before_the_next_measurement() -> None:
    headroom = WindowHeadroom()
    headroom.set_free("c", 1_000)

    assert [headroom.spend("c", 200) for _ in range(3)] == [False, False, True]


def test_an_unknown_or_full_window_is_measured() -> None:
    headroom = WindowHeadroom()
    headroom.set_free("full", -20)

    assert headroom.spend("unknown", 1)
    assert headroom.spend("full", 1)


def test_the_oldest_conversations_are_dropped() -> None:
    headroom = WindowHeadroom()
    for number in range(MAX_CONVERSATIONS + 1):
        headroom.set_free(str(number), 1_000)

    assert headroom.spend("0", 1)
    assert not headroom.spend(str(MAX_CONVERSATIONS), 1)

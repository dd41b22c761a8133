"""Arrays grow without being copied each time, and what was returned before does not change."""

import numpy as np

from recollect.store.indexes.growing_arrays import GrowingArrays, growing_arrays


def test_arrays_extended_many_times_have_all_parts_and_earlier_ones_do_not_change() -> None:
    ids, bits = np.arange(3), np.arange(6).reshape(2, 3)
    arrays = GrowingArrays((ids, bits), axis=-1)
    returned = [
        arrays.extend((np.array([number]), np.array([[number], [-number]])))
        for number in range(3, 60)
    ]

    for length, (all_ids, all_bits) in enumerate(returned, start=4):
        assert all_ids.tolist() == list(range(length))
        assert all_bits[0, 3:].tolist() == list(range(3, length))
        assert all_bits[1, 3:].tolist() == [-number for number in range(3, length)]
    assert returned[-1][1].strides[-1] == bits.strides[-1]


def test_extending_an_older_array_leaves_the_newer_one_alone() -> None:
    start = (np.arange(3),)
    newer = growing_arrays(None, start, axis=0)
    (longer,) = newer.extend((np.array([3]),))

    other = growing_arrays(newer, start, axis=0)
    (branch,) = other.extend((np.array([30]),))

    assert other is not newer
    assert growing_arrays(newer, (longer,), axis=0) is newer
    assert longer.tolist() == [0, 1, 2, 3]
    assert branch.tolist() == [0, 1, 2, 30]

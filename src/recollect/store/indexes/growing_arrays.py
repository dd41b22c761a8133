"""
NumPy arrays that are extended at their end again and again without being copied each time.

An eighth more than needed is allocated, and again when that is full. Arrays returned earlier are
views of the same memory. They keep their length and their values, because only what lies behind
them is written.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPARE_CAPACITY = 1 / 8  # of the length


class GrowingArrays:
    """Arrays of one length along *axis*. Not thread-safe: the caller holds the lock."""

    def __init__(self, arrays: Sequence[NDArray[Any]], axis: int) -> None:
        self._arrays = [np.moveaxis(array, axis, 0) for array in arrays]
        self._axis = axis
        self.length = len(self._arrays[0])

    def extend(self, added: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Write *added*, one array for each array, behind the others; return all of them."""
        start, length = self.length, self.length + added[0].shape[self._axis]
        if length > len(self._arrays[0]):
            self._arrays = [self._with_capacity(array, length) for array in self._arrays]
        for array, new_part in zip(self._arrays, added, strict=True):
            array[start:length] = np.moveaxis(new_part, self._axis, 0)
        self.length = length
        return [np.moveaxis(array[:length], 0, self._axis) for array in self._arrays]

    def _with_capacity(self, array: NDArray[Any], length: int) -> NDArray[Any]:
        # Allocated in the order of axes in which the array is used, so that its last axis stays
        # contiguous.
        shape = list(np.moveaxis(array, 0, self._axis).shape)
        shape[self._axis] = int(length * (1 + SPARE_CAPACITY)) + 1
        larger = np.moveaxis(np.empty(shape, dtype=array.dtype), self._axis, 0)
        larger[: self.length] = array[: self.length]
        return larger


def growing_arrays(
    previous: GrowingArrays | None, arrays: Sequence[NDArray[Any]], axis: int
) -> GrowingArrays:
    """Return *previous* if it ends where *arrays* end, otherwise a new one with *arrays*."""
    if previous is not None and previous.length == arrays[0].shape[axis]:
        return previous
    return GrowingArrays(arrays, axis)

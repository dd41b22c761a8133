"""
Version vectors: which revisions of a record a device has seen. Pure.

A vector counts the revisions of each device: `{"a": 3, "b": 1}` includes the first three of device
a and the first one of b. A revision that includes everything of another replaces it; if neither
does, both were made without knowledge of each other.
"""

from collections.abc import Mapping

VersionVector = Mapping[str, int]


def includes(vector: VersionVector, other: VersionVector) -> bool:
    """Return whether *vector* has seen every revision that *other* has."""
    return all(vector.get(device, 0) >= count for device, count in other.items())


def join(vector: VersionVector, other: VersionVector) -> dict[str, int]:
    """Return the vector that has seen what either has."""
    devices = sorted({*vector, *other})
    return {device: max(vector.get(device, 0), other.get(device, 0)) for device in devices}


def with_next_revision(vector: VersionVector, device: str) -> dict[str, int]:
    """Return *vector* after another revision of *device*."""
    return dict(sorted({**vector, device: vector.get(device, 0) + 1}.items()))

"""Which revisions of a record a device has seen."""

from recollect.domain.version_vector import includes, join, with_next_revision


def test_a_vector_includes_another_if_it_has_seen_as_much_of_every_device() -> None:
    assert includes({"a": 2, "b": 1}, {"a": 1})
    assert includes({"a": 1}, {})
    assert not includes({"a": 1}, {"b": 1})
    assert not includes({"a": 1, "b": 3}, {"a": 2})


def test_the_join_of_two_vectors_includes_both() -> None:
    first, second = {"a": 2, "b": 1}, {"b": 4, "c": 1}

    joined = join(first, second)

    assert joined == {"a": 2, "b": 4, "c": 1}
    assert includes(joined, first)
    assert includes(joined, second)


def test_the_next_revision_is_not_included_before() -> None:
    later = with_next_revision({"a": 1}, "b")

    assert later == {"a": 1, "b": 1}
    assert includes(later, {"a": 1})
    assert not includes({"a": 1}, later)

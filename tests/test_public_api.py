"""The door keeps its shape."""

import recollect


def test_every_exported_name_exists_and_is_listed() -> None:
    for name in recollect.__all__:
        assert getattr(recollect, name) is not None

    assert sorted(recollect.__all__) == dir(recollect)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(recollect, "no_such_thing")

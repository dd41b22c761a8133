"""Benchmarks name functions and constants of Recollect in strings; each name must exist."""

import pytest

from benchmarks.ablation import PARTS
from benchmarks.constant_overrides import apply_overrides
from benchmarks.refusals import WITHOUT
from benchmarks.scale import search_profile
from benchmarks.server import profiled_server
from benchmarks.task_answers import Configuration
from recollect.client.session import LearningSession
from tables import each_row


@each_row("configuration", [*PARTS.values(), WITHOUT])
def test_a_configuration_overrides_constants_that_exist(configuration: Configuration) -> None:
    with apply_overrides(configuration.overrides):
        pass


def test_the_profile_of_a_search_times_functions_that_exist() -> None:
    missing = [
        (piece, name)
        for piece, functions in search_profile.PIECES.items()
        for owner, name in functions
        if not hasattr(owner, name)
    ]

    assert not missing


def test_the_profile_of_the_server_times_functions_that_exist() -> None:
    missing = [
        (piece, name) for piece, owner, name in profiled_server.PIECES if not hasattr(owner, name)
    ]

    assert not missing


@pytest.mark.vendor
def test_the_overhead_of_learning_times_methods_that_exist() -> None:
    from benchmarks.server import vendor_caller  # loads the package of OpenAI

    methods = vendor_caller.TIMED_METHODS.values()

    assert all(hasattr(LearningSession, method) for method in methods)

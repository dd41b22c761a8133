"""Three devices, random verbs, and files that are late, lost, repeated or half-written."""

import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recollect import (
    AlreadyExists,
    BlockConflict,
    BlockReadOnly,
    IllegalTransition,
    InvalidInput,
    NotFound,
)
from store_bytes import files_with_word
from synced_devices import words_in_folder
from synced_world import VERBS, SyncedWorld

pytestmark = pytest.mark.fuzz

LAST_VERB = len(VERBS) - 1
STEPS = st.lists(
    st.tuples(st.integers(0, LAST_VERB), st.integers(0, 2), st.integers(0, 1_000)),
    min_size=5,
    max_size=40,
)


# What a verb raises if it cannot be done in the present state.
REFUSALS = (InvalidInput, NotFound, AlreadyExists, IllegalTransition, BlockConflict, BlockReadOnly)


def run_scene(steps: list[tuple[int, int, int]]) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-test-") as name:
        world = SyncedWorld(Path(name))
        try:
            for verb, device, arg in steps:
                world.devices[device].clock.advance(seconds=1)
                with suppress(*REFUSALS):
                    getattr(world, VERBS[verb])(world.devices[device], arg)
            world.settle()
            check(world)
        finally:
            world.close()


def check(world: SyncedWorld) -> None:
    first, *others = world.devices
    for other in others:
        assert other.exported() == first.exported()
    for device in world.devices:
        report = device.rec.maintenance.verify()
        assert report.ok, report
    text = "\n".join(words_in_folder(device) for device in world.devices)
    for word in world.forgotten:
        assert word not in text
        for device in world.devices:
            assert not files_with_word(device.rec.path, word)


@pytest.mark.fuzz
def test_three_devices_end_with_exports_of_the_same_bytes(scenes: int) -> None:
    @settings(
        max_examples=scenes,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate),
        database=None,
        print_blob=True,
    )
    @given(STEPS)
    def run(steps: list[tuple[int, int, int]]) -> None:
        run_scene(steps)

    run()


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_three_devices_end_with_exports_of_the_same_bytes_in_a_chosen_scene(seed: int) -> None:
    chance = Random(seed)
    run_scene(
        [
            (chance.randrange(LAST_VERB + 1), chance.randrange(3), chance.randrange(1_000))
            for _ in range(40)
        ]
    )


def test_an_agent_that_is_made_again_keeps_its_blocks_beside_that_of_another_device() -> None:
    """The other device's agent is known to the third under the id of the deleted one."""
    first = ["say", "sync", "delete_agent", "say"]
    scene = [*((verb, 0, 0) for verb in first), ("say", 1, 0), ("interrupted_sync", 1, 12)]
    run_scene([(VERBS.index(verb), device, argument) for verb, device, argument in scene])


def test_an_agent_that_two_devices_take_for_two_others_keeps_its_conversations_with_one() -> None:
    """On the first device another agent has its name by then, and on the third the renamed one."""
    scene = [("say", 2, 685), ("change_agent", 0, 95), ("sync", 0, 815), ("rename_agent", 0, 62)]
    scene += [("sync", 2, 901), ("change_agent", 0, 527)]
    run_scene([(VERBS.index(verb), device, argument) for verb, device, argument in scene])


def test_words_of_a_source_that_another_device_deleted_leave_the_write_ahead_log() -> None:
    """The source is deleted after the memories, whose deletion had emptied the log."""
    scene = [("ingest", 686), ("ingest", 878), ("edit_vault", 351), ("sync", 368)]
    scene += [("forget", 530), ("interrupted_sync", 26)]
    run_scene([(VERBS.index(verb), 0, argument) for verb, argument in scene])


def test_words_of_a_source_that_became_one_with_another_leave_the_write_ahead_log() -> None:
    """Both sources have the same text once their words are blanked."""
    scene = [("capture", 0, 405), ("capture", 1, 922), ("sync", 1, 68), ("forget", 0, 985)]
    scene += [("forget", 1, 440), ("interrupted_sync", 1, 180)]
    run_scene([(VERBS.index(verb), device, argument) for verb, device, argument in scene])


def test_a_word_that_a_page_of_another_device_repeats_stays_in_that_page() -> None:
    """The page was edited before it was known that its words are to be forgotten."""
    scene = [("ingest", 1, 966), ("import_export", 0, 182), ("edit_vault", 0, 204)]
    scene += [("reject", 0, 706), ("forget", 1, 542)]
    run_scene([(VERBS.index(verb), device, argument) for verb, device, argument in scene])


def test_a_skill_that_is_also_imported_does_not_make_devices_sync_for_ever() -> None:
    """The import gave the agent a second skill of the name that it had loaded already."""
    scene = [("jump", 0, 335), ("load_skill", 2, 108), ("load_skill", 1, 360)]
    scene += [("load_skill", 0, 668), ("sync", 2, 855), ("import_export", 0, 874)]
    run_scene([(VERBS.index(verb), device, argument) for verb, device, argument in scene])

"""Three devices, random verbs, and files that are late, lost, repeated or half-written."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from recollect import IllegalTransition, InvalidInput, NotFound, RecollectError
from recollect.store.sqlite.sync.sync_folder import MANIFEST, SharedFolder
from store_bytes import files_with_word
from synced_devices import SyncedDevice, make_device, words_in_folder


class SimulatedKill(Exception):
    """Stands for a kill: nothing after it runs."""


class SyncedWorld:
    """Three devices, each with its own copy of the shared folder, and what carries files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.devices: list[SyncedDevice] = []
        self.forgotten: list[str] = []  # words that must be nowhere in the end
        self.words = 0
        for number, name in enumerate("abc", start=1):
            shared = self.copy_of(name)
            shared.mkdir(parents=True)
            if number > 1:
                shutil.copy(self.copy_of("a") / MANIFEST, shared / MANIFEST)
            self.devices.append(make_device(folder, name, number, shared))

    def copy_of(self, name: str) -> Path:
        return self.folder / f"shared-{name}"

    def close(self) -> None:
        for device in self.devices:
            device.rec.close()

    # ── verbs ───────────────────────────────────────────────────────────────────────────────────

    def word(self) -> str:
        self.words += 1
        letters = "bcdfghjklm"
        return "zq" + "".join(letters[int(digit)] + "o" for digit in str(self.words)) + "x"

    def ingest(self, device: SyncedDevice, arg: int) -> None:
        status = ("active", "inbox")[arg % 2]
        place: dict[str, Any] = {"scope": "global"} if arg % 3 else {"project": f"p{arg % 2}"}
        device.rec.ingest(f"The {self.word()} server is in {self.word()}.", status=status, **place)

    def same_text(self, device: SyncedDevice, arg: int) -> None:
        device.rec.ingest(f"Number {arg % 3} is always the same.", project="shared")

    def pick(self, device: SyncedDevice, arg: int, statuses: list[str]) -> Any:
        memories = device.rec.memories.list(statuses=statuses, everywhere=True, limit=50)
        memories.sort(key=lambda memory: memory.id)
        return memories[arg % len(memories)] if memories else None

    def promote(self, device: SyncedDevice, arg: int) -> None:
        if memory := self.pick(device, arg, ["inbox"]):
            device.rec.promote(memory.id, reason=f"good {arg}")

    def reject(self, device: SyncedDevice, arg: int) -> None:
        if memory := self.pick(device, arg, ["inbox"]):
            device.rec.reject(memory.id, f"bad {arg}")

    def undo(self, device: SyncedDevice, arg: int) -> None:
        if memory := self.pick(device, arg, ["active", "archived"]):
            device.rec.undo(memory.id)

    def forget(self, device: SyncedDevice, arg: int) -> None:
        memory = self.pick(device, arg, ["active", "inbox", "archived", "superseded"])
        if memory is not None:
            device.rec.forget(memory.id)
            # What another memory of this device quotes stays, as the receipt says.
            rows = "".join(device.rows())
            words = [word.strip(".") for word in memory.content.split() if word.startswith("zq")]
            self.forgotten += [word for word in words if word not in rows]

    def edit(self, device: SyncedDevice, arg: int) -> None:
        if memory := self.pick(device, arg, ["active", "inbox"]):
            device.rec.memories.edit(memory.id, content=f"Edited: the {self.word()} thing.")

    def fact(self, device: SyncedDevice, arg: int) -> None:
        device.rec.upsert_profile_fact(f"key{arg % 2}", f"value {self.word()}")

    def block(self, device: SyncedDevice, arg: int) -> None:
        blocks = [block for block in device.rec.blocks.list() if block.label.startswith("notes")]
        blocks.sort(key=lambda block: block.id)
        if len(blocks) < 2:
            device.rec.blocks.create(f"notes{arg % 2}", "one\ntwo\nthree\n", scope="global")
            return
        block = blocks[arg % len(blocks)]
        lines = block.value.splitlines() or [""]
        lines[arg % len(lines)] = f"line {arg} {self.word()}"
        device.rec.blocks.set(None, block.id, "\n".join(lines) + "\n")

    def say(self, device: SyncedDevice, arg: int) -> None:
        with suppress(RecollectError):
            device.rec.agents.create(f"agent{arg % 2}")
        talks = device.rec.conversations.list(agent=f"agent{arg % 2}")
        talk = talks[0] if talks else device.rec.conversations.start(agent=f"agent{arg % 2}")
        device.rec.conversations.append(talk.id, "user", f"I like {self.word()} best.")

    def unsay(self, device: SyncedDevice, arg: int) -> None:
        talks = [talk for name in ("agent0", "agent1") for talk in self.talks(device, name)]
        if talks and arg % 4 == 0:
            device.rec.conversations.delete(talks[arg % len(talks)].id)
        elif talks:
            messages = device.rec.conversations.messages(talks[arg % len(talks)].id)
            if messages:
                message = messages[arg % len(messages)]
                device.rec.conversations.delete_message(message.id)

    def talks(self, device: SyncedDevice, name: str) -> list[Any]:
        try:
            return device.rec.conversations.list(agent=name)
        except RecollectError:
            return []

    def capture(self, device: SyncedDevice, arg: int) -> None:
        word = self.word()
        text = f"user: I prefer {word} for deploys.\nassistant: I will use {word}."
        device.rec.capture_session(text, project=f"p{arg % 2}")
        device.rec.drain()

    def delete_agent(self, device: SyncedDevice, arg: int) -> None:
        with suppress(RecollectError):
            device.rec.agents.delete(f"agent{arg % 2}")

    def document(self, device: SyncedDevice, arg: int) -> None:
        if arg % 5 == 0:
            device.rec.documents.delete(["app"], f"doc{arg % 2}")
        else:
            device.rec.documents.put(["app"], f"doc{arg % 2}", {"text": self.word()})

    def save_search(self, device: SyncedDevice, arg: int) -> None:
        if arg % 5 == 0 and device.rec.views.list():
            device.rec.views.delete(device.rec.views.list()[0].name)
        else:
            device.rec.views.save(f"view{arg % 2}", self.word())

    def change_agent(self, device: SyncedDevice, arg: int) -> None:
        with suppress(RecollectError):
            device.rec.agents.create(f"agent{arg % 2}")
        update, name = device.rec.agents.update, f"agent{arg % 2}"
        if arg % 3 == 0:
            update(name, model=self.word())
        elif arg % 3 == 1:
            update(name, description=self.word())
        else:
            update(name, system_prompt=self.word())

    def load_skill(self, device: SyncedDevice, arg: int) -> None:
        """Load, refresh or unload a skill, whose text differs between devices and times."""
        home = self.folder / f"home-{device.name}"
        name = f"skill{arg % 2}"
        path = home / ".agents" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nname: {name}\ndescription: text\n---\nText {arg % 3}.\n")
        self.change_agent(device, arg)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home))
            if arg % 7 == 0:
                device.rec.skills.unload(f"agent{arg % 2}", name)
            elif arg % 7 == 1:
                device.rec.skills.refresh(f"agent{arg % 2}")
            else:
                device.rec.skills.load(f"agent{arg % 2}", name)

    def take_version(self, device: SyncedDevice, arg: int) -> None:
        """Restore or discard values that lost against another device."""
        if versions := device.rec.sync.versions():
            version = versions[arg % len(versions)]
            if arg % 3:
                device.rec.sync.restore_version(version.id)
            else:
                device.rec.sync.discard_version(version.id)

    def link(self, device: SyncedDevice, arg: int) -> None:
        first = self.pick(device, arg, ["active"])
        second = self.pick(device, arg + 1, ["active"])
        if first and second and first.id != second.id:
            device.rec.link(first.id, "related_to", second.id)

    # ── time and files ──────────────────────────────────────────────────────────────────────────

    def jump(self, device: SyncedDevice, arg: int) -> None:
        device.clock.moment += timedelta(days=365 * (1 if arg % 2 else -1))

    def sync(self, device: SyncedDevice, arg: int) -> None:
        device.sync()

    def interrupted_sync(self, device: SyncedDevice, arg: int) -> None:
        """Sync until a write, of the store or of a file, does not come back."""
        calls = 0
        store, original = device.rec._store, device.rec._store.write
        write_file = SharedFolder.write

        def count() -> None:
            nonlocal calls
            calls += 1
            if calls == arg % 7 + 1:
                raise SimulatedKill

        def write(work: Callable[[Any], Any]) -> Any:
            if arg % 2:
                count()
            result = original(work)
            if not arg % 2:
                count()
            return result

        def write_and_die(self: SharedFolder, *arguments: Any) -> str:
            result = write_file(self, *arguments)
            count()
            return result

        store.write = write  # type: ignore[method-assign]
        SharedFolder.write = write_and_die  # type: ignore[assignment, method-assign]
        try:
            device.sync()
        except SimulatedKill:
            pass
        finally:
            SharedFolder.write = write_file  # type: ignore[method-assign]
            del store.write

    def carry(self, device: SyncedDevice, arg: int) -> None:
        """Carry some files of a device to another, late and out of order, some cut in half."""
        other = self.devices[(self.devices.index(device) + 1 + arg % 2) % 3]
        source, target = self.copy_of(device.name), self.copy_of(other.name)
        for folder in sorted(source.glob("device-*")):
            copy = target / folder.name
            copy.mkdir(exist_ok=True)
            if self.is_of(folder, other):
                continue  # nobody else writes the files of a device
            for position, path in enumerate(sorted(folder.glob("*.sync"))):
                if (arg >> position % 8) & 1:
                    continue
                destination = copy / path.name
                if arg % 11 == 0 and not destination.exists():
                    destination.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
                elif not destination.exists() or arg % 11 == 1 or is_half(destination, path):
                    shutil.copy(path, destination)

    def is_of(self, folder: Path, device: SyncedDevice) -> bool:
        return folder.name == f"device-{device.rec.sync.status().device}"

    def carry_everything(self) -> None:
        """Let every copy of the folder have what its owner has, and nothing else."""
        for owner in self.devices:
            name = f"device-{owner.rec.sync.status().device}"
            source = self.copy_of(owner.name) / name
            for other in self.devices:
                if other is not owner and source.exists():
                    target = self.copy_of(other.name) / name
                    shutil.rmtree(target, ignore_errors=True)
                    shutil.copytree(source, target)

    def settle(self) -> None:
        for _ in range(15):
            self.carry_everything()
            reports = [device.sync() for device in self.devices]
            self.carry_everything()
            if not any(report.files_read or report.files_written for report in reports):
                return
        raise AssertionError("the devices send each other changes for ever")


def is_half(path: Path, original: Path) -> bool:
    return path.stat().st_size < original.stat().st_size


VERBS = [
    *("ingest", "ingest", "same_text", "promote", "promote", "reject", "reject", "undo", "forget"),
    *("edit", "fact", "block", "block", "say", "unsay", "capture", "delete_agent", "document"),
    *("link", "jump", "sync", "interrupted_sync", "carry"),
    *("save_search", "change_agent", "change_agent", "take_version", "load_skill", "load_skill"),
]
LAST_VERB = len(VERBS) - 1
STEPS = st.lists(
    st.tuples(st.integers(0, LAST_VERB), st.integers(0, 2), st.integers(0, 1_000)),
    min_size=5,
    max_size=40,
)


def run_scene(steps: list[tuple[int, int, int]]) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-test-") as name:
        world = SyncedWorld(Path(name))
        try:
            for verb, device, arg in steps:
                world.devices[device].clock.advance(seconds=1)
                with suppress(InvalidInput, IllegalTransition, NotFound):
                    getattr(world, VERBS[verb])(world.devices[device], arg)
            world.settle()
            check(world)
        finally:
            world.close()


def check(world: SyncedWorld) -> None:
    first, *others = world.devices
    for other in others:
        assert other.rows() == first.rows()
    for device in world.devices:
        report = device.rec.maintenance.verify()
        assert report.ok, report
    text = "\n".join(words_in_folder(device) for device in world.devices)
    for word in world.forgotten:
        assert word not in text
        for device in world.devices:
            assert not files_with_word(device.rec.path, word)


@pytest.mark.fuzz
def test_three_devices_end_with_the_same_rows(scenes: int) -> None:
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
def test_three_devices_end_with_the_same_rows_in_a_chosen_scene(seed: int) -> None:
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

"""Three devices that sync, what they do at random, and what carries files between them."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import LocalRecollect, RecollectError
from recollect.store.sqlite.sync.sync_folder import MANIFEST, SharedFolder
from synced_devices import SyncedDevice, make_device, settings_of


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
            pages = self.other_pages(device, memory)
            device.rec.forget(memory.id)
            # What another memory of this device quotes stays, as the receipt says.
            rows = "".join(device.rows())
            words = [word.strip(".") for word in memory.content.split() if word.startswith("zq")]
            self.forgotten += [word for word in words if word not in rows and word not in pages]

    def other_pages(self, device: SyncedDevice, memory: Any) -> str:
        """
        Return the edited pages of all devices, except those that are the source of *memory*.

        A page is another source that repeats words of the one it was made from. Whoever forgets
        that one on this device may not have the page yet.
        """
        quoted = {evidence.source_id for evidence in memory.evidence}
        sources = [
            row
            for other in self.devices
            for row in map(json.loads, other.rows())
            if row.get("table") == "sources"
        ]
        own = {row["content"] for row in sources if row["id"] in quoted}
        contents = {row["content"] for row in sources if row["kind"] == "import"}
        return "\n".join(contents - own)

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

    # ── verbs of agents, blocks and conversations ───────────────────────────────────────────────

    def some(self, records: list[Any], arg: int) -> Any:
        records = sorted(records, key=lambda record: record.id)
        return records[arg % len(records)] if records else None

    def some_block(self, device: SyncedDevice, arg: int) -> Any:
        return self.some(device.rec.blocks.list(), arg)

    def some_agent(self, device: SyncedDevice, arg: int) -> Any:
        return self.some(device.rec.agents.list(), arg)

    def some_talk(self, device: SyncedDevice, arg: int) -> Any:
        return self.some(device.rec.conversations.list(), arg)

    def rename_agent(self, device: SyncedDevice, arg: int) -> None:
        if agent := self.some_agent(device, arg):
            device.rec.agents.update(agent, name=f"name{arg % 3}")

    def copy_agent(self, device: SyncedDevice, arg: int) -> None:
        if agent := self.some_agent(device, arg):
            copy = (device.rec.agents.clone, device.rec.agents.branch)[arg % 2]
            copy(agent, f"agent{arg % 3}")

    def merge_agents(self, device: SyncedDevice, arg: int) -> None:
        first, second = self.some_agent(device, arg), self.some_agent(device, arg // 7)
        if first and second and first.id != second.id:
            device.rec.agents.merge(first, second)

    def agent_memory(self, device: SyncedDevice, arg: int) -> None:
        device.rec.ingest(f"Agent: {self.word()}.", agent=f"agent{arg % 2}", scope="agent")
        device.rec.archive.insert(f"agent{arg % 2}", f"Passage {self.word()}.")

    def agent_edit(self, device: SyncedDevice, arg: int) -> None:
        """Let an agent edit its own block, or propose an edit of a shared one."""
        agent = self.some_agent(device, arg)
        block = self.some_block(device, arg // 3)
        if agent and block and arg % 2:
            device.rec.blocks.set(agent, block.label, f"one\n{self.word()}\n", by="agent")
        elif agent:
            device.rec.blocks.set(agent, "persona", f"one\n{self.word()}\n", by="agent")

    def decide_proposal(self, device: SyncedDevice, arg: int) -> None:
        if proposal := self.some(device.rec.blocks.proposals(), arg):
            if arg % 2:
                value = None if arg % 3 else f"both {self.word()}\n"
                device.rec.blocks.accept(proposal.id, value=value)
            else:
                device.rec.blocks.reject(proposal.id, "no")

    def change_block(self, device: SyncedDevice, arg: int) -> None:
        """Change the settings of a block, attach, detach, share or delete it."""
        block, agent = self.some_block(device, arg), self.some_agent(device, arg // 3)
        blocks = device.rec.blocks
        if block and arg % 6 == 0:
            blocks.delete(None, block.id)
        elif block and arg % 6 == 1:
            blocks.update(None, block.id, description=self.word())
        elif block and arg % 6 == 2:
            blocks.update(None, block.id, new_label=f"label{arg % 3}")
        elif block and arg % 6 == 3:
            blocks.share(None, block.id)
        elif block and agent and arg % 6 == 4:
            blocks.attach(agent, block)
        elif block and agent:
            blocks.detach(agent, block.label)

    def start_talk(self, device: SyncedDevice, arg: int) -> None:
        key, title = f"key{arg % 3}", self.word()
        talk = self.some_talk(device, arg)
        if talk and arg % 2:
            device.rec.conversations.fork(talk, key=key, title=title)
        else:
            device.rec.conversations.start(agent=f"agent{arg % 2}", key=key, title=title)

    def change_talk(self, device: SyncedDevice, arg: int) -> None:
        """Change the title, end, resume or compact a conversation."""
        talk, talks = self.some_talk(device, arg), device.rec.conversations
        if talk is None:
            return
        if arg % 4 == 0:
            talks.rename(talk, self.word())
        elif arg % 4 == 1:
            talks.end(talk, capture=arg % 3 == 0)
        elif arg % 4 == 2:
            talks.resume(talk)
        else:
            for _ in range(4):
                talks.append(talk, "user", f"I talk about {self.word()} now.")
            talks.compact(talk, force=True, keep_last=2, mode="all")

    def pin(self, device: SyncedDevice, arg: int) -> None:
        talk, talks = self.some_talk(device, arg), device.rec.conversations
        if talk is None:
            return
        pins, messages = talks.pins(talk), talks.messages(talk)
        if pins and arg % 3 == 0:
            talks.unpin(pins[arg % len(pins)])
        elif messages and arg % 3 == 1:
            talks.pin_message(messages[arg % len(messages)], pinned=bool(arg % 2))
        else:
            talks.pin(talk, self.word())

    # ── verbs of memories and projects ──────────────────────────────────────────────────────────

    def change_memory(self, device: SyncedDevice, arg: int) -> None:
        memory = self.pick(device, arg, ["active", "inbox", "archived"])
        if memory is None:
            return
        if arg % 3 == 0:
            device.rec.memories.confirm(memory.id)
        elif arg % 3 == 1:
            status = ("archived", "active", "inbox")[arg % 7 % 3]
            device.rec.memories.set_status(memory.id, status, reason="changed")
        else:
            device.rec.memories.edit(memory.id, tags=[f"t{arg % 5}"], title=self.word())

    def settle_conflict(self, device: SyncedDevice, arg: int) -> None:
        if pairs := device.rec.memories.conflicts():
            pair = pairs[arg % len(pairs)]
            settle = device.rec.memories.settle_conflict
            settle(pair.memory.id, pair.other.id, both=bool(arg % 2))

    def repo_memory(self, device: SyncedDevice, arg: int) -> None:
        """Tell something of a repository that has a remote, another one, or none any more."""
        checkout = self.folder / f"repo-{device.name}-{arg % 2}"
        (checkout / ".git").mkdir(parents=True, exist_ok=True)
        remote = ("git@example.org:a/one.git", "git@example.org:a/two.git", "")[arg % 3]
        (checkout / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        text = f'[remote "origin"]\n\turl = {remote}\n' if remote else ""
        (checkout / ".git" / "config").write_text(text)
        place: dict[str, Any] = {"project": f"p{arg % 2}"} if arg % 5 else {}
        device.rec.ingest(f"Repo: {self.word()}.", scope="repo", repo=str(checkout), **place)

    def link_projects(self, device: SyncedDevice, arg: int) -> None:
        if arg % 3:
            device.rec.projects.link(f"p{arg % 2}", f"q{arg % 3}")
        else:
            device.rec.projects.unlink(f"p{arg % 2}")

    def edit_vault(self, device: SyncedDevice, arg: int) -> None:
        vault = self.folder / f"vault-{device.name}"
        device.rec.engine.write_vault(vault)
        if pages := sorted(vault.glob("*/*.md")):
            page = pages[arg % len(pages)]
            page.write_text(page.read_text().replace("zq", f"zq{self.word()}", 1))
            device.rec.engine.write_vault(vault)

    def import_export(self, device: SyncedDevice, arg: int) -> None:
        """Import the export of another device, while both sync too."""
        other = self.devices[(self.devices.index(device) + 1 + arg % 2) % 3]
        path = self.folder / "export.jsonl"
        other.rec.export(path)
        device.rec.import_(path, trust=True)

    def reopen(self, device: SyncedDevice, arg: int) -> None:
        device.rec.close()
        device.rec = LocalRecollect(settings_of(self.folder, device.name), clock=device.clock)

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
            if self.is_of(folder, other) or folder.name not in self.present_folders():
                continue  # nobody else writes the files of a device, or brings back its former ones
            copy.mkdir(exist_ok=True)
            for position, path in enumerate(sorted(folder.glob("*.sync"))):
                if (arg >> position % 8) & 1:
                    continue
                destination = copy / path.name
                if arg % 11 == 0 and not destination.exists():
                    destination.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
                elif not destination.exists() or arg % 11 == 1 or is_half(destination, path):
                    shutil.copy(path, destination)

    def lose_file(self, device: SyncedDevice, arg: int) -> None:
        """Delete a file of a device from every copy of the folder, for good."""
        name = f"device-{device.rec.sync.status().device}"
        files = sorted((self.copy_of(device.name) / name).glob("*.sync"))
        if files:
            for other in self.devices:
                (self.copy_of(other.name) / name / files[arg % len(files)].name).unlink(
                    missing_ok=True
                )

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
        self.carry_removal_of_former_devices()

    def present_folders(self) -> set[str]:
        return {f"device-{device.rec.sync.status().device}" for device in self.devices}

    def carry_removal_of_former_devices(self) -> None:
        """Remove the folder of a device that is another one now, if that one has removed it."""
        present = self.present_folders()
        copies = [self.copy_of(device.name) for device in self.devices]
        for name in {path.name for copy in copies for path in copy.glob("device-*")} - present:
            if not all((copy / name).exists() for copy in copies):
                for copy in copies:
                    shutil.rmtree(copy / name, ignore_errors=True)

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
    *("rename_agent", "copy_agent", "merge_agents", "agent_memory", "agent_edit", "change_block"),
    *("decide_proposal", "start_talk", "change_talk", "pin", "change_memory", "settle_conflict"),
    *("repo_memory", "link_projects", "edit_vault", "import_export", "reopen"),
    *("sync", "interrupted_sync", "carry", "forget"),
    "lose_file",
]

"""A record that gets the name of another one, on a device that has both."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from synced_devices import SyncedDevice, make_device, settle

Pair = tuple[SyncedDevice, SyncedDevice]
REMOTE = "https://github.com/acme/site"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    first, second = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    yield first, second
    first.rec.close()
    second.rec.close()


def set_remote(checkout: Path, remote: str) -> None:
    git = checkout / ".git"
    git.mkdir(parents=True, exist_ok=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n' if remote else "")


def assert_settled(pair: Pair) -> None:
    assert pair[0].rows() == pair[1].rows()
    for device in pair:
        assert device.rec.maintenance.verify().ok
        assert not device.rec.sync.status().problems


def test_a_folder_that_got_a_remote_becomes_the_project_that_has_it(
    pair: Pair, tmp_path: Path
) -> None:
    a, b = pair
    set_remote(tmp_path / "old", "")
    a.rec.ingest("Deploys happen on Fridays.", project=tmp_path / "old")
    settle(a, b)
    set_remote(tmp_path / "clone", REMOTE)
    b.rec.ingest("The build takes an hour.", project=tmp_path / "clone")
    set_remote(tmp_path / "old", REMOTE)
    a.rec.ingest("Releases are made by hand.", project=tmp_path / "old")

    settle(a, b)

    assert_settled(pair)
    assert [project.identity for project in a.rec.projects.list()] == [REMOTE]
    assert len(a.rec.memories.list(project=tmp_path / "clone")) == 3


def test_agents_that_are_renamed_one_after_the_other_keep_their_names(pair: Pair) -> None:
    a, b = pair
    first, second = (a.rec.agents.create(name) for name in ("coder", "helper"))
    settle(a, b)
    a.rec.agents.update(second, name="old helper")
    a.rec.agents.update(first, name="helper")

    settle(a, b)

    assert_settled(pair)
    assert b.rec.agents.get("helper").id == first.id
    assert b.rec.agents.get("old helper").id == second.id
    assert not b.rec.sync.versions()


@pytest.mark.parametrize("names", [("helper", "coder"), ("writer", "writer")])
def test_two_agents_that_get_one_name_stay_two(pair: Pair, names: tuple[str, str]) -> None:
    """Both names are exchanged on one device, or each device gives one name to another agent."""
    a, b = pair
    first, second = (a.rec.agents.create(name) for name in ("coder", "helper"))
    settle(a, b)
    if names[0] == names[1]:
        a.rec.agents.update(first, name=names[0])
        b.rec.agents.update(second, name=names[1])
    else:
        a.rec.agents.update(first, name="between")
        a.rec.agents.update(second, name=names[1])
        a.rec.agents.update(first, name=names[0])
    for agent, device in ((first, a), (second, b)):
        device.rec.blocks.set(agent.id, "persona", f"I was {agent.name}.")

    settle(a, b)

    assert_settled(pair)
    for agent in (first, second):
        assert b.rec.blocks.get(agent.id, "persona").value == f"I was {agent.name}."
    if names[0] == names[1]:
        assert {agent.name for agent in b.rec.agents.list()} == {
            "writer",
            f"writer {second.id[-6:]}",
        }


@pytest.mark.parametrize("first", [0, 1])
def test_repos_of_one_name_with_different_remotes_stay_two(pair: Pair, first: int) -> None:
    former, later = pair[first], pair[1 - first]
    former.rec.ingest("It is used in both.", project="work")
    settle(*pair)
    former.rec.ingest("Acme deploys on Fridays.", project="work", repo=REMOTE)
    later.rec.ingest("Other deploys on Mondays.", project="work", repo="github.com/other/site")

    settle(*pair)

    assert_settled(pair)
    for device in pair:
        assert device.rec.maintenance.status().counts["repos"] == 2
        fridays, mondays = (
            {
                memory.repo_id
                for memory in device.rec.memories.list(everywhere=True)
                if day in memory.content
            }
            for day in ("Fridays", "Mondays")
        )
        assert fridays.isdisjoint(mondays)

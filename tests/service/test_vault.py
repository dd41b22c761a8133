"""A vault: readable pages of a store, whose edits wait for a person."""

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect import InvalidInput, LocalRecollect, Status
from recollect.app.store_encryption import encrypt_store
from recollect.config import Settings
from recollect.domain.transcript import Voice
from recollect.text.vault_page import END, file_name, parse_page, render_page
from support import candidates


def page_with(folder: Path, words: str) -> Path:
    [page] = [path for path in folder.glob("*/*.md") if words in path.read_text()]
    return page


def test_memories_decisions_and_blocks_are_readable_pages(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("Deploys happen on Fridays.", project="site", tags=["ops"])
    rec.ingest("We use PostgreSQL.", type="decision", project="site", rationale="It is known here.")
    rec.ingest("A candidate.", scope="global", status="inbox")
    rec.blocks.create("notes", "one\ntwo\n", scope="global")

    report = rec.engine.write_vault(tmp_path / "vault")

    assert (report.written, report.proposed) == (3, ())
    decision = page_with(tmp_path / "vault", "PostgreSQL").read_text()
    assert "type: decision" in decision
    assert "project: site" in decision
    assert "## Why\n\nIt is known here." in decision
    assert "## Evidence\n\n> We use PostgreSQL." in decision
    assert page_with(tmp_path / "vault", "one\ntwo").parent.name == "blocks"
    assert rec.engine.write_vault(tmp_path / "vault").unchanged == 3


def test_the_edit_of_a_page_waits_and_replaces_the_memory_when_it_is_promoted(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    memory = rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "Fridays")
    page.write_text(page.read_text().replace("happen on Fridays.\n\n<!--", "happen daily.\n\n<!--"))

    report = rec.engine.write_vault(vault)

    [candidate] = rec.memories.list(statuses=["inbox"])
    assert candidate.content == "Deploys happen daily."
    assert candidate.evidence[0].quote == candidate.content
    assert candidate.provenance.voice is Voice.OTHER
    assert len(report.proposed) == 1
    assert "happen daily" in page.read_text()  # not overwritten before it is decided about
    assert rec.engine.write_vault(vault).proposed == ()
    rec.promote(candidate.id, replaces=True)
    rec.engine.write_vault(vault)
    assert rec.memories.get(memory.id).status is Status.SUPERSEDED
    assert [path.name for path in (vault / "memories").iterdir()] == [
        file_name("Deploys happen daily.", candidate.id)
    ]


def test_an_edit_stays_in_the_project_repo_agent_and_session_of_its_memory(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    places: list[dict[str, Any]] = [
        {"project": "clientA", "agent": "coder", "scope": "agent"},
        {"project": "clientA", "repo": "backend", "scope": "repo"},
        {"project": "clientA", "repo": "backend", "scope": "project"},
        {"agent": "coder", "session": "s1", "scope": "session"},
    ]
    originals = [rec.ingest(f"Fact {n} is old.", **place) for n, place in enumerate(places)]
    rec.engine.write_vault(vault)
    for path in (vault / "memories").iterdir():
        path.write_text(path.read_text().replace("is old.\n\n<!--", "is new.\n\n<!--"))

    rec.engine.write_vault(vault)

    edits = {memory.content: memory for memory in candidates(rec)}
    for number, original in enumerate(originals):
        candidate = edits[f"Fact {number} is new."]
        for name in ("scope", "project_id", "repo_id", "agent_id", "session_id", "owner"):
            assert getattr(candidate, name) == getattr(original, name)
    rec.promote(edits["Fact 0 is new."].id, replaces=True)
    assert rec.search("fact 0", agent="coder", project="clientA")
    found = [hit.memory for hit in rec.search("fact 0", agent="coder", project="clientB")]
    assert edits["Fact 0 is new."].id not in {memory.id for memory in found}


def test_forgetting_a_memory_removes_undecided_edits_of_its_page_and_the_page(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    memory = rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "Fridays")
    page.write_text(page.read_text().replace("on Fridays.\n\n<!--", "at dawn.\n\n<!--"))
    rec.engine.write_vault(vault)
    assert [memory.content for memory in candidates(rec)] == ["Deploys happen at dawn."]

    receipt = rec.forget(memory.id)
    rec.engine.write_vault(vault)

    assert receipt.removed["memories"] == 2
    assert candidates(rec) == []
    assert not page.exists()
    assert rec.maintenance.verify().ok


@pytest.mark.parametrize("name", ["copy.md", "renamed.md", "from-elsewhere.md"])
def test_a_page_of_what_was_forgotten_does_not_bring_it_back(
    rec: LocalRecollect, tmp_path: Path, name: str
) -> None:
    memory = rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page, other = page_with(vault, "Fridays"), vault / "memories" / name
    content = page.read_bytes()
    if name == "renamed.md":
        page.rename(other)
    elif name == "copy.md":
        other.write_bytes(content)
    rec.engine.write_vault(vault)

    rec.forget(memory.id)
    other.write_bytes(content)
    report = rec.engine.write_vault(vault)

    assert candidates(rec) == []
    assert list(vault.glob("*/*.md")) == []
    assert report.removed >= 1
    assert rec.engine.write_vault(vault).notes == ()


def test_an_edit_that_is_not_utf8_is_proposed_once_and_replaced_after_the_decision(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "Fridays")
    original = page.read_bytes()
    page.write_bytes(original.replace(b"on Fridays.\n\n<!--", b"in the caf\xe9.\n\n<!--"))

    proposed = [rec.engine.write_vault(vault).proposed for _ in range(2)]
    rec.reject(candidates(rec)[0].id)
    rec.engine.write_vault(vault)

    assert [len(names) for names in proposed] == [1, 0]
    assert page.read_bytes() == original


@pytest.mark.skipif(sys.platform == "win32", reason="makes pipes")
def test_a_vault_that_somebody_spoiled_is_reported(rec: LocalRecollect, tmp_path: Path) -> None:
    memory = rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    state = vault / ".recollect-vault.json"
    with page_with(vault, "Fridays").open("ab") as page:
        page.truncate(1 << 40)
    os.mkfifo(vault / "memories" / "pipe.md")
    rec.memories.set_status(memory.id, "archived")

    report = rec.engine.write_vault(vault)
    state.write_bytes(b"[" * 200_000)
    with pytest.raises(InvalidInput, match="is damaged"):
        rec.engine.write_vault(vault)
    state.unlink()
    os.mkfifo(state)
    with pytest.raises(InvalidInput, match="is not a file"):
        rec.engine.write_vault(vault)

    assert [note.partition(": ")[2] for note in report.notes] == [
        "it is larger than 1,000,000 bytes. Shorten it",
        "it is not a file. Replace it by a file",
    ]


def test_a_rejected_edit_is_replaced_by_the_memory_again(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "Fridays")
    original = page.read_text()
    page.write_text(original.replace("on Fridays.\n\n<!--", "never.\n\n<!--"))
    rec.engine.write_vault(vault)
    [candidate] = rec.memories.list(statuses=["inbox"])

    rec.reject(candidate.id)
    rec.engine.write_vault(vault)

    assert page.read_text() == original


def test_the_edit_of_a_block_is_a_proposal_and_a_new_page_is_a_candidate(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.blocks.create("notes", "one\n", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "one")
    page.write_text(page.read_text().replace("one\n", "one\ntwo\n"))
    (vault / "memories" / "mine.md").write_text("---\nproject: site\n---\nTests run at night.\n")

    report = rec.engine.write_vault(vault)

    [proposal] = rec.blocks.proposals()
    assert proposal.value.splitlines() == ["one", "two"]
    [candidate] = rec.memories.list(statuses=["inbox"], project="site")
    assert candidate.content == "Tests run at night."
    assert len(report.proposed) == 2
    assert (vault / "memories" / "mine.md").exists()


def test_a_deleted_page_forgets_nothing_and_an_empty_one_neither(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    memory = rec.ingest("Deploys happen on Fridays.", scope="global")
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    page = page_with(vault, "Fridays")
    page.unlink()
    rec.engine.write_vault(vault)
    assert page.exists()
    page.write_text("")

    report = rec.engine.write_vault(vault)

    assert any("is empty" in note for note in report.notes)
    assert rec.memories.get(memory.id).status is Status.ACTIVE


def test_pages_that_are_not_read_are_named_with_the_reason(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    rec.engine.write_vault(vault)
    (tmp_path / "secret.md").write_text("The vault must not read this.")
    (vault / "memories" / "link.md").symlink_to(tmp_path / "secret.md")
    (vault / "memories" / "large.md").write_text("x" * 1_000_001)
    (vault / "blocks" / "mine.md").write_text("A block of my own.")

    report = rec.engine.write_vault(vault)

    assert list(report.notes) == [
        "memories/large.md was not read: it is larger than 1,000,000 bytes. Shorten it",
        "memories/link.md was not read: it is a link. Replace it by a file",
        "blocks/mine.md: no block has this id. Create one with `recollect block create`, and move "
        "the text there",
    ]
    assert rec.inbox.list() == []


def test_a_shared_vault_removes_and_writes_nothing_outside_its_folder(
    rec: LocalRecollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec.ingest("Deploys happen on Fridays.", scope="global")
    outside, vault = tmp_path / "outside", tmp_path / "vault"
    outside.mkdir()
    victim = outside / "victim.md"
    victim.write_text("mine")
    record = {"id": "x", "written": hashlib.sha256(b"mine").hexdigest()}
    rec.engine.write_vault(vault)
    state = vault / ".recollect-vault.json"
    for name in (str(victim), "memories/../../outside/victim.md", "../outside/victim.md", "a.md"):
        state.write_text(json.dumps({"pages": {name: record}}))
        with pytest.raises(InvalidInput, match="not the name of a page"):
            rec.engine.write_vault(vault)
    state.write_text(json.dumps({"pages": {"memories/victim.md": record}}))
    (vault / "memories" / "victim.md").symlink_to(victim)
    rec.engine.write_vault(vault)
    assert (vault / "memories" / "victim.md").is_symlink()

    (vault / "blocks").rmdir()
    (vault / "blocks").symlink_to(outside)
    with pytest.raises(InvalidInput, match="is a link"):
        rec.engine.write_vault(vault)
    monkeypatch.chdir(outside)
    with pytest.raises(InvalidInput, match="is empty"):
        rec.engine.write_vault("")

    assert [path.name for path in outside.iterdir()] == ["victim.md"]


def test_the_vault_of_an_encrypted_store_is_written_only_if_plain_is_asked_for(
    tmp_path: Path,
) -> None:
    settings = Settings(
        db=str(tmp_path / "m.db"),
        embedding_backend="none",
        key_file=str(tmp_path / "key"),
        keyring=False,
    )
    LocalRecollect(settings).close()
    encrypt_store(settings)

    with LocalRecollect(settings) as rec:
        with pytest.raises(InvalidInput, match="plain"):
            rec.engine.write_vault(tmp_path / "vault")
        assert not (tmp_path / "vault").exists()
        rec.engine.write_vault(tmp_path / "vault", plain=True)


def test_a_page_is_read_as_it_was_written_however_hostile_its_words() -> None:
    for words in (
        "plain",
        "---\nid: x\n---",
        "## Why\n\nbecause",
        "a\n\n> quote\n",
        "é 日本 \u202e",
    ):
        text = render_page({"id": "1", "type": "profile"}, words, reason="r", quotes=["q\nr"])
        page = parse_page(text.replace("\n", "\r\n"))
        assert (page.id, page.words) == ("1", words.rstrip())
    assert parse_page("no front matter").words == "no front matter"
    assert END not in parse_page(f"a\n{END}\nb").words
    assert file_name("../../etc/passwd", "0123456789") == "etc-passwd-23456789.md"

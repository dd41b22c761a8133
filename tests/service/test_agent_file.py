"""An agent goes to a file and comes back whole; a bad file changes nothing."""

import gzip
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import AlreadyExists, ImportRefused, InvalidInput, LocalRecollect
from recollect.domain.change import ChangeEffects, ChangeKind
from recollect.domain.provenance import MentionedDate, Provenance, StatementFlag
from recollect.domain.transcript import Voice
from stored_agents import explained, rich_agent, rows, without_ids
from support import FakeClock, open_memory
from tables import each_row


@pytest.fixture
def file(rec: LocalRecollect, clock: FakeClock, path: Path, tmp_path: Path) -> Path:
    """The file of an agent that has something of everything, and is in the memory too."""
    rich_agent(rec, clock, path)
    rec.agents.export("ada", tmp_path / "ada.json")
    return tmp_path / "ada.json"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of such a file, from a memory that is no longer at hand."""
    folder = tmp_path_factory.mktemp("foreign")
    clock = FakeClock()
    with open_memory(folder / "memory.db", clock=clock) as rec:
        rich_agent(rec, clock, folder / "memory.db")
        rec.agents.export("ada", folder / "ada.json")
    return (folder / "ada.json").read_bytes()


def changed(file: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Write the file again with something changed in it."""
    told = json.loads(file.read_bytes())
    change(told)
    other = file.with_name("changed.json")
    other.write_text(json.dumps(told))
    return other


def test_an_imported_agent_is_the_exported_one(rec: LocalRecollect, file: Path) -> None:
    result = rec.agents.import_(file, "ada again")

    one, two = rec.agents.get("ada"), result.agent
    assert two.id != one.id
    assert (two.name, two.description, two.model) == ("ada again", one.description, one.model)
    assert (two.system_prompt, two.metadata) == (one.system_prompt, one.metadata)
    assert [block.value for block in rec.blocks.list(two)] == [
        block.value for block in rec.blocks.list(one)
    ]
    history = rec.blocks.history(two, "persona")
    assert [(version.value, version.by, version.reason) for version in history] == [
        ("", "system", "made with the agent"),
        ("I am Ada.", "user", "begin"),
        ("I am Ada.\nI like engines.", "agent", "learnt"),
    ]
    first, second = rec.conversations.list(agent=two)[::-1]
    assert (first.title, second.title) == ("First", "Second")
    assert first.project_id == rec.conversations.list(agent=one)[-1].project_id
    assert [message.content for message in rec.conversations.messages(first)] == [
        "Where is the difference engine?",
        "",
        "In London.",
        "It stands in London.",
    ]
    assert [message.position for message in rec.conversations.messages_in_context(first)] == [
        2,
        3,
    ]
    assert rec.conversations.summaries(first)[0].content == "They looked for an engine."
    assert [(pin.content, pin.active) for pin in rec.conversations.pins(first)] == [
        ("an old note", False),
        ("ENG-1: find the engine", True),
    ]
    assert rec.blocks.get(two, "ticket", conversation=first).value == "ENG-1"
    assert rec.archive.search(two, "engine")[0].memory.content == "The engine moved to Cambridge."
    assert result.counts == {
        "agents": 1,
        "blocks": 5,
        "conversations": 2,
        "links": 1,
        "memories": 3,
        "messages": 5,
        "pins": 2,
        "shared blocks": 2,
        "skills": 1,
        "summaries": 1,
    }
    assert result.conflicts == ()
    assert rec.maintenance.verify().ok


def test_an_archive_comes_with_its_evidence_history_and_links(
    rec: LocalRecollect, file: Path
) -> None:
    two = rec.agents.import_(file, "ada again").agent

    newer = rec.archive.search(two, "Cambridge")[0].memory
    told = explained(rec, newer.id)
    assert newer.tags == ("engine", "moved")
    assert newer.evidence[0].quote == "The engine moved to Cambridge."
    [link] = told.links
    older = next(one for one in (link.from_id, link.to_id) if one != newer.id)
    assert explained(rec, older).memory.status == "superseded"
    assert explained(rec, older).memory.agent_id == two.id
    assert [change.after for change in explained(rec, older).changes] == ["active", "superseded"]


def test_the_same_agent_gives_the_same_bytes(rec: LocalRecollect, file: Path) -> None:
    again = file.with_name("again.json")
    rec.agents.export("ada", again)

    assert again.read_bytes() == file.read_bytes()


def test_a_name_that_ends_in_gz_is_compressed_and_read_again(
    rec: LocalRecollect, file: Path
) -> None:
    packed = file.with_name("ada.json.gz")

    result = rec.agents.export("ada", packed)

    assert gzip.decompress(packed.read_bytes()) == file.read_bytes()
    assert result.counts["memories"] == 3
    assert rec.agents.import_(packed, "ada again").counts["memories"] == 3


def test_importing_twice_makes_two_agents(rec: LocalRecollect, file: Path) -> None:
    one = rec.agents.import_(file, "one").agent
    two = rec.agents.import_(file, "two").agent

    rec.blocks.set(one, "persona", "changed")
    assert rec.blocks.get(two, "persona").value == "I am Ada.\nI like engines."
    assert rec.maintenance.verify().ok


def test_a_taken_name_is_refused_until_another_is_given(
    rec: LocalRecollect, file: Path, tmp_path: Path
) -> None:
    before = rows(rec, tmp_path)

    with pytest.raises(AlreadyExists, match="name=…"):
        rec.agents.import_(file)

    assert rows(rec, tmp_path) == before


def test_a_deleted_import_leaves_nothing_behind(
    file: Path, clock: FakeClock, tmp_path: Path
) -> None:
    with open_memory(tmp_path / "other.db", clock=clock) as other:
        made = other.agents.import_(file).agent
        other.agents.delete(made)

        counts = other.maintenance.status().counts
        left = {name for name, count in counts.items() if count}
        assert left == {"projects", "tombstones"}
        assert other.maintenance.verify().ok


def test_what_was_captured_goes_with_a_deleted_import(
    foreign: bytes, rec: LocalRecollect, tmp_path: Path
) -> None:
    def captured(told: dict[str, Any]) -> None:
        for number, source in enumerate(told["sources"]):
            source["kind"] = "conversation"
            source["content"] += f" And {number} more."

    (tmp_path / "ada.json").write_bytes(foreign)
    made = rec.agents.import_(changed(tmp_path / "ada.json", captured)).agent
    rec.agents.delete(made)

    assert rec.maintenance.status().counts["sources"] == 0


def test_the_effects_of_a_change_name_the_new_memories_and_no_others(
    foreign: bytes, rec: LocalRecollect, tmp_path: Path
) -> None:
    def replace_others(told: dict[str, Any]) -> None:
        older = told["memories"][0]["memory"]["id"]
        effects: dict[str, Any] = {
            "superseded": [older, "elsewhere"],
            "caused_by": "elsewhere",
            "merged": ["elsewhere"],
            "confirmations": [],
            "policy_rule": "said_once",
        }
        told["memories"][1]["changes"][0]["effects"] = effects

    (tmp_path / "ada.json").write_bytes(foreign)
    made = rec.agents.import_(changed(tmp_path / "ada.json", replace_others)).agent

    newer = rec.archive.search(made, "Cambridge")[0].memory
    told = explained(rec, newer.id)
    [link] = told.links
    expected = ChangeEffects(superseded=(link.to_id,), policy_rule="said_once")
    assert told.changes[0].effects == expected


def test_a_file_of_a_version_without_kinds_and_provenance_is_read(
    foreign: bytes, rec: LocalRecollect, tmp_path: Path
) -> None:
    def as_before(told: dict[str, Any]) -> None:
        for kept in told["memories"]:
            del kept["memory"]["provenance"]
            kept["memory"]["metadata"] = {
                "voice": "user",
                "flags": ["explicit", "unknown"],
                "rule": "preference",
                "event": "gone",
                "dates": [{"text": "tomorrow", "from": "2026-05-10"}],
                "colour": "red",
            }
            for change in kept["changes"]:
                del change["kind"]
                change["effects"] = {"duplicate_of": "elsewhere", "confidence_before": 0.5}
        del told["memories"][0]["changes"][0]["effects"]

    (tmp_path / "ada.json").write_bytes(foreign)
    made = rec.agents.import_(changed(tmp_path / "ada.json", as_before)).agent

    memory = rec.archive.search(made, "Cambridge")[0].memory
    [change] = explained(rec, memory.id).changes
    assert memory.metadata == {"colour": "red"}
    assert memory.provenance == Provenance(
        voice=Voice.USER,
        flags=(StatementFlag.EXPLICIT,),
        rule="preference",
        dates=(MentionedDate("tomorrow", date(2026, 5, 10)),),
    )
    assert (change.kind, change.effects) == (ChangeKind.CREATED, ChangeEffects())


def test_a_shared_block_that_says_something_else_here_becomes_the_agents_own(
    file: Path, clock: FakeClock, tmp_path: Path
) -> None:
    with open_memory(tmp_path / "other.db", clock=clock) as other:
        other.blocks.create("human", "Somebody else.", scope="global")
        result = other.agents.import_(file)

        human = other.blocks.get("ada", "human")
        assert (human.scope, human.value) == ("agent", "")
        assert any("'human' was shared" in conflict for conflict in result.conflicts)
        assert other.maintenance.verify().ok


def test_a_skill_that_reads_differently_is_the_newcomers_alone(
    rec: LocalRecollect, file: Path
) -> None:
    def other_words(told: dict[str, Any]) -> None:
        told["skills"][0]["skill"]["content"] = "# Do whatever the page says"

    result = rec.agents.import_(changed(file, other_words), "ada again")

    assert result.conflicts == ()
    [theirs] = rec.skills.loaded("ada again")
    [ours] = rec.skills.loaded("ada")
    assert theirs.skill.content == "# Do whatever the page says"
    assert ours.skill.content == "# Proofs"


def test_paths_and_pins_of_this_machine_stay_here(rec: LocalRecollect, file: Path) -> None:
    rec.agents.pin("ada", "local", project="engines")
    rec.agents.export("ada", file)

    text = file.read_text()
    assert "/somewhere" not in text
    assert "pinned_in" not in text
    assert rec.agents.import_(file, "again").agent.pinned == ""


def test_secrets_in_a_file_are_not_stored(rec: LocalRecollect, file: Path, tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9

    def with_key(told: dict[str, Any]) -> None:
        told["agent"]["system_prompt"] = f"Use {key}."
        told["agent"]["metadata"]["token"] = key
        kept = told["blocks"][0]
        kept["block"]["value"] = kept["versions"][-1]["value"] = f"key {key}"
        told["conversations"][0]["messages"][3]["content"] = f"the key is {key}"
        content = f"The key {key} opens the engine."
        source = next(one for one in told["sources"] if "looms" in one["content"])
        source["content"] = content
        memory_told = next(
            one["memory"] for one in told["memories"] if "looms" in one["memory"]["content"]
        )
        memory_told["content"] = content
        memory_told["evidence"][0] |= {"quote": content, "start": 0, "end": len(content)}

    result = rec.agents.import_(changed(file, with_key), "ada again")

    assert key.encode() not in rows(rec, tmp_path)
    assert result.agent.system_prompt == "Use [redacted:github-token]."
    hit = rec.archive.search(result.agent, "opens the engine")[0].memory
    assert hit.evidence[0].quote == "The key [redacted:github-token] opens the engine."
    assert hit.redactions
    assert rec.maintenance.verify().ok


DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]

BROKEN: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "another format": (r"\$\.format", lambda told: told.update(format=99)),
    "a missing field": (r"\$\.agent\.name: is missing", lambda told: told["agent"].pop("name")),
    "an unknown field": (r"\$\.agent\.soul", lambda told: told["agent"].update(soul=1)),
    "an unknown part": (r"\$\.ghosts", lambda told: told.update(ghosts=[])),
    "a name that is a number": (r"\$\.agent\.name", lambda told: told["agent"].update(name=7)),
    "a huge name": (r"\$\.agent\.name", lambda told: told["agent"].update(name="x" * 10_000)),
    "metadata that is a list": (r"\.metadata", lambda told: told["agent"].update(metadata=[])),
    "metadata that is null": (r"\.metadata", lambda told: told["agent"].update(metadata=None)),
    "deep nesting": ("levels deep", lambda told: told["agent"].update(metadata={"a": DEEP})),
    "a time that is none": (
        r"\$\.agent\.created_at",
        lambda told: told["agent"].update(created_at="yesterday"),
    ),
    "a time that is a number": (
        r"\$\.agent\.created_at",
        lambda told: told["agent"].update(created_at=12),
    ),
    "blocks that are an object": (r"\$\.blocks", lambda told: told.update(blocks={})),
    "a block that is a text": (r"\$\.blocks\[0\]", lambda told: told.update(blocks=["x"])),
    "a block over its limit": (
        r"\$\.blocks\[0\]\.block\.value.*limit",
        lambda told: told["blocks"][0]["block"].update(limit=1, value="too long"),
    ),
    "a limit of zero": (
        r"\$\.blocks\[0\]\.block\.limit",
        lambda told: told["blocks"][0]["block"].update(limit=0),
    ),
    "two blocks of one label": (
        r"\$\.blocks\[1\]\.block\.label",
        lambda told: told["blocks"][1]["block"].update(label="persona"),
    ),
    "a label no tag can carry": (
        r"\$\.blocks\[0\]\.block\.label",
        lambda told: told["blocks"][0]["block"].update(label="<system>"),
    ),
    "a history that ends elsewhere": (
        r"\$\.blocks\[0\]\.versions",
        lambda told: told["blocks"][0]["versions"].pop(),
    ),
    "a history out of order": (
        r"\$\.blocks\[0\]\.versions\[1\]\.version",
        lambda told: told["blocks"][0]["versions"].reverse(),
    ),
    "a block of a project": (
        r"\$\.blocks\[0\]\.block\.scope",
        lambda told: told["blocks"][0]["block"].update(scope="project"),
    ),
    "an id used twice": (
        r"\$\.blocks\[0\]\.block\.id",
        lambda told: told["blocks"][0]["block"].update(id=told["agent"]["id"]),
    ),
    "a role nobody knows": (
        r"\$\.conversations\[0\]\.messages\[0\]\.role",
        lambda told: told["conversations"][0]["messages"][0].update(role="oracle"),
    ),
    "a position twice": (
        r"\$\.conversations\[0\]\.messages\[1\]\.position",
        lambda told: told["conversations"][0]["messages"][1].update(position=0),
    ),
    "a summary that is not there": (
        r"\.messages\[0\]\.summary_id",
        lambda told: told["conversations"][0].update(summaries=[]),
    ),
    "a project that is not there": (r"\.project_id", lambda told: told.update(projects=[])),
    "a flag that is a number": (
        r"\.messages\[0\]\.pinned",
        lambda told: told["conversations"][0]["messages"][0].update(pinned=1),
    ),
    "negative tokens": (
        r"\.messages\[0\]\.tokens",
        lambda told: told["conversations"][0]["messages"][0].update(tokens=-1),
    ),
    "a quote that nobody said": (
        r"\$\.memories\[0\]\.memory\.evidence\[0\]\.quote",
        lambda told: told["memories"][0]["memory"]["evidence"][0].update(quote="invented"),
    ),
    "an active memory without evidence": (
        r"\$\.memories\[1\]\.memory\.evidence",
        lambda told: told["memories"][1]["memory"].update(evidence=[]),
    ),
    "a memory for everybody": (
        r"\$\.memories\[0\]\.memory\.scope",
        lambda told: told["memories"][0]["memory"].update(scope="global"),
    ),
    "a memory of another agent": (
        r"\$\.memories\[0\]\.memory\.agent_id",
        lambda told: told["memories"][0]["memory"].update(agent_id="somebody"),
    ),
    "a memory of a foreign session": (
        r"\$\.memories\[0\]\.memory\.session_id",
        lambda told: told["memories"][0]["memory"].update(scope="session", session_id="theirs"),
    ),
    "two active facts of one name": (
        r"\$\.memories\[2\]\.key",
        lambda told: [one["memory"].update(key="k") for one in told["memories"][1:]],
    ),
    "confidence beyond one": (
        r"\$\.memories\[0\]\.memory\.confidence",
        lambda told: told["memories"][0]["memory"].update(confidence=2),
    ),
    "a link to nothing": (
        r"\$\.links\[0\]\.to_id",
        lambda told: told["links"][0].update(to_id="nothing"),
    ),
}


@each_row("what", BROKEN)
def test_a_broken_file_is_refused_with_its_place_and_changes_nothing(
    what: str, rec: LocalRecollect, foreign: bytes, tmp_path: Path
) -> None:
    where, break_it = BROKEN[what]
    (tmp_path / "ada.json").write_bytes(foreign)
    broken = changed(tmp_path / "ada.json", break_it)
    before = rows(rec, tmp_path)

    with pytest.raises(ImportRefused, match=f"(?s){where}"):
        rec.agents.import_(broken, "ada again")

    assert rows(rec, tmp_path) == before


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.99])
@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_off_file_is_refused(
    kept: float, packed: bool, rec: LocalRecollect, foreign: bytes, tmp_path: Path
) -> None:
    whole = gzip.compress(foreign) if packed else foreign
    file = tmp_path / "cut.json"
    file.write_bytes(whole[: kept if isinstance(kept, int) else int(len(whole) * kept)])
    before = rows(rec, tmp_path)

    with pytest.raises(ImportRefused, match="nothing was changed"):
        rec.agents.import_(file, "ada again")

    assert rows(rec, tmp_path) == before


@pytest.mark.parametrize("text", ["[]", "7", "null", '"hello"', "{}", '{"a": NaN}', "[" * 100_000])
def test_what_is_no_agent_is_refused(text: str, rec: LocalRecollect, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text(text)

    with pytest.raises(ImportRefused):
        rec.agents.import_(tmp_path / "no.json")


def test_a_file_that_is_not_there_says_so(rec: LocalRecollect, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot read"):
        rec.agents.import_(tmp_path / "none.json")


def test_a_file_that_unpacks_to_too_much_is_refused(rec: LocalRecollect, tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * 32_000_001, 1))

    with pytest.raises(ImportRefused, match="more than 32,000,000 bytes"):
        rec.agents.import_(tmp_path / "bomb.gz")


texts = st.text(max_size=40)
words = texts.filter(str.strip)


@pytest.mark.fuzz
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    blocks=st.dictionaries(
        st.from_regex(r"[a-z_]{1,12}", fullmatch=True), st.lists(texts), max_size=3
    ),
    said=st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), words), max_size=4),
    passages=st.lists(
        st.tuples(words, st.lists(words.map(lambda tag: tag[:20]), max_size=2)), max_size=3
    ),
)
def test_export_import_export_gives_the_same_bytes_apart_from_ids(
    blocks: dict[str, list[str]],
    said: list[tuple[str, str]],
    passages: list[tuple[str, list[str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """
    The same bytes: every id is new, so each is compared by where it first appears; nothing else may
    differ, times included, since an import keeps the times it finds and adds none of its own.
    """
    folder = tmp_path_factory.mktemp("agents")
    clock = FakeClock()
    with open_memory(folder / "one.db", clock=clock, words_only=True) as rec:
        rec.agents.create("ada", default_blocks=False)
        for label, values in blocks.items():
            rec.blocks.create(label, agent="ada")
            for value in values:
                rec.blocks.set("ada", label, value)
        conversation = rec.conversations.start(agent="ada")
        for role, content in said:
            clock.advance(seconds=1)
            rec.conversations.append(conversation, role, content)
        for content, tags in passages:
            rec.archive.insert("ada", content, tags=tags)
        rec.agents.export("ada", folder / "first.json")
    clock.advance(days=3)
    with open_memory(folder / "two.db", clock=clock, words_only=True) as other:
        other.agents.import_(folder / "first.json")
        other.agents.export("ada", folder / "second.json")
        assert other.maintenance.verify().ok

    first, second = (folder / name for name in ("first.json", "second.json"))
    assert without_ids(second.read_bytes()) == without_ids(first.read_bytes())


def test_a_rich_agent_comes_back_in_the_same_bytes_but_for_ids_and_name(
    rec: LocalRecollect, file: Path
) -> None:
    rec.agents.import_(file, "ada again")
    rec.agents.export("ada again", file.with_name("again.json"))

    again = without_ids(file.with_name("again.json").read_bytes())
    assert again.replace('"ada again"', '"ada"') == without_ids(file.read_bytes())

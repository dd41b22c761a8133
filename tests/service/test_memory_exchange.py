"""
The semantic-core draft of the Open Memory Protocol, in both directions.

Each case is one of those that the draft asks of a receiver (evidence, correction, consolidation,
policy, partial export, conflicts, required extension, expiry, deletion, credentials, re-derive).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exchange_receiver import ExchangeReceiver, statuses
from recollect import LocalRecollect
from recollect.errors import ImportRefused
from recollect.service.exchange_export import export_exchange
from recollect.wire.memory_exchange import MemoryExchange

AT = "2026-03-01T09:00:00+00:00"
LATER = "2026-03-02T09:00:00+00:00"


def item(name: str, text: str, role: str = "human_assertion", **fields: Any) -> dict[str, Any]:
    return {
        "ref": {"authority": "elsewhere", "namespace": "memory", "local_id": name},
        "revision_id": f"rev-{name}",
        "role": role,
        "text": text,
        "scope": {"origin_system": "elsewhere", "context": {"user": "maria"}},
        "policy": {"rules": [], "required": False},
        "recorded_at": AT,
        **fields,
    }


def derived(name: str, text: str, *used: str, **fields: Any) -> dict[str, Any]:
    derivation = {"activity": "extraction", "used": list(used), "agent": "m", **fields}
    return item(name, text, "machine_derived", derivation=derivation)


def happened(name: str, kind: str, target: str, **fields: Any) -> dict[str, Any]:
    event = {"event_id": name, "kind": kind, "target": target, "actor": "maria"}
    return {**event, "effective_at": LATER, **fields}


def exchange(
    *objects: dict[str, Any], events: tuple[dict[str, Any], ...] = (), **manifest: Any
) -> MemoryExchange:
    head = {"source_system": "elsewhere", "exported_at": AT, "exchange_id": "x1", **manifest}
    return MemoryExchange.model_validate({"manifest": head, "objects": objects, "events": events})


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[ExchangeReceiver]:
    receiver = ExchangeReceiver(tmp_path / "memory.db")
    yield receiver
    receiver.rec.close()


def test_a_derived_object_quotes_the_turn_that_it_names(receiver: ExchangeReceiver) -> None:
    talk = item("t", "user: I drink green tea\nassistant: fine", "transcript")
    tea = derived("m", "Maria drinks green tea", "rev-t", spans=["rev-t#turn:0"])
    orphan = derived("o", "Maria likes chess", "rev-gone")

    receipt = receiver.take(exchange(talk, tea, orphan))

    assert statuses(receipt) == {
        "rev-t": "accepted",
        "rev-m": "accepted",
        "rev-o": "transformed",
    }
    assert receiver.current_texts() == sorted([talk["text"], tea["text"], orphan["text"]])
    [hit] = receiver.rec.search("green tea")
    assert [quote.quote for quote in hit.memory.evidence] == ["user: I drink green tea"]
    assert receiver.rec.maintenance.verify().ok


def test_a_correction_supersedes_what_it_corrects(receiver: ExchangeReceiver) -> None:
    old = item("home", "Lives in Lisbon")
    new = item("home", "Lives in Porto", revision_id="rev-home-2", predecessor="rev-home")
    event = happened("e", "supersede", "rev-home", replacement="rev-home-2")

    receiver.take(exchange(old, new, events=(event,)))

    assert receiver.current_texts() == ["Lives in Porto"]
    [former] = receiver.rec.memories.list(statuses=["superseded"], everywhere=True)
    assert former.content == "Lives in Lisbon"


def test_a_consolidation_keeps_its_inputs_and_names_them(receiver: ExchangeReceiver) -> None:
    first = derived("a", "Review on Monday", unknown=True)
    second = derived("b", "Review moved to Wednesday", unknown=True)
    both = derived("s", "Review is on Wednesday, it was on Monday", "rev-a", "rev-b")
    event = happened("e", "supersede", "rev-a", replacement="rev-b")

    receipt = receiver.take(exchange(first, second, both, events=(event,)))

    assert statuses(receipt)["rev-s"] == "accepted"
    assert receiver.current_texts() == sorted([second["text"], both["text"]])


def test_an_object_whose_policy_cannot_be_kept_is_not_stored(receiver: ExchangeReceiver) -> None:
    def ruled(name: str, principal: str, *actions: str) -> dict[str, Any]:
        rules = [{"principals": [principal], "actions": list(actions)}]
        return item(name, f"Secret of {name}", policy={"rules": rules, "required": True})

    receipt = receiver.take(
        exchange(
            ruled("mine", "maria@elsewhere", "read"),
            ruled("theirs", "boss@elsewhere", "read"),
            ruled("odd", "maria@elsewhere", "read", "watermark"),
        )
    )

    assert statuses(receipt) == {
        "rev-mine": "accepted",
        "rev-theirs": "unresolved",
        "rev-odd": "unresolved",
    }
    assert receipt.retry == ["rev-theirs", "rev-odd"]
    assert receiver.current_texts() == ["Secret of mine"]


def test_what_a_partial_export_lacks_stays(receiver: ExchangeReceiver) -> None:
    receiver.take(exchange(item("x", "Stays here"), complete_snapshot=True))

    receiver.take(exchange(item("y", "Arrives now"), complete_snapshot=False))

    assert receiver.current_texts() == ["Arrives now", "Stays here"]


def test_conflicting_revisions_are_reported(receiver: ExchangeReceiver) -> None:
    first, same_id = item("c", "One version"), item("c", "Another version")
    replacements = [
        item("c", f"Replacement {n}", revision_id=f"rev-c-{n}", predecessor="rev-c") for n in (1, 2)
    ]
    events = tuple(
        happened(f"e{n}", "supersede", "rev-c", replacement=f"rev-c-{n}") for n in (1, 2)
    )

    receipt = receiver.take(exchange(first, same_id, *replacements, events=events))

    assert len(receipt.conflicts) == 2
    assert [entry.status for entry in receipt.entries][:2] == ["accepted", "rejected"]
    assert receiver.current_texts() == ["Replacement 1", "Replacement 2"]
    assert len(receiver.rec.memories.conflicts()) == 1


def test_a_required_extension_that_is_unknown_rejects_the_exchange(
    receiver: ExchangeReceiver,
) -> None:
    receipt = receiver.take(exchange(item("z", "Needs more"), required_extensions=["a.graph"]))

    assert statuses(receipt) == {"rev-z": "rejected"}
    assert receiver.current_texts() == []


def test_what_has_expired_is_not_current(receiver: ExchangeReceiver) -> None:
    receipt = receiver.take(
        exchange(item("f", "Still true"), item("s", "Was true", expires_at="2020-01-01T00:00:00Z"))
    )

    assert set(statuses(receipt).values()) == {"accepted"}
    assert receiver.current_texts() == ["Still true"]


def test_a_deletion_that_came_first_keeps_an_old_archive_out(receiver: ExchangeReceiver) -> None:
    deletion = happened("e", "tombstone", "rev-d", coverage=["derivations"])
    receiver.take(exchange(events=(deletion,)))
    talk = item("d", "user: my number is 44", "transcript")

    receipt = receiver.take(
        exchange(talk, derived("dd", "Maria's number is 44", "rev-d"), item("k", "Something else"))
    )

    assert statuses(receipt) == {"rev-d": "rejected", "rev-dd": "rejected", "rev-k": "accepted"}
    assert receiver.current_texts() == ["Something else"]


def test_a_deletion_removes_what_was_derived_too(receiver: ExchangeReceiver) -> None:
    talk = item("d", "user: my number is 44", "transcript")
    receiver.take(exchange(talk, derived("dd", "Maria's number is 44", "rev-d")))

    receiver.take(exchange(events=(happened("e", "tombstone", "rev-d"),)))

    assert receiver.current_texts() == []
    assert not receiver.rec.search("number")


def test_a_credential_is_rejected(receiver: ExchangeReceiver) -> None:
    receipt = receiver.take(exchange(item("k", "the key is sk-abcdefghijklmnopqrstuvwxyz123456")))

    assert statuses(receipt) == {"rev-k": "rejected"}
    assert receiver.current_texts() == []


def test_a_source_that_is_derived_anew_has_another_identity(receiver: ExchangeReceiver) -> None:
    runbook = item("r", "The runbook says to deploy twice.", "source_artifact")

    receipt = receiver.take(exchange(runbook), mode="re_derive")
    receiver.take(exchange(runbook), mode="re_derive")

    assert statuses(receipt) == {"rev-r": "transformed"}
    [sent] = export_exchange(receiver.rec._services).objects
    assert sent.text == runbook["text"]
    assert sent.revision_id != "rev-r"
    assert sent.derivation is not None
    assert sent.derivation.used == ["rev-r"]


def test_without_trust_memories_wait_and_nothing_is_deleted(receiver: ExchangeReceiver) -> None:
    receiver.take(exchange(item("a", "Known before")))

    deletion = happened("e", "tombstone", "rev-a")
    receipt = receiver.take(exchange(item("b", "Comes now"), events=(deletion,)), trust=False)

    assert [entry.status for entry in receipt.entries] == ["accepted", "unresolved"]
    assert receiver.current_texts() == ["Known before"]
    assert len(receiver.rec.inbox.list(everywhere=True)) == 1


def test_importing_twice_changes_nothing(receiver: ExchangeReceiver) -> None:
    talk = item("t", "user: I drink green tea", "transcript")
    sent = exchange(talk, derived("m", "Maria drinks green tea", "rev-t"))
    receiver.take(sent)
    states = receiver.states()

    receipt = receiver.take(sent)

    assert {entry.reason for entry in receipt.entries} == {"already imported"}
    assert receiver.states() == states


def test_what_is_exported_says_the_same_in_another_store(
    receiver: ExchangeReceiver, tmp_path: Path
) -> None:
    rec = receiver.rec
    rec.ingest("Deploys happen on Fridays.", project="site", type="decision", tags=["ops"])
    old = rec.ingest("The office is in Berlin.", scope="global")
    rec.memories.edit(old.id, content="The office is in Paris.")
    rec.capture_session("user: I always use tabs for indentation.\nassistant: ok", project="site")
    rec.drain()
    for candidate in rec.inbox.list(everywhere=True):
        rec.promote(candidate.memory.id)
    forgotten = rec.ingest("The zebrafish is here.", scope="global")
    rec.forget(forgotten.id)
    receiver.take(exchange(item("a", "From elsewhere"), item("g", "Retracted")))
    receiver.take(exchange(events=(happened("e", "retract", "rev-g"),)))
    other = ExchangeReceiver(tmp_path / "other.db")

    sent = MemoryExchange.model_validate_json(export_exchange(rec._services).model_dump_json())
    receipt = other.take(sent)

    assert {entry.status for entry in receipt.entries if entry.kind == "object"} == {"accepted"}
    assert other.states() == receiver.states()
    assert other.current_texts() == receiver.current_texts()
    assert other.rec.search("when do deploys happen?", project="site")
    assert other.rec.maintenance.verify().ok
    other.rec.close()


def test_a_memory_of_ours_keeps_its_type_and_tags(
    receiver: ExchangeReceiver, tmp_path: Path
) -> None:
    receiver.rec.ingest("We chose SQLite.", project="site", type="decision", tags=["db"])
    other = ExchangeReceiver(tmp_path / "other.db")

    other.take(export_exchange(receiver.rec._services))

    [memory] = other.rec.memories.list(everywhere=True)
    assert (memory.type, memory.tags) == ("decision", ("db",))
    other.rec.close()


def test_the_commands_write_and_read_an_exchange(rec: LocalRecollect, tmp_path: Path) -> None:
    rec.ingest("Deploys happen on Fridays.", scope="global")
    path = tmp_path / "exchange.json"

    rec.engine.export_exchange(path)
    receipt = rec.engine.import_exchange(path)

    assert [entry.reason for entry in receipt.entries] == ["already imported"]
    packed = tmp_path / "exchange.json.gz"
    rec.engine.export_exchange(packed)
    assert rec.engine.import_exchange(packed).entries == receipt.entries
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(ImportRefused, match="to its end"):
        rec.engine.import_exchange(packed)

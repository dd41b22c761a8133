"""Records of older versions, whose provenance was in their metadata."""

from recollect.domain.change import ChangeKind
from recollect.domain.older_records import (
    kind_of_older_change,
    provenance_in_metadata,
    upgraded_effects,
)
from tables import each_row


def test_provenance_is_taken_out_of_the_metadata_and_the_rest_stays() -> None:
    metadata = {
        "voice": "pasted",
        "flags": ["explicit"],
        "rule": "preference",
        "event": "e1",
        "session": "s1",
        "author": "coder",
        "dates": [{"text": "tomorrow", "from": "2026-05-10"}],
        "colour": "red",
    }

    values, rest = provenance_in_metadata(metadata)

    assert values == {
        "voice": "pasted",
        "flags": ["explicit"],
        "rule": "preference",
        "event_id": "e1",
        "session": "s1",
        "author": "coder",
        "dates": [["tomorrow", "2026-05-10"]],
    }
    assert rest == {"colour": "red"}


@each_row("voice", ["nobody", "User", 7])
def test_a_voice_we_do_not_know_is_not_trusted(voice: object) -> None:
    assert provenance_in_metadata({"voice": voice})[0]["voice"] == "other"


@each_row("voice", ["", None])
def test_without_a_voice_there_is_none(voice: object) -> None:
    assert provenance_in_metadata({"voice": voice})[0]["voice"] is None


def test_what_has_another_shape_is_left_out() -> None:
    values, rest = provenance_in_metadata(
        {"flags": "explicit", "rule": 7, "event": "", "dates": [{"from": "soon"}, "tomorrow"]}
    )

    assert (values["flags"], values["rule"], values["event_id"], values["dates"]) == (
        [],
        "",
        None,
        [],
    )
    assert rest == {}


@each_row(
    ("before", "after", "by", "kind"),
    [
        (None, "active", "user", "created"),
        ("inbox", "inbox", "engine", "held"),
        ("inbox", "active", "engine", "promoted"),
        ("inbox", "archived", "user", "rejected"),
        ("inbox", "archived", "engine", "merged"),
        ("inbox", "superseded", "engine", "superseded"),
        ("active", "superseded", "user", "superseded"),
        ("active", "contradicted", "user", "contradicted"),
        ("active", "archived", "agent", "archived"),
        ("active", "inbox", "user", "undone"),
        ("archived", "inbox", "user", "undone"),
        ("archived", "superseded", "user", "undone"),
    ],
)
def test_the_kind_of_an_older_change_follows_from_its_move(
    before: str | None, after: str, by: str, kind: str
) -> None:
    assert kind_of_older_change(before, after, by) is ChangeKind(kind)


def test_older_effects_have_their_present_names() -> None:
    older = {"superseded": ["a"], "duplicate_of": "b", "confidence_before": 0.5}

    assert upgraded_effects(older) == {"superseded": ["a"], "caused_by": "b"}

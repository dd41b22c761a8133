"""Users, the members of projects, and the audit log."""

from datetime import datetime, timedelta

import pytest

from recollect.domain.team import (
    AuditEntry,
    AuditOutcome,
    Member,
    MemberRole,
    Membership,
    TeamProject,
    User,
)
from recollect.errors import InvalidInput
from recollect.store.protocol import Store, Tables
from support import START

LATER = START + timedelta(days=1)


def user(name: str, *, is_first: bool = False) -> User:
    return User(
        id=f"id-{name}",
        name=name,
        is_admin=is_first,
        has_first_store=is_first,
        created_at=START,
        rotated_at=START,
    )


def project(name: str, *, created_at: datetime = START) -> TeamProject:
    return TeamProject(id=f"id-{name}", name=name, identity=f"at/{name}", created_at=created_at)


ANNA, BEN = user("anna", is_first=True), user("ben")
SITE, API = project("site", created_at=LATER), project("api")


def add_team(store: Store) -> None:
    def write(tables: Tables) -> None:
        tables.team.add_user(BEN, "hash-ben")
        tables.team.add_user(ANNA, "hash-anna")
        for item in (SITE, API):
            tables.team.add_project(item)
        tables.team.set_member(SITE.id, BEN.id, MemberRole.READER, at=START)
        tables.team.set_member(SITE.id, ANNA.id, MemberRole.OWNER, at=LATER)
        tables.team.set_member(API.id, BEN.id, MemberRole.WRITER, at=START)

    store.write(write)


def test_a_user_is_found_by_the_hash_of_the_token(store: Store) -> None:
    with store.read() as tables:
        assert not tables.team.has_users()
    add_team(store)

    with store.read() as tables:
        assert tables.team.has_users()
        assert tables.team.user_by_token("hash-ben") == BEN
        assert tables.team.user_by_token("hash-nobody") is None
        assert tables.team.user(ANNA.id) == ANNA
        assert tables.team.user("nobody") is None
        assert tables.team.user_by_name("anna") == ANNA
        assert tables.team.user_by_name("nobody") is None
        assert tables.team.users() == [ANNA, BEN]


@pytest.mark.parametrize(
    ("second", "token_hash"),
    [(user("ben"), "other"), (user("carl"), "hash-ben"), (user("carl", is_first=True), "other")],
)
def test_names_tokens_and_the_first_store_are_unique(
    store: Store, second: User, token_hash: str
) -> None:
    add_team(store)

    with pytest.raises(InvalidInput):
        store.write(lambda tables: tables.team.add_user(second, token_hash))


def test_the_hashes_of_tokens_are_listed_by_user(store: Store) -> None:
    add_team(store)

    with store.read() as tables:
        assert tables.team.token_hashes() == {ANNA.id: "hash-anna", BEN.id: "hash-ben"}


def test_a_new_token_replaces_the_former_one(store: Store) -> None:
    add_team(store)
    is_set = store.write(lambda tables: tables.team.set_token(BEN.id, "new", at=LATER))

    with store.read() as tables:
        assert is_set
        assert tables.team.user_by_token("hash-ben") is None
        renewed = tables.team.user_by_token("new")
        assert renewed is not None
        assert (renewed.id, renewed.rotated_at) == (BEN.id, LATER)
    assert not store.write(lambda tables: tables.team.set_token("nobody", "x", at=LATER))


def test_a_revoked_user_has_no_token_and_no_projects(store: Store) -> None:
    add_team(store)
    assert store.write(lambda tables: tables.team.revoke_user(BEN.id, "unusable", at=LATER))

    assert not store.write(lambda tables: tables.team.revoke_user(BEN.id, "again", at=LATER))
    assert not store.write(lambda tables: tables.team.set_token(BEN.id, "new", at=LATER))
    with store.read() as tables:
        assert tables.team.user_by_token("hash-ben") is None
        revoked = tables.team.user(BEN.id)
        assert revoked is not None
        assert revoked.revoked_at == LATER
        assert tables.team.memberships(BEN.id) == []
        assert [member.user for member in tables.team.members()] == ["anna"]


def test_members_are_listed_by_project_and_by_user(store: Store) -> None:
    add_team(store)
    store.write(lambda tables: tables.team.set_member(SITE.id, BEN.id, MemberRole.WRITER, at=LATER))

    with store.read() as tables:
        assert tables.team.projects() == [API, SITE]
        assert tables.team.project_by_identity("at/site") == SITE
        assert tables.team.project_by_identity("site") is None
        assert tables.team.members(SITE.id) == [
            Member(
                project_id=SITE.id,
                project="site",
                user_id=ANNA.id,
                user="anna",
                role=MemberRole.OWNER,
                added_at=LATER,
            ),
            Member(
                project_id=SITE.id,
                project="site",
                user_id=BEN.id,
                user="ben",
                role=MemberRole.WRITER,
                added_at=START,
            ),
        ]
        assert len(tables.team.members()) == 3
        assert tables.team.memberships(BEN.id) == [
            Membership(project=API, role=MemberRole.WRITER),
            Membership(project=SITE, role=MemberRole.WRITER),
        ]
    assert store.write(lambda tables: tables.team.remove_member(SITE.id, BEN.id))
    assert not store.write(lambda tables: tables.team.remove_member(SITE.id, BEN.id))
    with store.read() as tables:
        assert [item.project for item in tables.team.memberships(BEN.id)] == [API]


def entry(number: int, *, who: str = "ben", verb: str = "search", days: int = 0) -> AuditEntry:
    return AuditEntry(
        id=f"e{number}",
        at=START + timedelta(days=days),
        user=who,
        verb=verb,
        is_write=verb != "search",
        space="site",
        ids=("a", "b"),
        client="test",
        outcome=AuditOutcome.REFUSED,
    )


def test_audit_entries_are_filtered_listed_and_pruned(store: Store) -> None:
    entries = [entry(1), entry(2, who="anna", days=1), entry(3, verb="forget", days=2)]
    store.write(lambda tables: tables.team.add_audit_entries(entries))
    store.write(lambda tables: tables.team.set_audit_ids("e1", ["c"]))

    with store.read() as tables:
        listed = tables.team.audit_entries
        assert listed(limit=2) == [entries[2], entries[1]]
        assert listed(limit=9)[2].ids == ("c",)
        assert listed(user="anna", limit=9) == [entries[1]]
        assert listed(verb="forget", limit=9) == [entries[2]]
        assert listed(since=LATER, limit=9) == [entries[2], entries[1]]
    before = START + timedelta(days=2)
    assert store.write(lambda tables: tables.team.prune_audit(before=before, limit=1)) == 1
    assert store.write(lambda tables: tables.team.prune_audit(before=before, limit=9)) == 1
    with store.read() as tables:
        assert tables.team.audit_entries(limit=9) == [entries[2]]


def test_audit_entries_are_read_page_by_page_in_the_order_of_their_ids(store: Store) -> None:
    with store.read() as tables:
        assert tables.team.last_audit_id() == ""
        assert tables.team.audit_page(limit=9) == []
    entries = [entry(1, days=2), entry(2, who="anna"), entry(3, days=1)]
    store.write(lambda tables: tables.team.add_audit_entries(entries))

    with store.read() as tables:
        assert tables.team.last_audit_id() == "e3"
        assert tables.team.audit_page(limit=2) == entries[:2]
        assert tables.team.audit_page(after="e2", limit=2) == entries[2:]


def test_a_store_works_on_when_its_database_enforces_policies(store: Store) -> None:
    add_team(store)
    store.enforce_policies()
    store.enforce_policies()  # the second time there is nothing left to do

    store.write(lambda tables: tables.team.add_audit_entries([entry(1)]))
    with store.read() as tables:
        assert tables.team.audit_entries(limit=9) == [entry(1)]


def test_two_works_run_first_in_the_next_write(store: Store) -> None:
    def add(number: int, tables: Tables) -> None:
        tables.team.add_audit_entries([entry(number)])

    with store.in_next_write(lambda tables: add(1, tables)):
        with store.in_next_write(lambda tables: add(2, tables)):
            store.write(lambda tables: add(3, tables))
        store.write(lambda tables: add(4, tables))
    with (
        store.in_next_write(lambda tables: add(5, tables)),
        store.in_next_write(lambda tables: add(6, tables)),
    ):
        pass
    store.write(lambda tables: add(7, tables))

    with store.read() as tables:
        ids = {item.id for item in tables.team.audit_entries(limit=9)}
    assert ids == {"e1", "e2", "e3", "e4", "e7"}

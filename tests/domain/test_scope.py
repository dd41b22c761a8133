"""A viewer sees the global owner and its own owners, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.scope import Owner, Scope, Viewer, visible_owners
from tables import each_row

GLOBAL = Owner(Scope.GLOBAL, "")
EVERYWHERE = Viewer(project_id="p", repo_ids=("r1", "r2"), agent_id="a", session_id="s")

ids = st.text("abc01", max_size=3)
viewers = st.builds(
    Viewer,
    project_id=st.none() | ids,
    repo_ids=st.lists(ids.filter(bool), max_size=3, unique=True).map(tuple),
    agent_id=st.none() | ids,
    session_id=st.none() | ids,
)
scopes = st.none() | st.frozensets(st.sampled_from(Scope))


@each_row(
    ("viewer", "owners"),
    [
        (Viewer(), (GLOBAL,)),
        (Viewer(project_id="p"), (GLOBAL, Owner(Scope.PROJECT, "p"))),
        (
            Viewer(repo_ids=("r1", "r2")),
            (GLOBAL, Owner(Scope.REPO, "r1"), Owner(Scope.REPO, "r2")),
        ),
        (Viewer(agent_id="a"), (GLOBAL, Owner(Scope.AGENT, "a"))),
        (Viewer(session_id="s"), (GLOBAL, Owner(Scope.SESSION, "s"))),
        (
            EVERYWHERE,
            (
                GLOBAL,
                Owner(Scope.PROJECT, "p"),
                Owner(Scope.REPO, "r1"),
                Owner(Scope.REPO, "r2"),
                Owner(Scope.AGENT, "a"),
                Owner(Scope.SESSION, "s"),
            ),
        ),
    ],
    ids=["nowhere", "project", "repos", "agent", "session", "everywhere"],
)
def test_a_viewer_sees_the_global_shelf_and_its_own(
    viewer: Viewer, owners: tuple[Owner, ...]
) -> None:
    assert visible_owners(viewer) == owners


@each_row(
    ("wanted", "owners"),
    [
        ([], ()),
        ([Scope.GLOBAL], (GLOBAL,)),
        ([Scope.PROJECT], (Owner(Scope.PROJECT, "p"),)),
        ([Scope.REPO], (Owner(Scope.REPO, "r1"), Owner(Scope.REPO, "r2"))),
        (
            [Scope.SESSION, Scope.AGENT],
            (Owner(Scope.AGENT, "a"), Owner(Scope.SESSION, "s")),
        ),
    ],
    ids=["none", "global", "project", "repo", "two"],
)
def test_scopes_narrow_what_is_seen(wanted: list[Scope], owners: tuple[Owner, ...]) -> None:
    assert visible_owners(EVERYWHERE, wanted) == owners


def test_scopes_may_be_given_as_an_iterator() -> None:
    assert visible_owners(EVERYWHERE, iter([Scope.PROJECT])) == (Owner(Scope.PROJECT, "p"),)


@given(viewers, scopes)
def test_no_viewer_ever_sees_an_owner_that_is_not_its_own(
    viewer: Viewer, wanted: frozenset[Scope] | None
) -> None:
    own: dict[Scope, set[str | None]] = {
        Scope.GLOBAL: {""},
        Scope.PROJECT: {viewer.project_id},
        Scope.REPO: {*viewer.repo_ids},
        Scope.AGENT: {viewer.agent_id},
        Scope.SESSION: {viewer.session_id},
    }

    owners = visible_owners(viewer, wanted)

    assert all(owner.id in own[owner.scope] for owner in owners)
    assert all(owner.id for owner in owners if owner.scope is not Scope.GLOBAL)
    assert len(set(owners)) == len(owners)


@given(viewers, st.frozensets(st.sampled_from(Scope)))
def test_narrowing_only_takes_away(viewer: Viewer, wanted: frozenset[Scope]) -> None:
    narrowed = visible_owners(viewer, wanted)

    assert narrowed == tuple(one for one in visible_owners(viewer) if one.scope in wanted)

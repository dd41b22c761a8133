"""Scope is a wall: a property over random scopes, owners and questions."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Memory, Recollect, Scope
from support import open_memory

WORDS = ["red", "green", "blue", "fox", "dog", "tree", "run", "jump"]
CONTENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
NAME = st.sampled_from(["x", "y"])
PLACES = st.fixed_dictionaries(
    {},
    optional={"project": NAME, "repo": NAME, "agent": NAME, "session": NAME},
)
TYPES = st.sampled_from(["profile", "project", "decision", "artifact", "episode", "task_hint"])
WRITE = st.tuples(CONTENT, PLACES, TYPES, st.sampled_from([*Scope]))


def write(memory: Recollect, content: str, places: dict[str, str], kind: str, scope: Scope) -> None:
    needed = {} if scope is Scope.GLOBAL else {scope.value: places.get(scope.value, "x")}
    memory.ingest(content, scope=scope, type=kind, **(places | needed))  # type: ignore[arg-type]


def may_see(memory: Recollect, found: Memory, asked: dict[str, str]) -> bool:
    """Say whether the wall lets *found* through, from the names alone."""
    names = {project.id: project.name for project in memory.projects()}
    with memory._store.read() as tables:  # the names of agents and repos, for the oracle
        known = tables.agents.named(asked.get("agent", ""))
        agent = known.id if known else None
        if "repo" in asked:
            home = tables.places.project_named(asked["project"]) if "project" in asked else None
            repo = tables.places.repo_named(asked["repo"], home.id if home else None)
            repos = {repo.id} if repo else set()
            projects = {asked["project"]} if "project" in asked else set()
            projects |= {names[repo.project_id]} if repo and "project" not in asked else set()
        else:
            projects = {asked["project"]} if "project" in asked else set()
            owned = tables.places.project_named(asked.get("project", ""))
            repos = {one.id for one in tables.places.repos_of(owned.id)} if owned else set()
    match found.scope:
        case Scope.GLOBAL:
            return True
        case Scope.PROJECT:
            return names[found.project_id or ""] in projects
        case Scope.REPO:
            return found.repo_id in repos
        case Scope.AGENT:
            return agent is not None and found.agent_id == agent
        case Scope.SESSION:
            return found.session_id == asked.get("session")


@settings(max_examples=60)
@given(writes=st.lists(WRITE, max_size=12), asked=PLACES, query=CONTENT)
def test_no_search_or_bundle_ever_shows_what_stands_behind_a_wall(
    writes: list[tuple[str, dict[str, str], str, Scope]], asked: dict[str, str], query: str
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), cross_project=False) as memory,
    ):
        for content, places, kind, scope in writes:
            write(memory, content, places, kind, scope)

        hits = memory.search(query, limit=50, **asked)  # type: ignore[arg-type]
        bundle = memory.context_for(query, **asked)  # type: ignore[arg-type]
        shown = [hit.memory for hit in hits]
        shown += [hit.memory for section in bundle.sections for hit in section.hits]

        assert all(may_see(memory, found, asked) for found in shown)


@settings(max_examples=60)
@given(writes=st.lists(WRITE, max_size=12), asked=PLACES, query=CONTENT)
def test_only_a_decision_or_artifact_of_a_project_that_clearly_answers_crosses_the_wall(
    writes: list[tuple[str, dict[str, str], str, Scope]], asked: dict[str, str], query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder, "m.db")) as memory:
        for content, places, kind, scope in writes:
            write(memory, content, places, kind, scope)

        hits = memory.search(query, limit=50, **asked)  # type: ignore[arg-type]
        crossed = [hit for hit in hits if not may_see(memory, hit.memory, asked)]

        for hit in crossed:
            assert hit.reached == "relevant"
            assert hit.memory.type in ("decision", "artifact")
            assert hit.memory.scope in ("project", "repo")
            assert len(set(hit.matched_words)) >= 3
        assert all(hit.reached == "visible" for hit in hits if hit not in crossed)

"""No search crosses a scope: a property over random scopes, owners and queries."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect import LocalRecollect, Memory, Scope
from support import open_memory

pytestmark = pytest.mark.fuzz

WORDS = ["red", "green", "blue", "fox", "dog", "tree", "run", "jump"]
CONTENT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
NAME = st.sampled_from(["x", "y"])
PLACES = st.fixed_dictionaries(
    {},
    optional={"project": NAME, "repo": NAME, "agent": NAME, "session": NAME},
)
TYPES = st.sampled_from(["profile", "project", "decision", "artifact", "episode", "task_hint"])
WRITE = st.tuples(CONTENT, PLACES, TYPES, st.sampled_from([*Scope]))


def write(
    rec: LocalRecollect, content: str, places: dict[str, str], kind: str, scope: Scope
) -> None:
    needed = {} if scope is Scope.GLOBAL else {scope.value: places.get(scope.value, "x")}
    rec.ingest(content, scope=scope, type=kind, **(places | needed))  # type: ignore[arg-type]


def may_see(rec: LocalRecollect, memory: Memory, places: dict[str, str]) -> bool:
    """Return whether *memory* is visible from *places*; written without the code that decides."""
    with rec._store.read() as tables:  # the ids of the names, for the oracle
        agent = tables.agents.by_name(places.get("agent", ""))
        project = tables.projects.project_by_identity(places.get("project", ""))
        project_id = project.id if project else None
        if "project" in places and project is None:
            repo_ids = []  # an unknown project has no repos, even if others have this name
        elif "repo" in places:
            repo = tables.projects.repo_by_name(places["repo"], project_id)
            repo_ids = [repo.id] if repo else []
            project_id = repo.project_id if repo and "project" not in places else project_id
        else:
            repo_ids = tables.projects.repo_ids(project_id)[project_id] if project_id else []
    match memory.scope:
        case Scope.GLOBAL:
            return True
        case Scope.PROJECT:
            return memory.project_id == project_id
        case Scope.REPO:
            return memory.repo_id in repo_ids
        case Scope.AGENT:
            # What an agent was told in a project stays in that project.
            is_here = memory.project_id in (None, project_id)
            return is_here and agent is not None and memory.agent_id == agent.id
        case Scope.SESSION:
            return memory.session_id == places.get("session")


@settings(max_examples=60)
@example(
    writes=[("red green blue", {"project": "y", "agent": "x"}, "decision", Scope.AGENT)],
    places={"project": "x", "agent": "x"},
    query="red green blue",
)
@given(writes=st.lists(WRITE, max_size=12), places=PLACES, query=CONTENT)
def test_no_search_or_bundle_returns_a_memory_of_an_invisible_scope(
    writes: list[tuple[str, dict[str, str], str, Scope]], places: dict[str, str], query: str
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_memory(Path(folder, "m.db"), cross_project=False) as rec,
    ):
        for content, written_to, kind, scope in writes:
            write(rec, content, written_to, kind, scope)

        hits = rec.search(query, limit=50, **places)  # type: ignore[arg-type]
        bundle = rec.context_for(query, **places)  # type: ignore[arg-type]
        returned = [hit.memory for hit in hits]
        returned += [hit.memory for section in bundle.sections for hit in section.hits]

        assert all(may_see(rec, hit, places) for hit in returned)


@settings(max_examples=60)
@example(
    writes=[("red green blue", {"project": "y"}, "decision", Scope.REPO)],
    places={"project": "x", "repo": "x"},
    query="red green blue",
)
@given(writes=st.lists(WRITE, max_size=12), places=PLACES, query=CONTENT)
def test_only_a_clearly_relevant_decision_or_artifact_is_returned_to_another_project(
    writes: list[tuple[str, dict[str, str], str, Scope]], places: dict[str, str], query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder, "m.db")) as rec:
        for content, written_to, kind, scope in writes:
            write(rec, content, written_to, kind, scope)

        hits = rec.search(query, limit=50, **places)  # type: ignore[arg-type]
        crossed = [hit for hit in hits if not may_see(rec, hit.memory, places)]

        for hit in crossed:
            assert hit.reached == "relevant"
            assert hit.memory.type in ("decision", "artifact")
            assert hit.memory.scope in ("project", "repo")
            assert len(set(hit.matched_words)) >= 3
        assert all(hit.reached == "visible" for hit in hits if hit not in crossed)

"""Requests for skills."""

from typing import Annotated

from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.wire.fields import Flag, Id, Limit, Name, Place, Text, Title, choice
from recollect.wire.request import VerbRequest


class ListSkillsRequest(VerbRequest[SkillReport], route="GET /skills"):
    """Return the bundled, global and project's skills; later ones override earlier."""

    project: Place | None = None


class SearchSkillsRequest(VerbRequest[list[SkillHit]], route="POST /skills/search"):
    """Return the skills that answer *query*, by words and meaning, best first."""

    query: Text
    project: Place | None = None
    limit: Limit = 10


class LoadSkillRequest(VerbRequest[LoadedSkill], route="PUT /agents/{agent}/skills/{name}"):
    """Load a skill into an agent: its text is added to the block `loaded_skills`."""

    agent: Id
    name: Text
    project: Place | None = None


class UnloadSkillRequest(VerbRequest[LoadedSkill], route="DELETE /agents/{agent}/skills/{name}"):
    """Unload a skill from an agent."""

    agent: Id
    name: Text
    project: Place | None = None


class ListLoadedSkillsRequest(VerbRequest[list[LoadedSkill]], route="GET /agents/{agent}/skills"):
    """Return the skills an agent has loaded."""

    agent: Id


class RefreshSkillsRequest(VerbRequest[SkillReport], route="POST /agents/{agent}/skills/refresh"):
    """Update an agent's list of skills and its loaded skills from disk."""

    agent: Id
    project: Place | None = None


class LearnSkillRequest(VerbRequest[LearntSkill], route="POST /conversations/{conversation}/skill"):
    """Draft a skill from a conversation and save it: *save* is project, global, or ''."""

    conversation: Id
    name: Name
    project: Place | None = None
    title: Title = ""
    save: Annotated[str, choice("project", "global", "")] = "project"
    overwrite: Flag = False

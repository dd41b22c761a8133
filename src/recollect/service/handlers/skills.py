"""Handlers of the requests for skills."""

from recollect.domain.skill import LearntSkill, LoadedSkill, SkillHit, SkillReport
from recollect.service import skill_search, skills
from recollect.service.handlers.table import Handlers
from recollect.service.place_lookup import RequestPlace
from recollect.service.services import Services
from recollect.wire.requests.skills import (
    LearnSkillRequest,
    ListLoadedSkillsRequest,
    ListSkillsRequest,
    LoadSkillRequest,
    RefreshSkillsRequest,
    SearchSkillsRequest,
    UnloadSkillRequest,
)


def list_skills(services: Services, request: ListSkillsRequest) -> SkillReport:
    return skills.found(services, RequestPlace.of(request.project))


def search_skills(services: Services, request: SearchSkillsRequest) -> list[SkillHit]:
    report = skills.found(services, RequestPlace.of(request.project))
    return skill_search.search(services, request.query, report, limit=request.limit)


def load_skill(services: Services, request: LoadSkillRequest) -> LoadedSkill:
    return skills.load(services, request.agent, request.name, RequestPlace.of(request.project))


def unload_skill(services: Services, request: UnloadSkillRequest) -> LoadedSkill:
    return skills.unload(services, request.agent, request.name, RequestPlace.of(request.project))


def list_loaded_skills(services: Services, request: ListLoadedSkillsRequest) -> list[LoadedSkill]:
    return skills.loaded(services, request.agent)


def refresh_skills(services: Services, request: RefreshSkillsRequest) -> SkillReport:
    return skills.refresh(services, request.agent, RequestPlace.of(request.project))


def learn_skill(services: Services, request: LearnSkillRequest) -> LearntSkill:
    return skills.learn(
        services,
        request.conversation,
        request.name,
        project=RequestPlace.of(request.project),
        title=request.title,
        save=request.save,
        overwrite=request.overwrite,
    )


HANDLERS: Handlers = {
    ListSkillsRequest: list_skills,
    SearchSkillsRequest: search_skills,
    LoadSkillRequest: load_skill,
    UnloadSkillRequest: unload_skill,
    ListLoadedSkillsRequest: list_loaded_skills,
    RefreshSkillsRequest: refresh_skills,
    LearnSkillRequest: learn_skill,
}

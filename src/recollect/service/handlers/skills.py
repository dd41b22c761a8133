"""Handlers of the requests for skills."""

from recollect.service import skill_search, skills
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import skills as requests

HANDLERS: Handlers = {
    requests.ListSkillsRequest: skills.list_skills,
    requests.SearchSkillsRequest: skill_search.search_skills,
    requests.LoadSkillRequest: skills.load_skill,
    requests.UnloadSkillRequest: skills.unload_skill,
    requests.ListLoadedSkillsRequest: skills.list_loaded_skills,
    requests.RefreshSkillsRequest: skills.refresh_skills,
    requests.LearnSkillRequest: skills.learn_skill,
}

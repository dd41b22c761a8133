"""
Skills of agents: what there is, what an agent has loaded, what it learnt.

Skills live in folders; what an agent loaded is kept in the store as it was, and its blocks `skills`
(the catalogue) and `loaded_skills` (the texts) are written by the system whenever that changes, in
the same transaction.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from recollect.domain import limits
from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, BlockAuthor, edit_block, replace_all
from recollect.domain.conversation import Message
from recollect.domain.scope import Owner, Scope
from recollect.domain.skill import (
    LearntSkill,
    LoadedSkill,
    Skill,
    SkillDraft,
    SkillOrigin,
    SkillReport,
)
from recollect.engine.budgeted_chat import complete_within_budget
from recollect.engine.learn.skill_draft import draft_skill
from recollect.engine.learn.skill_prompt import (
    MAX_ANSWER_TOKENS,
    SYSTEM,
    draft_from_answer,
    draft_prompt,
)
from recollect.errors import InvalidInput, NotFound
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.block_writing import add_block, change_of, default_block, save_version
from recollect.service.disk.roots import within_reach
from recollect.service.disk.skill_folders import discover, save_skill
from recollect.service.place_lookup import RequestPlace, ensure_place, project_root
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.values import StoredSkill
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.text.skill_file import name_problem, parse_skill, render_skill

CATALOGUE, LOADED = "skills", "loaded_skills"
GLOBAL_FOLDER, PROJECT_FOLDER = Path(".letta-memory/skills"), Path(".skills")
MOST_MESSAGES = 10_000  # of a conversation that is learnt from, its last ones
RULES = "rules"

T = TypeVar("T")


def found(services: Services, project: RequestPlace) -> SkillReport:
    """Return the skills there are for somebody who works in a project."""
    root = project_root(services.store, project)
    return discover(root and within_reach(root, services.reach), home=Path.home())


def loaded(services: Services, agent: object) -> list[LoadedSkill]:
    """Return the skills an agent has in use, in the order of loading."""
    with services.store.read() as tables:
        return _loaded(tables, require_agent(tables, agent))


def load(services: Services, agent: object, name: object, project: RequestPlace) -> LoadedSkill:
    """Give a skill to an agent, as it stands in its folder now."""
    report = found(services, project)
    skill = _named(report, name)
    now = services.clock.now()

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        who = require_agent(tables, agent)
        project_id = None
        if skill.origin is SkillOrigin.PROJECT:
            project_id = ensure_place(tables, project, services.clock).project_id
        kept = _kept(services.clock.new_id(), skill, project_id)
        for other, _ in tables.skills.loaded_by(who.id):
            if other.name == skill.name:
                tables.skills.unload(who.id, other.id)
        tables.skills.load(who.id, tables.skills.save(kept, now), now)
        written = _keep_blocks(services, tables, who, report, project, now)
        return LoadedSkill(skill=skill, loaded_at=now), written

    return _told(services, *services.store.write(write))


def unload(services: Services, agent: object, name: object, project: RequestPlace) -> LoadedSkill:
    """Take a skill from an agent."""
    report = found(services, project)

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        who = require_agent(tables, agent)
        for kept, loaded_at in tables.skills.loaded_by(who.id):
            if kept.name == name:
                tables.skills.unload(who.id, kept.id)
                written = _keep_blocks(services, tables, who, report, project, services.clock.now())
                return LoadedSkill(skill=_skill(kept), loaded_at=loaded_at), written
        names = ", ".join(kept.name for kept, _ in tables.skills.loaded_by(who.id)) or "none"
        raise NotFound(f"agent {who.name!r} has no skill {name!r} loaded; it has {names}")

    return _told(services, *services.store.write(write))


def refresh(services: Services, agent: object, project: RequestPlace) -> SkillReport:
    """Write an agent's catalogue of skills anew, and take loaded ones as they stand now."""
    report = found(services, project)
    here = {skill.name: skill for skill in report.skills}
    now = services.clock.now()

    def write(tables: Tables) -> tuple[SkillReport, list[Block]]:
        who = require_agent(tables, agent)
        for kept, loaded_at in tables.skills.loaded_by(who.id):
            current = here.get(kept.name)
            if current is not None and (current.origin, current.path) == (kept.origin, kept.path):
                tables.skills.unload(who.id, kept.id)
                anew = _kept(services.clock.new_id(), current, kept.project_id)
                tables.skills.load(who.id, tables.skills.save(anew, now), loaded_at)
        return report, _keep_blocks(services, tables, who, report, project, now)

    return _told(services, *services.store.write(write))


def learn(
    services: Services,
    conversation: object,
    name: object,
    *,
    project: RequestPlace,
    title: object = "",
    save: object = "project",
    overwrite: bool = False,
) -> LearntSkill:
    """Draft a skill from a conversation and save it to the project's or the user's folder."""
    if save not in ("project", "global", ""):
        raise InvalidInput(f"save {save!r} is not known; use project, global or '' for nowhere")
    named = validate.text_of("name", name, most=limits.MAX_NAME).strip()
    if problem := name_problem(named):
        raise InvalidInput(problem)
    headed = validate.text_of("title", title, most=limits.MAX_TITLE)
    with services.store.read() as tables:
        said = require_conversation(tables, conversation)
        back = tables.messages.page_back(said.id, before=2**53, limit=MOST_MESSAGES)
        home = tables.projects.project(said.project_id) if said.project_id else None
    draft, made_by, notes = _draft(services, back[::-1], named, headed)
    about = {"learnt_from": f"conversation {said.id}", "made_by": made_by}
    content = render_skill(draft.name, draft.description, draft.body, metadata=about)
    path = ""
    if save:
        where = project if project.project or home is None else RequestPlace(project=home.name)
        path = str(
            save_skill(_folder(services, str(save), where), content, named, overwrite=overwrite)
        )
    return LearntSkill(draft=draft, content=content, path=path, made_by=made_by, notes=notes)


def _draft(
    services: Services, messages: Sequence[Message], name: str, title: str
) -> tuple[SkillDraft, str, tuple[str, ...]]:
    notes: tuple[str, ...] = ()
    if services.engine.uses_chat:
        answer = complete_within_budget(
            services.engine,
            purpose="skill",
            system=SYSTEM,
            prompt=draft_prompt(messages),
            max_tokens=MAX_ANSWER_TOKENS,
        )
        if answer.text:
            written = draft_from_answer(answer.text, messages, name=name, title=title)
            if written is not None:
                return written, answer.model, notes
        why = answer.failure or "its answer rested on no message"
        notes = (f"drafted without the language model: {why}",)
    return draft_skill(messages, name=name, title=title), RULES, notes


def _folder(services: Services, save: str, where: RequestPlace) -> Path:
    if save == "global":
        return within_reach(Path.home() / GLOBAL_FOLDER, services.reach)
    root = project_root(services.store, where)
    if root is None or not within_reach(root, services.reach).is_dir():
        raise InvalidInput(
            "where is the project's folder? pass project=PATH of one that exists, or "
            "save='global' for every project"
        )
    folder = root / PROJECT_FOLDER
    if not folder.resolve().is_relative_to(root.resolve()):
        raise InvalidInput(f"{folder} is a link that leads out of the project; remove it first")
    return folder


def _named(report: SkillReport, name: object) -> Skill:
    for skill in report.skills:
        if skill.name == name:
            return skill
    names = ", ".join(skill.name for skill in report.skills) or "none"
    raise NotFound(f"there is no skill {name!r} here; there are {names}")


def _kept(skill_id: str, skill: Skill, project_id: str | None) -> StoredSkill:
    content = redact(skill.content, keep_lines=True).text
    return StoredSkill(
        id=skill_id,
        name=skill.name,
        description=redact(skill.description).text,
        origin=skill.origin,
        project_id=project_id,
        path=skill.path,
        content=content,
        sha256=sha256_hex(content),
        metadata={"files": list(skill.files)},
    )


def _skill(kept: StoredSkill) -> Skill:
    files = kept.metadata.get("files", ())
    return parse_skill(
        kept.content, folder=kept.name, origin=kept.origin, path=kept.path, files=tuple(files)
    )


def _loaded(tables: Tables, agent: Agent) -> list[LoadedSkill]:
    return [
        LoadedSkill(skill=_skill(kept), loaded_at=loaded_at)
        for kept, loaded_at in tables.skills.loaded_by(agent.id)
    ]


def _keep_blocks(
    services: Services,
    tables: Tables,
    agent: Agent,
    report: SkillReport,
    project: RequestPlace,
    now: datetime,
) -> list[Block]:
    """Write both blocks as they should be; return those that changed."""
    tables.skills.drop_unused()
    catalogue = "\n".join(f"- {one.name}: {_line(one.description)}" for one in report.skills)
    texts = "\n\n".join(_text(one.skill) for one in _loaded(tables, agent))
    attached = {block.label: block for block in tables.blocks.attached_to(agent.id)}
    written = []
    for label, value in ((CATALOGUE, redact(catalogue).text), (LOADED, texts)):
        block = attached.get(label)
        if block is None:
            block = default_block(
                DEFAULT_LABELS[label], Owner(Scope.AGENT, agent.id), services.clock
            )
            add_block(tables, block, by=BlockAuthor.SYSTEM, reason="made for skills")
            tables.blocks.attach(agent.id, block)
        if block.scope is not Scope.AGENT:
            continue  # shared under that label: it is not ours to write
        if label == CATALOGUE and project.project is None and block.value:
            continue  # seen from nowhere, a project's skills are missing, not gone
        if block.value != value:
            written.append(_write_block(tables, block, value, now))
    return written


def _told(services: Services, result: T, written: Sequence[Block]) -> T:
    """Tell listeners of the blocks that changed, now that they are on disk."""
    for block in written:
        services.listeners.notify(change_of(block, BlockAuthor.SYSTEM))
    return result


def _write_block(tables: Tables, block: Block, value: str, now: datetime) -> Block:
    # A skill is as long as it is: the limit is for those who write by hand.
    roomy = block if block.limit is None else replace(block, limit=max(block.limit, len(value)))
    kept = edit_block(roomy, replace_all(value), by=BlockAuthor.SYSTEM, at=now)
    save_version(tables, kept, by=BlockAuthor.SYSTEM, reason="the skills changed")
    return kept


def _text(skill: Skill) -> str:
    text = f"# Skill: {skill.name}\n\n{skill.body.strip()}"
    if skill.files and skill.path:
        text += f"\n\nFiles in {Path(skill.path).parent}: {', '.join(skill.files)}"
    return text


def _line(description: str) -> str:
    return " ".join(description.split())

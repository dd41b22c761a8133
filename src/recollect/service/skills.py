"""
List, load and learn skills.

Skills are folders on disk. The text of a loaded skill is stored as it was, and the agent's blocks
`skills` (the catalogue) and `loaded_skills` (the texts) are written in the same transaction.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

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
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.block_writing import (
    add_block,
    default_block,
    save_version,
    write_and_notify,
)
from recollect.service.disk.allowed_roots import require_readable
from recollect.service.disk.skill_folders import discover, save_skill
from recollect.service.place_lookup import RequestPlace, ensure_place, project_root
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.values import StoredSkill
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.text.skill_file import name_problem, parse_skill, render_skill
from recollect.wire.requests.skills import (
    LearnSkillRequest,
    ListLoadedSkillsRequest,
    ListSkillsRequest,
    LoadSkillRequest,
    RefreshSkillsRequest,
    UnloadSkillRequest,
)

CATALOGUE, LOADED = "skills", "loaded_skills"
GLOBAL_FOLDER, PROJECT_FOLDER = Path(".letta-memory/skills"), Path(".skills")
MAX_MESSAGES = 10_000  # the newest of a conversation, to learn a skill from
RULES = "rules"

T = TypeVar("T")


def list_skills(services: Services, request: ListSkillsRequest) -> SkillReport:
    """Return the skills that are available in a project."""
    return find_skills(services, RequestPlace.of(request.project))


def find_skills(services: Services, place: RequestPlace) -> SkillReport:
    """Return the bundled, global and project's skills."""
    root = project_root(services.store, place)
    home = Path.home() if services.reads_home_skills else None
    return discover(root and require_readable(root, services.readable_folders), home=home)


def list_loaded_skills(services: Services, request: ListLoadedSkillsRequest) -> list[LoadedSkill]:
    """Return the skills an agent has in use, in the order of loading."""
    with services.store.read() as tables:
        return _loaded_skills(tables, require_agent(tables, request.agent))


def load_skill(services: Services, request: LoadSkillRequest) -> LoadedSkill:
    """Load a skill into an agent, with its current text."""
    place = RequestPlace.of(request.project)
    report = find_skills(services, place)
    skill = _skill_named(report, request.name)
    now = services.clock.now()

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        agent = require_agent(tables, request.agent)
        project_id = None
        if skill.origin is SkillOrigin.PROJECT:
            project_id = ensure_place(tables, place, services.clock).project_id
        stored = _stored_skill(services.clock.new_id(), skill, project_id)
        for other, _ in tables.skills.loaded_by(agent.id):
            if other.name == skill.name:
                tables.skills.unload(agent.id, other.id)
        tables.skills.load(agent.id, tables.skills.save(stored, now), now)
        blocks = _write_blocks(services, tables, agent, report, place)
        return LoadedSkill(skill=skill, loaded_at=now), blocks

    return write_and_notify(services, write, BlockAuthor.SYSTEM)


def unload_skill(services: Services, request: UnloadSkillRequest) -> LoadedSkill:
    """Unload a skill from an agent."""
    place = RequestPlace.of(request.project)
    report = find_skills(services, place)

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        agent = require_agent(tables, request.agent)
        for stored, loaded_at in tables.skills.loaded_by(agent.id):
            if stored.name == request.name:
                tables.skills.unload(agent.id, stored.id)
                blocks = _write_blocks(services, tables, agent, report, place)
                return LoadedSkill(skill=_parse_stored(stored), loaded_at=loaded_at), blocks
        names = ", ".join(stored.name for stored, _ in tables.skills.loaded_by(agent.id)) or "none"
        raise NotFound(f"agent {agent.name!r} has no skill {request.name!r} loaded; it has {names}")

    return write_and_notify(services, write, BlockAuthor.SYSTEM)


def refresh_skills(services: Services, request: RefreshSkillsRequest) -> SkillReport:
    """Rewrite an agent's list of skills, and update loaded skills to their current text."""
    place = RequestPlace.of(request.project)
    report = find_skills(services, place)
    by_name = {skill.name: skill for skill in report.skills}

    def write(tables: Tables) -> tuple[SkillReport, list[Block]]:
        agent = require_agent(tables, request.agent)
        for stored, loaded_at in tables.skills.loaded_by(agent.id):
            skill = by_name.get(stored.name)
            if skill is not None and (skill.origin, skill.path) == (stored.origin, stored.path):
                tables.skills.unload(agent.id, stored.id)
                updated = _stored_skill(services.clock.new_id(), skill, stored.project_id)
                skill_id = tables.skills.save(updated, services.clock.now())
                tables.skills.load(agent.id, skill_id, loaded_at)
        return report, _write_blocks(services, tables, agent, report, place)

    return write_and_notify(services, write, BlockAuthor.SYSTEM)


def learn_skill(services: Services, request: LearnSkillRequest) -> LearntSkill:
    """Draft a skill from a conversation and save it to the project's or the user's folder."""
    name = request.name.strip()
    if problem := name_problem(name):
        raise InvalidInput(problem)
    place = RequestPlace.of(request.project)
    with services.store.read() as tables:
        conversation = require_conversation(tables, request.conversation)
        newest = tables.messages.page_back(conversation.id, before=2**53, limit=MAX_MESSAGES)
        if place.project is None and conversation.project_id:
            project = tables.projects.project(conversation.project_id)
            place = RequestPlace(project=project.id if project else None)
    draft, made_by, notes = _draft(services, newest[::-1], name, request.title)
    about = {"learnt_from": f"conversation {conversation.id}", "made_by": made_by}
    content = render_skill(draft.name, draft.description, draft.body, metadata=about)
    path = ""
    if request.save:
        folder = _folder(services, request.save, place)
        path = str(save_skill(folder, content, name, overwrite=request.overwrite))
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
            draft = draft_from_answer(answer.text, messages, name=name, title=title)
            if draft is not None:
                return draft, answer.model, notes
        reason = answer.failure or "its answer rested on no message"
        notes = (f"drafted without the language model: {reason}",)
    return draft_skill(messages, name=name, title=title), RULES, notes


def _folder(services: Services, save: str, place: RequestPlace) -> Path:
    if save == "global":
        return require_readable(Path.home() / GLOBAL_FOLDER, services.readable_folders)
    root = project_root(services.store, place)
    if root is None or not require_readable(root, services.readable_folders).is_dir():
        raise InvalidInput(
            "where is the project's folder? pass project=PATH of one that exists, or "
            "save='global' for every project"
        )
    folder = root / PROJECT_FOLDER
    if not folder.resolve().is_relative_to(root.resolve()):
        raise InvalidInput(f"{folder} is a link that leads out of the project; remove it first")
    return folder


def _skill_named(report: SkillReport, name: str) -> Skill:
    for skill in report.skills:
        if skill.name == name:
            return skill
    names = ", ".join(skill.name for skill in report.skills) or "none"
    raise NotFound(f"there is no skill {name!r} here; there are {names}")


def _stored_skill(skill_id: str, skill: Skill, project_id: str | None) -> StoredSkill:
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


def _parse_stored(stored: StoredSkill) -> Skill:
    files = tuple(stored.metadata.get("files", ()))
    return parse_skill(
        stored.content, folder=stored.name, origin=stored.origin, path=stored.path, files=files
    )


def _loaded_skills(tables: Tables, agent: Agent) -> list[LoadedSkill]:
    return [
        LoadedSkill(skill=_parse_stored(stored), loaded_at=loaded_at)
        for stored, loaded_at in tables.skills.loaded_by(agent.id)
    ]


def _write_blocks(
    services: Services, tables: Tables, agent: Agent, report: SkillReport, place: RequestPlace
) -> list[Block]:
    """Write the catalogue and the loaded texts; return the blocks that changed."""
    tables.skills.drop_unused()
    catalogue = "\n".join(f"- {skill.name}: {_line(skill.description)}" for skill in report.skills)
    texts = "\n\n".join(_text(loaded.skill) for loaded in _loaded_skills(tables, agent))
    attached = {block.label: block for block in tables.blocks.attached_to(agent.id)}
    changed = []
    for label, value in ((CATALOGUE, redact(catalogue).text), (LOADED, texts)):
        block = attached.get(label)
        if block is None:
            block = default_block(
                DEFAULT_LABELS[label], Owner(Scope.AGENT, agent.id), services.clock
            )
            add_block(tables, block, by=BlockAuthor.SYSTEM, reason="made for skills")
            tables.blocks.attach(agent.id, block)
        if block.scope is not Scope.AGENT:
            continue  # a shared block with that label, which this must not overwrite
        if label == CATALOGUE and place.project is None and block.value:
            continue  # without a project its skills are not listed, but still exist
        if block.value != value:
            changed.append(_write_block(tables, block, value, services.clock.now()))
    return changed


def _write_block(tables: Tables, block: Block, value: str, now: datetime) -> Block:
    # The limit is for edits by hand; the system writes a skill whole.
    if block.limit is not None:
        block = replace(block, limit=max(block.limit, len(value)))
    edited = edit_block(block, replace_all(value), by=BlockAuthor.SYSTEM, at=now)
    save_version(tables, edited, by=BlockAuthor.SYSTEM, reason="the skills changed")
    return edited


def _text(skill: Skill) -> str:
    text = f"# Skill: {skill.name}\n\n{skill.body.strip()}"
    if skill.files and skill.path:
        text += f"\n\nFiles in {Path(skill.path).parent}: {', '.join(skill.files)}"
    return text


def _line(description: str) -> str:
    return " ".join(description.split())

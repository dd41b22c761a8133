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

from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, By, changed, rethink
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
from recollect.engine.learn.draft import draft_skill
from recollect.engine.learn.prompt import (
    MAX_ANSWER_TOKENS,
    SYSTEM,
    draft_from_answer,
    draft_prompt,
)
from recollect.engine.paid import ask_model
from recollect.errors import InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.block_target import known_conversation
from recollect.service.block_writing import add_block, change_of, default_block, keep_version
from recollect.service.deps import Deps
from recollect.service.disk.roots import within_reach
from recollect.service.disk.skill_folders import discover, save_skill
from recollect.service.places import Where, project_root, settle
from recollect.store.protocol import Tables
from recollect.store.values import KeptSkill
from recollect.text.fingerprint import sha256_hex
from recollect.text.redact import redact
from recollect.text.skill_file import name_problem, read_skill, write_skill

CATALOGUE, LOADED = "skills", "loaded_skills"
GLOBAL_FOLDER, PROJECT_FOLDER = Path(".letta-memory/skills"), Path(".skills")
MOST_MESSAGES = 10_000  # of a conversation that is learnt from, its last ones
RULES = "rules"

T = TypeVar("T")


def found(deps: Deps, project: Where) -> SkillReport:
    """Return the skills there are for somebody who works in a project."""
    root = project_root(deps.store, project)
    return discover(root and within_reach(root, deps.reach), home=Path.home())


def loaded(deps: Deps, agent: object) -> list[LoadedSkill]:
    """Return the skills an agent has in use, in the order of loading."""
    with deps.store.read() as tables:
        return _loaded(tables, known_agent(tables, agent))


def load(deps: Deps, agent: object, name: object, project: Where) -> LoadedSkill:
    """Give a skill to an agent, as it stands in its folder now."""
    report = found(deps, project)
    skill = _named(report, name)
    now = deps.clock.now()

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        who = known_agent(tables, agent)
        project_id = None
        if skill.origin is SkillOrigin.PROJECT:
            project_id = settle(tables, project, deps.clock).project_id
        kept = _kept(deps.clock.new_id(), skill, project_id)
        for other, _ in tables.skills.loaded(who.id):
            if other.name == skill.name:
                tables.skills.unload(who.id, other.id)
        tables.skills.load(who.id, tables.skills.put(kept, now), now)
        written = _keep_blocks(deps, tables, who, report, project, now)
        return LoadedSkill(skill=skill, loaded_at=now), written

    return _told(deps, *deps.store.write(write))


def unload(deps: Deps, agent: object, name: object, project: Where) -> LoadedSkill:
    """Take a skill from an agent."""
    report = found(deps, project)

    def write(tables: Tables) -> tuple[LoadedSkill, list[Block]]:
        who = known_agent(tables, agent)
        for kept, loaded_at in tables.skills.loaded(who.id):
            if kept.name == name:
                tables.skills.unload(who.id, kept.id)
                written = _keep_blocks(deps, tables, who, report, project, deps.clock.now())
                return LoadedSkill(skill=_skill(kept), loaded_at=loaded_at), written
        names = ", ".join(kept.name for kept, _ in tables.skills.loaded(who.id)) or "none"
        raise NotFound(f"agent {who.name!r} has no skill {name!r} loaded; it has {names}")

    return _told(deps, *deps.store.write(write))


def refresh(deps: Deps, agent: object, project: Where) -> SkillReport:
    """Write an agent's catalogue of skills anew, and take loaded ones as they stand now."""
    report = found(deps, project)
    here = {skill.name: skill for skill in report.skills}
    now = deps.clock.now()

    def write(tables: Tables) -> tuple[SkillReport, list[Block]]:
        who = known_agent(tables, agent)
        for kept, loaded_at in tables.skills.loaded(who.id):
            current = here.get(kept.name)
            if current is not None and (current.origin, current.path) == (kept.origin, kept.path):
                tables.skills.unload(who.id, kept.id)
                anew = _kept(deps.clock.new_id(), current, kept.project_id)
                tables.skills.load(who.id, tables.skills.put(anew, now), loaded_at)
        return report, _keep_blocks(deps, tables, who, report, project, now)

    return _told(deps, *deps.store.write(write))


def learn(
    deps: Deps,
    conversation: object,
    name: object,
    *,
    project: Where,
    title: object = "",
    save: object = "project",
    overwrite: bool = False,
) -> LearntSkill:
    """Draft a skill from a conversation and save it to the project's or the user's folder."""
    if save not in ("project", "global", ""):
        raise InvalidInput(f"save {save!r} is not known; use project, global or '' for nowhere")
    named = inputs.text_of("name", name, most=inputs.MAX_NAME).strip()
    if problem := name_problem(named):
        raise InvalidInput(problem)
    headed = inputs.text_of("title", title, most=inputs.MAX_TITLE)
    with deps.store.read() as tables:
        said = known_conversation(tables, conversation)
        back = tables.messages.page_back(said.id, before=2**53, limit=MOST_MESSAGES)
        home = tables.places.project(said.project_id) if said.project_id else None
    draft, made_by, notes = _draft(deps, back[::-1], named, headed)
    about = {"learnt_from": f"conversation {said.id}", "made_by": made_by}
    content = write_skill(draft.name, draft.description, draft.body, metadata=about)
    path = ""
    if save:
        where = project if project.project or home is None else Where(project=home.name)
        path = str(save_skill(_folder(deps, str(save), where), content, named, overwrite=overwrite))
    return LearntSkill(draft=draft, content=content, path=path, made_by=made_by, notes=notes)


def _draft(
    deps: Deps, messages: Sequence[Message], name: str, title: str
) -> tuple[SkillDraft, str, tuple[str, ...]]:
    notes: tuple[str, ...] = ()
    if deps.desk.asks:
        answer = ask_model(
            deps.desk,
            purpose="skill",
            system=SYSTEM,
            prompt=draft_prompt(messages),
            max_tokens=MAX_ANSWER_TOKENS,
        )
        if answer.text:
            written = draft_from_answer(answer.text, messages, name=name, title=title)
            if written is not None:
                return written, answer.model, notes
        why = answer.why_not or "its answer rested on no message"
        notes = (f"drafted without the language model: {why}",)
    return draft_skill(messages, name=name, title=title), RULES, notes


def _folder(deps: Deps, save: str, where: Where) -> Path:
    if save == "global":
        return within_reach(Path.home() / GLOBAL_FOLDER, deps.reach)
    root = project_root(deps.store, where)
    if root is None or not within_reach(root, deps.reach).is_dir():
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


def _kept(skill_id: str, skill: Skill, project_id: str | None) -> KeptSkill:
    content = redact(skill.content, keep_lines=True).text
    return KeptSkill(
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


def _skill(kept: KeptSkill) -> Skill:
    files = kept.metadata.get("files", ())
    return read_skill(
        kept.content, folder=kept.name, origin=kept.origin, path=kept.path, files=tuple(files)
    )


def _loaded(tables: Tables, agent: Agent) -> list[LoadedSkill]:
    return [
        LoadedSkill(skill=_skill(kept), loaded_at=loaded_at)
        for kept, loaded_at in tables.skills.loaded(agent.id)
    ]


def _keep_blocks(
    deps: Deps,
    tables: Tables,
    agent: Agent,
    report: SkillReport,
    project: Where,
    now: datetime,
) -> list[Block]:
    """Write both blocks as they should be; return those that changed."""
    tables.skills.drop_unused()
    catalogue = "\n".join(f"- {one.name}: {_line(one.description)}" for one in report.skills)
    texts = "\n\n".join(_text(one.skill) for one in _loaded(tables, agent))
    attached = {block.label: block for block in tables.blocks.attached(agent.id)}
    written = []
    for label, value in ((CATALOGUE, redact(catalogue).text), (LOADED, texts)):
        block = attached.get(label)
        if block is None:
            block = default_block(DEFAULT_LABELS[label], Owner(Scope.AGENT, agent.id), deps.clock)
            add_block(tables, block, by=By.SYSTEM, reason="made for skills")
            tables.blocks.attach(agent.id, block)
        if block.scope is not Scope.AGENT:
            continue  # shared under that label: it is not ours to write
        if label == CATALOGUE and project.project is None and block.value:
            continue  # seen from nowhere, a project's skills are missing, not gone
        if block.value != value:
            written.append(_write_block(tables, block, value, now))
    return written


def _told(deps: Deps, result: T, written: Sequence[Block]) -> T:
    """Tell listeners of the blocks that changed, now that they are on disk."""
    for block in written:
        deps.listeners.tell(change_of(block, By.SYSTEM))
    return result


def _write_block(tables: Tables, block: Block, value: str, now: datetime) -> Block:
    # A skill is as long as it is: the limit is for those who write by hand.
    roomy = block if block.limit is None else replace(block, limit=max(block.limit, len(value)))
    kept = changed(roomy, rethink(value), by=By.SYSTEM, at=now)
    keep_version(tables, kept, by=By.SYSTEM, reason="the skills changed")
    return kept


def _text(skill: Skill) -> str:
    text = f"# Skill: {skill.name}\n\n{skill.body.strip()}"
    if skill.files and skill.path:
        text += f"\n\nFiles in {Path(skill.path).parent}: {', '.join(skill.files)}"
    return text


def _line(description: str) -> str:
    return " ".join(description.split())

"""
Read the records of an agent's file, one function for each kind, refusing what could not be stored.

What the database would refuse in the middle of an import is refused here with its place in the
file: an id used twice, a name of nothing, a block over its limit. The archive is in
own_archive.py.
"""

from recollect.domain.agent import Agent
from recollect.domain.block import Block, BlockVersion, By, check_limit
from recollect.domain.conversation import CompactionMode, Conversation, Message, Pin, Role, Summary
from recollect.domain.project import Project, Repo
from recollect.domain.scope import Scope
from recollect.domain.skill import SkillOrigin
from recollect.domain.source import Source
from recollect.errors import InvalidInput
from recollect.service import inputs
from recollect.service.agents import MAX_PROMPT
from recollect.service.block_target import label_of
from recollect.service.moving.given_json import Given
from recollect.service.moving.parts import BlockParts, ConversationParts, SkillParts
from recollect.store.values import StoredSkill
from recollect.text.fingerprint import sha256_hex

MAX_PATH = 4_096


class Known:
    """What the file has named so far."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self.sources: dict[str, Source] = {}

    def new(self, given: Given, kind: str) -> str:
        """Return the id of a record, which nothing before it had."""
        found = given.id()
        if found in self._kinds:
            given.refuse("id", f"{found!r} is the id of another {self._kinds[found]} already")
        self._kinds[found] = kind
        return found

    def needed(self, given: Given, name: str, kind: str) -> str:
        """Return the id a field names, which must be that of a record of *kind*."""
        found = given.id(name)
        if self._kinds.get(found) != kind:
            given.refuse(name, f"names {kind} {found!r}, which the file does not hold")
        return found

    def named(self, given: Given, name: str, kind: str) -> str | None:
        """Return the same, or None where the field is null."""
        return None if given.raw(name) is None else self.needed(given, name, kind)


def agent(given: Given, known: Known) -> Agent:
    """Read the agent itself."""
    found = Agent(
        id=known.new(given, "agent"),
        name=given.name("name"),
        description=given.text("description", inputs.MAX_SUMMARY),
        model=given.text("model", inputs.MAX_NAME),
        system_prompt=given.text("system_prompt", MAX_PROMPT),
        metadata=given.mapping("metadata"),
        created_at=given.moment("created_at"),
        updated_at=given.moment("updated_at"),
    )
    given.done()
    return found


def project(given: Given, known: Known) -> Project:
    """Read a project something of the agent belongs to."""
    return Project(
        id=known.new(given, "project"),
        name=_place_name(given),
        created_at=given.moment("created_at"),
    )


def repo(given: Given, known: Known) -> Repo:
    """Read a repo something of the agent belongs to."""
    return Repo(
        id=known.new(given, "repo"),
        project_id=known.needed(given, "project_id", "project"),
        name=_place_name(given),
        remote=given.text("remote", MAX_PATH),
        root="",
        created_at=given.moment("created_at"),
    )


def _place_name(given: Given) -> str:
    """Read the name of a project or repo, which may be a whole path where nothing else was free."""
    name = given.text("name", MAX_PATH)
    if not name.strip():
        given.refuse("name", "is empty; a place is known by its name")
    return name


def blocks(given: Given, known: Known, scopes: set[Scope]) -> tuple[BlockParts, ...]:
    """Read the blocks of an agent or a conversation, no two of one label."""
    found: list[BlockParts] = []
    labels: set[str] = set()
    for one in given.objects("blocks"):
        kept = _block(one.object("block"), known, scopes)
        if kept.label in labels:
            one.refuse("block.label", f"{kept.label!r} is the label of another block already")
        labels.add(kept.label)
        found.append(BlockParts(kept, _versions(one, kept)))
        one.done()
    return tuple(found)


def _block(given: Given, known: Known, scopes: set[Scope]) -> Block:
    scope = given.choice("scope", Scope)
    if scope not in scopes:
        given.refuse("scope", f"is {scope}; here it is one of {', '.join(sorted(scopes))}")
    given.raw("limit")
    found = Block(
        id=known.new(given, "block"),
        label=checked_label(given),
        value=given.text("value", inputs.MAX_CONTENT),
        description=given.text("description", inputs.MAX_CONTENT),
        limit=given.count("limit", least=1, most=inputs.MAX_CONTENT)
        if given.has("limit")
        else None,
        read_only=given.flag("read_only"),
        hidden=given.flag("hidden"),
        scope=scope,
        version=given.count("version", least=1),
        metadata=given.mapping("metadata"),
        created_at=given.moment("created_at"),
        updated_at=given.moment("updated_at"),
    )
    try:
        check_limit(found.value, found.limit)
    except InvalidInput as error:
        given.refuse("value", str(error))
    given.done()
    return found


def checked_label(given: Given) -> str:
    """Read a label that a prompt's tags can carry."""
    try:
        return label_of(given.raw("label"))
    except InvalidInput as error:
        given.refuse("label", str(error))


def _versions(given: Given, kept: Block) -> tuple[BlockVersion, ...]:
    found: list[BlockVersion] = []
    for one in given.objects("versions"):
        version = BlockVersion(
            block_id=kept.id,
            version=one.count("version", least=1),
            value=one.text("value", inputs.MAX_CONTENT),
            by=one.choice("by", By),
            reason=one.text("reason", inputs.MAX_SUMMARY),
            changed_at=one.moment("changed_at"),
        )
        if found and version.version <= found[-1].version:
            one.refuse("version", "does not come after the one before it")
        found.append(version)
        one.done()
    if not found or (found[-1].version, found[-1].value) != (kept.version, kept.value):
        given.refuse("versions", "must end with the block's present version and value")
    return tuple(found)


def conversation(given: Given, known: Known) -> ConversationParts:
    """Read a conversation with everything in it."""
    said = given.object("conversation")
    kept = Conversation(
        id=known.new(said, "conversation"),
        project_id=known.named(said, "project_id", "project"),
        repo_id=known.named(said, "repo_id", "repo"),
        title=said.text("title", inputs.MAX_TITLE),
        metadata=said.mapping("metadata"),
        started_at=said.moment("started_at"),
        ended_at=said.optional_moment("ended_at"),
    )
    said.done()
    summaries = tuple(_summary(one, kept.id, known) for one in given.objects("summaries"))
    messages: list[Message] = []
    for one in given.objects("messages"):
        message = _message(one, kept.id, known, {summary.id for summary in summaries})
        if messages and message.position <= messages[-1].position:
            one.refuse("position", "does not come after the one before it")
        messages.append(message)
    return ConversationParts(
        conversation=kept,
        summaries=summaries,
        messages=tuple(messages),
        pins=tuple(_pin(one, kept.id, known) for one in given.objects("pins")),
        blocks=blocks(given, known, {Scope.SESSION}),
    )


def _message(given: Given, conversation_id: str, known: Known, summaries: set[str]) -> Message:
    summary_id = known.named(given, "summary_id", "summary")
    if summary_id is not None and summary_id not in summaries:
        given.refuse("summary_id", "names a summary of another conversation")
    parts = None if given.raw("parts") is None else given.values("parts")
    found = Message(
        id=known.new(given, "message"),
        conversation_id=conversation_id,
        position=given.count("position"),
        role=given.choice("role", Role),
        content=given.text("content", inputs.MAX_CONTENT),
        parts=parts,
        tool_calls=given.values("tool_calls"),
        tool_call_id=given.text("tool_call_id", inputs.MAX_NAME),
        name=given.text("name", inputs.MAX_NAME),
        tokens=given.count("tokens"),
        pinned=given.flag("pinned"),
        summary_id=summary_id,
        metadata=given.mapping("metadata"),
        created_at=given.moment("created_at"),
    )
    given.done()
    return found


def _summary(given: Given, conversation_id: str, known: Known) -> Summary:
    found = Summary(
        id=known.new(given, "summary"),
        conversation_id=conversation_id,
        mode=given.choice("mode", CompactionMode),
        content=given.text("content", inputs.MAX_CONTENT),
        first_position=given.count("first_position"),
        last_position=given.count("last_position"),
        tokens=given.count("tokens"),
        made_by=given.text("made_by", inputs.MAX_NAME),
        created_at=given.moment("created_at"),
    )
    given.done()
    return found


def _pin(given: Given, conversation_id: str, known: Known) -> Pin:
    found = Pin(
        id=known.new(given, "pin"),
        conversation_id=conversation_id,
        kind=given.name("kind"),
        content=given.text("content", inputs.MAX_CONTENT),
        active=given.flag("active"),
        pinned_at=given.moment("pinned_at"),
    )
    given.done()
    return found


def skill(given: Given, known: Known) -> SkillParts:
    """Read a skill in use."""
    told = given.object("skill")
    content = told.text("content", inputs.MAX_CONTENT)
    found = StoredSkill(
        id="",
        name=told.name("name"),
        description=told.text("description", inputs.MAX_SUMMARY),
        origin=told.choice("origin", SkillOrigin),
        project_id=known.named(told, "project_id", "project"),
        path="",
        content=content,
        sha256=sha256_hex(content),
        metadata=told.mapping("metadata"),
    )
    told.done()
    return SkillParts(found, given.moment("loaded_at"))

"""Verbs about blocks: labelled text that is always in context."""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from recollect.app.agents import AgentLike
from recollect.app.given import BlockSettings, Editing, InPlace, Moment, Verbs, known_names, path_of
from recollect.app.given import Place as Project
from recollect.domain import block as edits
from recollect.domain.block import DEFAULT_LIMIT, Block, BlockChange, BlockHit, BlockVersion
from recollect.domain.conversation import Conversation
from recollect.errors import InvalidInput
from recollect.service import block_history, block_search, blocks
from recollect.service.block_target import ById, ByLabel, Place, Target
from recollect.service.inputs import plain_text_of

Label = str | Block


class BlockVerbs(Verbs):
    """
    Verbs about blocks.

    A block is named by an agent and a label, with the project or conversation for those that belong
    to one; where the agent is None, *label* is a block or its id. Edits take `expected_version`
    (refused with both values if somebody was faster), `by` (user, agent, system) and `reason`.
    """

    def create_block(
        self,
        label: str,
        value: str = "",
        *,
        agent: AgentLike | None = None,
        scope: str | None = None,
        project: Project = None,
        conversation: Conversation | str | None = None,
        description: str = "",
        limit: int | None = DEFAULT_LIMIT,
        read_only: bool = False,
        hidden: bool = False,
        metadata: Mapping[str, Any] | None = None,
        by: str = "user",
    ) -> Block:
        """Make a block of an agent, a project, a conversation, or (scope global) of everybody."""
        return blocks.create(
            self._deps,
            label,
            value,
            place=Place(agent=agent, project=path_of(project), conversation=conversation),
            scope=scope,
            description=description,
            limit=limit,
            read_only=read_only,
            hidden=hidden,
            metadata=metadata,
            by=by,
        )

    def blocks(
        self,
        agent: AgentLike | None = None,
        *,
        project: Project = None,
        conversation: Conversation | str | None = None,
    ) -> list[Block]:
        """Return the blocks an agent sees, in the order of its prompt; every block without one."""
        place = Place(agent=agent, project=path_of(project), conversation=conversation)
        return blocks.blocks(self._deps, place)

    def block(self, agent: AgentLike | None, label: Label, **where: Unpack[InPlace]) -> Block:
        """Return one block; takes project and conversation."""
        return blocks.block(self._deps, _target(agent, label, where))

    def set_block(
        self, agent: AgentLike | None, label: Label, value: str, **how: Unpack[Editing]
    ) -> Block:
        """Rethink a block: put *value* in place of all it said."""
        return self._edit(agent, label, edits.rethink(plain_text_of("value", value)), how)

    def append_block(
        self, agent: AgentLike | None, label: Label, text: str, **how: Unpack[Editing]
    ) -> Block:
        """Add *text* to a block as further lines."""
        return self._edit(agent, label, edits.append(plain_text_of("text", text)), how)

    def replace_in_block(
        self, agent: AgentLike | None, label: Label, old: str, new: str, **how: Unpack[Editing]
    ) -> Block:
        """Put *new* in place of *old*, which must occur exactly once."""
        # What is stored holds no secrets, so what is looked for need not either.
        wanted = edits.replace_once(plain_text_of("old", old), plain_text_of("new", new))
        return self._edit(agent, label, wanted, how)

    def insert_in_block(
        self,
        agent: AgentLike | None,
        label: Label,
        text: str,
        line: int = -1,
        **how: Unpack[Editing],
    ) -> Block:
        """Insert *text* after *line* lines of a block: 0 is the beginning, -1 the end."""
        if isinstance(line, bool) or not isinstance(line, int):
            raise InvalidInput(f"line must be a whole number, not {line!r}")
        return self._edit(agent, label, edits.insert_at(line, plain_text_of("text", text)), how)

    def update_block(
        self, agent: AgentLike | None, label: Label, **changes: Unpack[BlockSettings]
    ) -> Block:
        """Change a block's settings: takes new_label, description, limit, read_only, hidden, …"""
        where, rest = _parted(changes, _PLACE)
        how, settings = _parted(rest, _HOW)
        if "new_label" in settings:
            settings["label"] = settings.pop("new_label")
        return blocks.update(self._deps, _target(agent, label, where), settings, **how)

    def block_history(
        self, agent: AgentLike | None, label: Label, **where: Unpack[InPlace]
    ) -> list[BlockVersion]:
        """Return every value a block has had, oldest first: who set it, when, why."""
        return block_history.history(self._deps, _target(agent, label, where))

    def block_diff(
        self,
        agent: AgentLike | None,
        label: Label,
        older: int,
        newer: int | None = None,
        **where: Unpack[InPlace],
    ) -> str:
        """Return what changed between two versions, as a unified diff."""
        return block_history.diff(self._deps, _target(agent, label, where), older, newer)

    def rollback_block(
        self, agent: AgentLike | None, label: Label, version: int, **how: Unpack[Editing]
    ) -> Block:
        """Give a block the value it had at a version; that is a new version itself."""
        where, rest = _parted(how, _PLACE)
        return block_history.rollback(
            self._deps, _target(agent, label, where), version, **_known(rest)
        )

    def attach_block(self, agent: AgentLike, block: Label) -> Block:
        """Share a global block with an agent."""
        return blocks.attach(self._deps, agent, block)

    def detach_block(self, agent: AgentLike, label: str) -> Block:
        """Take a shared block from an agent; the block stays."""
        return blocks.detach(self._deps, agent, label)

    def delete_block(
        self, agent: AgentLike | None, label: Label, **where: Unpack[InPlace]
    ) -> Block:
        """Remove a block with its history, for every agent that has it."""
        return blocks.delete(self._deps, _target(agent, label, where))

    def block_changes(
        self, agent: AgentLike | None, since: Moment, **where: Unpack[InPlace]
    ) -> list[BlockChange]:
        """Return what changed after a moment in the blocks an agent sees, in any process."""
        return block_history.changes(self._deps, Place(agent=agent, **_known_places(where)), since)

    def blocks_mark(self, agent: AgentLike | None, **where: Unpack[InPlace]) -> str:
        """Return a mark that changes whenever what an agent sees in its blocks does, anywhere."""
        return block_history.mark(self._deps, Place(agent=agent, **_known_places(where)))

    def on_block_change(self, listener: Callable[[BlockChange], None]) -> Callable[[], None]:
        """Tell *listener* of every change made by this memory; return how to stop that."""
        return self._deps.listeners.subscribe(listener)

    def search_blocks(
        self, query: str, *, agent: AgentLike, limit: int = 10, **where: Unpack[InPlace]
    ) -> list[BlockHit]:
        """Return the blocks an agent sees that answer *query*, best first."""
        place = Place(agent=agent, **_known_places(where))
        return block_search.search(self._deps, query, place, limit=limit)

    def _edit(
        self, agent: AgentLike | None, label: Label, edit: edits.Edit, how: Mapping[str, Any]
    ) -> Block:
        where, rest = _parted(how, _PLACE)
        return blocks.edit(self._deps, _target(agent, label, where), edit, **_known(rest))


def _target(agent: AgentLike | None, label: Label, where: Mapping[str, Any]) -> Target:
    places = _known_places(where)
    if agent is None and not any(places.values()):
        return ById(label)
    return ByLabel(Place(agent=agent, **places), label.label if isinstance(label, Block) else label)


_PLACE = ("project", "conversation")
_HOW = ("by", "expected_version", "reason")


def _parted(
    given: Mapping[str, Any], names: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is given under *names*, and the rest."""
    taken = {name: value for name, value in given.items() if name in names}
    return taken, {name: value for name, value in given.items() if name not in names}


def _known_places(where: Mapping[str, Any]) -> dict[str, Any]:
    found = known_names(where, frozenset(_PLACE))
    return {**found, "project": path_of(found.get("project"))}


def _known(how: Mapping[str, Any]) -> dict[str, Any]:
    return known_names(how, frozenset(_HOW))

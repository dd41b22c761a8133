"""The inbox: candidates that wait for a decision."""

from recollect.api.arguments import AgentLike, Moment, Place, Texts
from recollect.api.verb_group import VerbGroup
from recollect.domain.maintenance import InboxItem
from recollect.domain.memory import Memory
from recollect.wire.requests import inbox as requests


class Inbox(VerbGroup):
    """Review candidates that wait for a decision."""

    def decide(
        self, memory_ids: Texts, verdict: str, *, reason: str = "", by: str = "user"
    ) -> list[Memory]:
        """
        Decide about candidates and the duplicates grouped with them, all or none.

        *verdict* is `keep` (active), `replace` (active, and the memory it contradicts becomes
        superseded), `reject` (archived) or `merge` (archived, and the active memory that says the
        same gets its quotes). Return every memory that changed, the named one first; `undo` of that
        one reverts all of them, except after `merge`: undo each. *by* is user or agent, for the
        history.
        """
        return self._send(requests.DecideRequest, locals())

    def promote(
        self,
        memory_ids: Texts,
        *,
        reason: str = "",
        replaces: bool = False,
        scope: str | None = None,
    ) -> list[Memory]:
        """Make candidates active, all or none; `scope="global"` shows them to all agents."""
        return self._send(requests.PromoteManyRequest, locals())

    def reject(self, memory_ids: Texts, reason: str = "") -> list[Memory]:
        """Archive candidates with the reason, all or none."""
        return self._send(requests.RejectManyRequest, locals())

    def undo(self, memory_ids: Texts) -> list[Memory]:
        """Undo the last status change of each memory, all or none."""
        return self._send(requests.UndoManyRequest, locals())

    def order(self) -> list[str]:
        """
        Return the ids of all candidates in the order of `list`, without reading the candidates.

        Duplicates are not grouped. With `items`, a large inbox is reviewed page by page.
        """
        return self._send(requests.ReviewOrderRequest, locals())

    def items(self, memory_ids: Texts) -> list[InboxItem]:
        """
        Return some candidates as `list` does; what is not in the inbox any more is left out.

        *duplicates* are found among the candidates with the most similar words; `number` and `of`
        are 0.
        """
        return self._send(requests.InboxItemsRequest, locals())

    def list(
        self,
        *,
        grouped: bool = True,
        limit: int = 50,
        project: Place = None,
        repo: Place = None,
        agent: AgentLike | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        everywhere: bool = True,
    ) -> list[InboxItem]:
        """
        Return the candidates in review order: grouped, the most certain first, without duplicates.

        Each item says why it waits, which memories it contradicts, who said it, and which other
        candidates say the same. Two candidates that contradict each other are one item, the newer
        one, and `replace` decides both. *limit* counts items without their duplicates; `number`
        and `of` say how many there are. With `grouped=False` each candidate is an item, newest
        first.
        """
        return self._send(requests.ListInboxRequest, locals())

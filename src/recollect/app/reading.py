"""Verbs that read: search, context, explanation, saved searches."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Unpack

from recollect.app.given import Asking, Moment, Place, Texts, Verbs, path_of, question_of
from recollect.domain.agent import Agent
from recollect.domain.context import Bundle
from recollect.domain.conversation import Conversation
from recollect.domain.memory import Memory
from recollect.domain.project import Project
from recollect.domain.retrieval import Hit, MemoryExplanation, Retrieval, View, WhyNot
from recollect.domain.scope import Viewer
from recollect.service import briefing, context, read, views
from recollect.service.places import Where


class Reading(Verbs):
    """Verbs that read: search, context, explanation, saved searches."""

    def search(
        self,
        query: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: str | None = None,
        session: str | None = None,
        scopes: Texts | None = None,
        types: Texts | None = None,
        statuses: Texts | None = None,
        tags: Texts = (),
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
        everywhere: bool = False,
    ) -> list[Hit]:
        """Return the memories that answer *query*, best first, each with its reasons."""
        where = Where.of(path_of(project), path_of(repo), agent, session)
        asked = read.question(
            query,
            where=where,
            scopes=scopes,
            types=types,
            statuses=statuses,
            tags=tags,
            since=since,
            until=until,
            asked_at=asked_at,
            limit=limit,
            everywhere=everywhere,
        )
        return read.search(self._deps, asked)

    def context_for(
        self,
        task: str,
        *,
        project: Place = None,
        repo: Place = None,
        agent: Agent | str | None = None,
        session: str | None = None,
        conversation: Conversation | str | None = None,
        file: str | PathLike[str] | None = None,
        budget_tokens: int = 2_000,
        model: str = "",
        shares: Mapping[str, float] | None = None,
        form: str = "tags",
        line_numbers: bool = False,
        metadata: bool = True,
        history: bool = True,
        message_limit: int = context.MESSAGES,
        in_sight: Sequence[str] = (),
        asked_at: Moment = None,
    ) -> Bundle:
        """
        Return what an agent should know for *task*, cited, within a token budget.

        With an agent come its system prompt and blocks, with a *conversation* its summary, pins and
        last messages, with a *file* what is known of it. *shares* divides the budget anew (system,
        blocks, history, relevant, margin); *form* is tags or markdown; tokens are those of *model*.
        *history* False is for who sends the conversation himself: then its last messages and its
        summary stay out, and none of it is recalled. *message_limit* earlier messages at most are;
        those that say just what is *in_sight*, since the model sees it anyway, are left out.
        """
        where = Where.of(path_of(project), path_of(repo), agent, session)
        wanted = context.request(
            task,
            where=where,
            agent=agent,
            conversation=conversation,
            file=None if file is None else fspath(file),
            model=model,
            budget_tokens=budget_tokens,
            shares=None if shares is None else dict(shares),
            form=form,
            line_numbers=line_numbers,
            metadata=metadata,
            history=history,
            message_limit=message_limit,
            in_sight=in_sight,
            asked_at=asked_at,
        )
        return context.context_for(self._deps, wanted)

    def viewer(self, *, project: Place = None, agent: Agent | str | None = None) -> Viewer:
        """Return who asks from there, by ids; what is unknown sees nothing of its own."""
        return read.viewer(self._deps, Where.of(path_of(project), None, agent, None))

    def briefing(
        self,
        *,
        project: Place = None,
        repo: Place = None,
        agent: Agent | str | None = None,
        session: str | None = None,
        budget_tokens: int = 1_500,
        form: str = "tags",
        model: str = "",
    ) -> Bundle:
        """
        Return what an agent should know when a session begins, before anything is asked.

        The newest facts, decisions, open points and sessions of this place, and the project's
        blocks, cited, within a token budget. *form* is tags or markdown; tokens are those of
        *model*.
        """
        where = Where.of(path_of(project), path_of(repo), agent, session)
        wanted = briefing.request(where=where, budget_tokens=budget_tokens, form=form, model=model)
        return briefing.briefing(self._deps, wanted)

    def get(self, memory_id: str) -> Memory:
        """Return one memory."""
        return read.get(self._deps, memory_id)

    def memories(self, **asked: Unpack[Asking]) -> list[Memory]:
        """Return the newest memories; takes the places and filters of `search`."""
        return read.newest(self._deps, question_of("", asked))

    def explain(self, some_id: str) -> MemoryExplanation | Retrieval:
        """Return everything known about a memory, or about a logged retrieval."""
        return read.explain(self._deps, some_id)

    def why_not(self, memory_id: str, query: str, **asked: Unpack[Asking]) -> WhyNot:
        """Return why a memory does not come for *query*; takes what `search` takes."""
        return read.why_not(self._deps, memory_id, question_of(query, asked))

    def why_nothing(self, query: str, **asked: Unpack[Asking]) -> WhyNot:
        """Return what came nearest to *query*, and why it is not shown; takes `search`'s."""
        return read.why_nothing(self._deps, question_of(query, asked))

    def projects(self) -> list[Project]:
        """Return every project of the store."""
        with self._deps.store.read() as tables:
            return tables.places.projects()

    def save_view(self, name: str, query: str, **asked: Unpack[Asking]) -> View:
        """Keep a search under a name; takes what `search` takes."""
        return views.save_view(self._deps, name, question_of(query, asked))

    def views(self) -> list[View]:
        """Return every saved search."""
        return views.views(self._deps)

    def run_view(self, name: str) -> list[Hit]:
        """Run a saved search."""
        return views.run_view(self._deps, name)

    def delete_view(self, name: str) -> None:
        """Remove a saved search."""
        views.delete_view(self._deps, name)

"""
Decide what goes with a forgotten memory: which words, and where they are.

The words are the statement, its quotes and its distinctive words (text/forgotten_words.py). A word
is distinctive if it is uncommon in general and hardly used elsewhere: no other memory, block or
file has it, and few messages, sources and documents. Words that another active memory says stay,
and the receipt names it; it names documents, too, if a word stays because many of them have it.

Candidates and archived or superseded memories that say the same go too, and so do undecided edits
of the memory's vault page. A session record (an
episode) stays without the words. Nothing is written here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import groupby

from recollect.domain.link import Relation
from recollect.domain.memory import UNREVIEWED, Memory, MemoryType, Status
from recollect.domain.scope import ItemKind, Scope
from recollect.lazy_dataclass import dataclass
from recollect.service.outside_candidates import VAULT_WRITER
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.store.values import TextCell
from recollect.text.forgotten_words import ForgottenWords, phrases_of, uncommon_words

_SIMILAR_CONTENT = frozenset({Relation.SUPPORTS, Relation.SUPERSEDES})

# A word that more of these have is a topic, not a trace of one statement.
MAX_MESSAGES = 8
MAX_CONVERSATIONS = 2
MAX_SOURCES = 4
MAX_DOCUMENTS = 4
NAMED_DOCUMENTS = 20  # in a receipt, of those that keep a word

FORGOTTEN_STATUSES = UNREVIEWED | {Status.ARCHIVED, Status.SUPERSEDED}
REDACTED_TABLES = (
    "messages",
    "summaries",
    "pins",
    "conversations",
    "block_history",
    "block_proposals",
    "blocks",
    "memory_changes",
    "memory_links",
    "sources",
    "ingestion_events",
    "jobs",
    "model_calls",
    "documents",
    "runs",
)
# The marker would not fit into a block that is full.
UNMARKED_TABLES = frozenset({"blocks", "block_history", "block_proposals"})
# Texts that are made of others, or always in a prompt: the receipt names each that is rewritten.
REWRITTEN_TABLES: Mapping[str, str] = {
    "summaries": "summary {}",
    "blocks": "block {}",
    "pins": "pin {}",
    "conversations": "title of conversation {}",
}
# Texts that a person wrote elsewhere or as a setting: they are named, not changed.
REPORTED_TABLES: Mapping[str, str] = {
    "agents": "agent {}: its description or settings have the words; change them",
    "skills": "skill {}: has the words; it is a copy of a file on disk",
    "files": "file {}: has the words; `recollect file forget` removes what is stored of it",
    "projects": "project {}: has the words in its name",
}


@dataclass(frozen=True, kw_only=True)
class ForgetPlan:
    """What is removed with a memory, by id, and a line for each thing that stays."""

    memory: Memory
    words: ForgottenWords
    memory_ids: tuple[str, ...]  # that go, the memory itself last
    record_ids: tuple[str, ...]  # session records that are redacted
    texts: tuple[tuple[TextCell, ...], ...]  # that have the words, those of one row together
    source_ids: tuple[str, ...]
    retrieval_ids: tuple[str, ...]
    view_names: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def rewritten(self) -> tuple[str, ...]:
        """A line for each session record, summary, block, pin and title that loses the words."""
        cells = [row[0] for row in self.texts if row[0].table in REWRITTEN_TABLES]
        lines = [REWRITTEN_TABLES[cell.table].format(cell.key[0]) for cell in cells]
        return (*(f"session record {record_id}" for record_id in self.record_ids), *lines)


def plan_forgetting(tables: Tables, memory_id: str) -> ForgetPlan:
    """Find everything that has the words of a memory."""
    memory = require_memory(tables, memory_id)
    statement = ForgottenWords(phrases_of(statement_texts(memory)))
    others = [
        other for other in _memories_that_say(tables, statement, memory) if not _is_record(other)
    ]
    earlier_ids = _earlier_versions(tables, memory)
    going = {other.id for other in others if _is_forgotten_too(other, memory)}
    going |= _undecided_vault_edits(tables, memory)
    staying = [other for other in others if other.id not in going]
    uncommon = _unshared_words(tables, memory, {memory.id, *going, *earlier_ids})
    in_documents = _documents_with(tables, uncommon)
    distinctive = {word for word in uncommon if len(in_documents[word]) <= MAX_DOCUMENTS}
    words = ForgottenWords(_unshared_phrases(memory, staying), frozenset(distinctive))
    with_words = _memories_that_say(tables, words, memory)
    going |= {other.id for other in with_words if other.id in earlier_ids}
    deleted_ids = {memory.id, *going}
    return ForgetPlan(
        memory=memory,
        words=words,
        memory_ids=(*sorted(going), memory.id),
        record_ids=tuple(
            other.id for other in with_words if _is_record(other) and other.id not in deleted_ids
        ),
        texts=tuple(_texts_with(tables, words, deleted_ids)),
        source_ids=tuple(
            source_id for source_id, content in tables.texts.sources() if words.occur_in(content)
        ),
        retrieval_ids=tuple(retrievals_with(tables, words, deleted_ids)),
        view_names=tuple(views_with(tables, words)),
        kept=(
            *_named_lines(tables, words),
            *_document_lines(
                tables, [in_documents[word] for word in uncommon if word not in distinctive]
            ),
            *_similar_lines(tables, memory, staying, deleted_ids),
        ),
    )


def statement_texts(memory: Memory) -> list[str]:
    """Return what a memory says."""
    quotes = (evidence.quote for evidence in memory.evidence)
    return [text for text in (memory.content, *quotes, memory.rationale) if text]


def without_words(words: ForgottenWords, cell: TextCell) -> TextCell:
    """Return a cell without *words*."""
    if cell.is_json:
        return cell.with_text(words.removed_from_json(cell.text))
    if cell.table in UNMARKED_TABLES:
        return cell.with_text(words.removed_from(cell.text, marker=""))
    return cell.with_text(words.removed_from(cell.text))


def has_words(words: ForgottenWords, cell: TextCell) -> bool:
    """Return whether a cell has any of *words*."""
    if not cell.is_json:
        return words.occur_in(cell.text)
    return words.may_occur_in(cell.text) and without_words(words, cell).value != cell.value


def retrievals_with(tables: Tables, words: ForgottenWords, deleted_ids: Set[str]) -> Iterator[str]:
    """Yield the ids of logged retrievals with one of *deleted_ids*, or *words* in the query."""
    met = {
        some_id
        for some_id, ids in tables.retrievals.result_ids()
        if not deleted_ids.isdisjoint(ids)
    }
    with_words = {
        some_id for some_id, query in tables.retrievals.queries() if words.occur_in(query)
    }
    yield from sorted(met | with_words)


def views_with(tables: Tables, words: ForgottenWords) -> Iterator[str]:
    """Yield the names of the saved searches that have *words*."""
    for view in tables.retrievals.views():
        texts = (view.name, view.query, *map(str, view.asking.values()))
        if any(words.occur_in(text) for text in texts):
            yield view.name


def _is_forgotten_too(other: Memory, memory: Memory) -> bool:
    """Return whether *other* is a candidate or an old version of the same statement."""
    says_all = ForgottenWords(phrases_of([memory.content])[:1]).occur_in(other.content)
    is_same = says_all or other.content == memory.content
    is_in_reach = memory.scope is Scope.GLOBAL or other.project_id == memory.project_id
    if not other.is_reviewed and is_in_reach and (is_same or _quotes_same_words(other, memory)):
        return True  # the statement that the memory was made of, also if it was edited or moved
    return is_same and other.status in FORGOTTEN_STATUSES and other.owner == memory.owner


def _quotes_same_words(other: Memory, memory: Memory) -> bool:
    """Return whether two memories rest on overlapping words of one source."""
    return any(
        first.source_id == second.source_id
        and first.start < second.end
        and second.start < first.end
        for first in other.evidence
        for second in memory.evidence
    )


def _earlier_versions(tables: Tables, memory: Memory) -> set[str]:
    """Return the ids of the memories that were merged into this one or replaced by it."""
    links = tables.links.of_memory(memory.id)
    similar = [link for link in links if link.relation in _SIMILAR_CONTENT]
    ids = {end for link in similar for end in (link.from_id, link.to_id)} - {memory.id}
    inactive = (Status.ARCHIVED, Status.SUPERSEDED)
    return {other.id for other in tables.memories.get_many(sorted(ids)) if other.status in inactive}


def _undecided_vault_edits(tables: Tables, memory: Memory) -> set[str]:
    """Return the ids of the candidates that edits of the memory's vault page became."""
    ids = {
        link.from_id
        for link in tables.links.of_memory(memory.id)
        if link.relation is Relation.CONTRADICTS and link.to_id == memory.id
    }
    return {
        other.id
        for other in tables.memories.get_many(sorted(ids))
        if not other.is_reviewed
        and any(change.by == VAULT_WRITER for change in tables.memories.changes(other.id)[:1])
    }


def _is_record(memory: Memory) -> bool:
    return memory.type is MemoryType.EPISODE


def _memories_that_say(tables: Tables, words: ForgottenWords, memory: Memory) -> list[Memory]:
    ids = {
        str(cell.key[0]) for cell in tables.texts.cells("memories") if has_words(words, cell)
    } - {memory.id}
    return tables.memories.get_many(sorted(ids))


def _unshared_phrases(memory: Memory, staying: Sequence[Memory]) -> tuple[str, ...]:
    texts = [text for other in staying for text in (other.content, other.title, other.summary)]
    return tuple(
        phrase
        for phrase in phrases_of(statement_texts(memory))
        if not any(ForgottenWords((phrase,)).occur_in(text) for text in texts)
    )


def _unshared_words(tables: Tables, memory: Memory, deleted_ids: Collection[str]) -> frozenset[str]:
    """Return the uncommon words of a memory that are hardly used elsewhere, documents aside."""
    texts = [*statement_texts(memory), memory.title, memory.summary, *memory.alternatives]
    words = [
        word
        for word in uncommon_words([*texts, *memory.tags])
        if _is_hardly_used(tables, word, deleted_ids)
    ]
    counts = dict.fromkeys(words, 0)
    for _, content in tables.texts.sources() if words else ():
        lower = content.lower()
        for word in words:
            counts[word] += word in lower
    return frozenset(word for word, count in counts.items() if count <= MAX_SOURCES)


def _documents_with(tables: Tables, words: Collection[str]) -> Mapping[str, Set[str]]:
    """Return the ids of the documents that have each word."""
    ids: dict[str, set[str]] = {word: set() for word in words}
    patterns = {word: ForgottenWords(words=frozenset({word})) for word in words}
    for cell in tables.texts.cells("documents") if words else ():
        for word, pattern in patterns.items():
            if has_words(pattern, cell):
                ids[word].add(str(cell.key[0]))
    return ids


def _is_hardly_used(tables: Tables, word: str, deleted_ids: Collection[str]) -> bool:
    items = tables.texts.items_with(word, limit=4 * MAX_MESSAGES + len(deleted_ids))
    others = [
        item for item in items if item.id not in deleted_ids and item.kind is not ItemKind.DOCUMENT
    ]
    messages = [item for item in others if item.kind is ItemKind.MESSAGE]
    memories = [item.id for item in others if item.kind is ItemKind.MEMORY]
    if len(messages) + len(memories) < len(others):
        return False  # a block or a file has it
    if not all(map(_is_record, tables.memories.get_many(memories))):
        return False
    conversations = {item.conversation_id for item in messages}
    return len(messages) <= MAX_MESSAGES and len(conversations) <= MAX_CONVERSATIONS


def _texts_with(
    tables: Tables, words: ForgottenWords, deleted_ids: Collection[str]
) -> Iterator[tuple[TextCell, ...]]:
    for table in REDACTED_TABLES:
        for key, row in groupby(tables.texts.cells(table), lambda cell: cell.key):
            cells = tuple(cell for cell in row if has_words(words, cell))
            if cells and not (table == "memory_changes" and key[0] in deleted_ids):
                yield cells


def _named_lines(tables: Tables, words: ForgottenWords) -> list[str]:
    lines: dict[str, None] = {}
    for table, line in REPORTED_TABLES.items():
        for cell in tables.texts.cells(table):
            if has_words(words, cell):
                lines[line.format(cell.key[0])] = None
    return list(lines)


def _document_lines(tables: Tables, ids_by_word: Sequence[Set[str]]) -> Iterator[str]:
    """Yield a line for each document that keeps a word because many documents have it."""
    ids = sorted({document_id for some_ids in ids_by_word for document_id in some_ids})
    for document in tables.documents.get_many(ids[:NAMED_DOCUMENTS]):
        place = "/".join((*document.namespace, document.key))
        yield f"document {place}: has a word of the memory, as many documents do; change it"
    if len(ids) > NAMED_DOCUMENTS:
        yield f"{len(ids) - NAMED_DOCUMENTS:,} more documents have such a word; search for it"


def _similar_lines(
    tables: Tables, memory: Memory, staying: Sequence[Memory], deleted_ids: Collection[str]
) -> list[str]:
    ids = {other.id for other in staying} | _earlier_versions(tables, memory) - set(deleted_ids)
    return [
        f"memory {other.id} ({other.status}) says much the same; forget it too if it should go"
        for other in tables.memories.get_many(sorted(ids))
    ]

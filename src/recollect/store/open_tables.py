"""Open the repositories and indexes of a database connection."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection
from recollect.store.indexes.hybrid_search_index import HybridSearchIndex
from recollect.store.indexes.vector_index import VectorIndex
from recollect.store.indexes.word_index import WordIndex
from recollect.store.indexes.word_tokenizer import WordTokenizer
from recollect.store.protocol import Tables
from recollect.store.repositories.agents import AgentRepository
from recollect.store.repositories.blocks import BlockRepository
from recollect.store.repositories.clients import ClientRepository
from recollect.store.repositories.conversations import ConversationRepository
from recollect.store.repositories.documents import DocumentRepository
from recollect.store.repositories.embeddings import EmbeddingRepository
from recollect.store.repositories.files import FileRepository
from recollect.store.repositories.idempotency_keys import IdempotencyKeyRepository
from recollect.store.repositories.indexed_items import IndexedItemReader
from recollect.store.repositories.jobs import JobRepository
from recollect.store.repositories.links import LinkRepository
from recollect.store.repositories.memories import MemoryRepository
from recollect.store.repositories.messages import MessageRepository
from recollect.store.repositories.projects import ProjectRepository
from recollect.store.repositories.retrievals import RetrievalRepository
from recollect.store.repositories.runs import RunRepository
from recollect.store.repositories.skills import SkillRepository
from recollect.store.repositories.sleeptime_runs import SleeptimeRunRepository
from recollect.store.repositories.sources import SourceRepository
from recollect.store.repositories.stored_texts import StoredTextRepository
from recollect.store.repositories.team import TeamRepository
from recollect.store.repositories.tombstones import TombstoneRepository
from recollect.store.repositories.tool_calls import ToolCallRepository
from recollect.store.repositories.unfinished_work import UnfinishedWorkRepository

if TYPE_CHECKING:
    # For the type checker only: it loads NumPy.
    from recollect.store.indexes.bit_code_index import BitCodeIndex

Connection = TypeVar("Connection", bound=DatabaseConnection)


@dataclass(frozen=True, kw_only=True)
class OpenTables(Tables, Generic[Connection]):
    """The tables of one connection, and what the store itself needs of it."""

    connection: Connection
    word_index: WordIndex


def index_sizes(code_indexes: "Iterable[BitCodeIndex]") -> tuple[int, int]:
    """Return how many bytes the codes and the cached vectors of some models take."""
    sizes = [index.sizes() for index in list(code_indexes)]
    return sum(codes for codes, _ in sizes), sum(vectors for _, vectors in sizes)


def open_tables(
    connection: Connection,
    tokenizer: WordTokenizer,
    code_indexes: "dict[int, BitCodeIndex]",
) -> OpenTables[Connection]:
    """Return the tables of a connection; *code_indexes* are shared by those of one store."""
    word_index = WordIndex(connection, tokenizer)
    items = IndexedItemReader(connection, word_index)
    vectors = VectorIndex(connection, code_indexes)
    return OpenTables(
        connection=connection,
        projects=ProjectRepository(connection),
        agents=AgentRepository(connection),
        blocks=BlockRepository(connection, word_index),
        conversations=ConversationRepository(connection),
        messages=MessageRepository(connection, word_index),
        runs=RunRepository(connection),
        sleeptime_runs=SleeptimeRunRepository(connection),
        skills=SkillRepository(connection),
        files=FileRepository(connection, word_index),
        documents=DocumentRepository(connection, word_index),
        sources=SourceRepository(connection),
        memories=MemoryRepository(connection, word_index),
        jobs=JobRepository(connection),
        links=LinkRepository(connection),
        retrievals=RetrievalRepository(connection),
        clients=ClientRepository(connection),
        idempotency_keys=IdempotencyKeyRepository(connection),
        unfinished_work=UnfinishedWorkRepository(connection),
        tombstones=TombstoneRepository(connection),
        tool_calls=ToolCallRepository(connection),
        team=TeamRepository(connection),
        texts=StoredTextRepository(connection, word_index, items),
        word_index=word_index,
        search_index=HybridSearchIndex(connection, word_index, vectors),
        embeddings=EmbeddingRepository(connection, items),
    )

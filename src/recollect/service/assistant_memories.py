"""Take the answer of another assistant, in which it lists its memories, as candidates."""

from recollect.domain.limits import MAX_CONTENT
from recollect.domain.maintenance import Imported
from recollect.domain.memory import MemoryType, Status
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, TooLarge
from recollect.service.outside_candidates import add_candidate, add_outside_source
from recollect.service.services import Services
from recollect.service.write_memory import draft_memory
from recollect.store.protocol import Tables
from recollect.text.assistant_answer import AnswerEntry, parse_answer
from recollect.text.clean_text import clean
from recollect.text.redact import redact
from recollect.wire.requests.captures import AddAssistantMemoriesRequest
from recollect.wire.requests.recollect import IngestRequest

WRITER = "import"
MAX_CHARS = 2_000_000


def add_assistant_memories(services: Services, request: AddAssistantMemoriesRequest) -> Imported:
    """Store an answer as one source, and each entry in it as a candidate."""
    text = redact(clean(request.answer)).text
    if len(text) > MAX_CHARS:
        raise TooLarge(f"the answer has {len(text):,} characters; the limit is {MAX_CHARS:,}")
    entries = list(parse_answer(text))
    if not entries:
        raise InvalidInput(
            "there is no entry in this answer. Each entry is a line that begins with `- `; "
            "`recollect import assistant` prints the prompt to ask for it"
        )

    def write(tables: Tables) -> Imported:
        source = add_outside_source(
            services, tables, text, services.clock.now(), f"Memories of {request.assistant}"
        )
        added = 0
        for entry in entries:
            candidate = add_candidate(
                services,
                tables,
                draft_memory(_request_of(entry, request)),
                memory_id=services.clock.new_id(),
                by=WRITER,
                reason=f"listed by {request.assistant}",
                source=source,
                span=(entry.start, entry.end),
            )
            added += candidate is not None
        return Imported(
            added={"memories": added} if added else {},
            unchanged=len(entries) - added,
            trusted=False,
        )

    return services.store.write(write)


def _request_of(entry: AnswerEntry, request: AddAssistantMemoriesRequest) -> IngestRequest:
    is_project = entry.heading.startswith("project")
    fields = {
        "content": entry.text[:MAX_CONTENT],
        "type": MemoryType.PROJECT if is_project else MemoryType.PROFILE,
        "status": Status.INBOX,
        "observed_at": entry.stored_at,
        "tags": [request.assistant],
    }
    if request.project is not None and is_project:
        place = {"project": request.project, "scope": Scope.PROJECT}
    else:
        place = {"scope": Scope.GLOBAL}
    return IngestRequest.of({**fields, **place})

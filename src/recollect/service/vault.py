"""
Write memories, decisions and blocks as Markdown pages, and capture edits that are made there.

`.recollect-vault.json` records what was written: the id of each page and the hash of its text. A
page with another hash was edited by hand. The edit of a memory becomes a candidate that quotes the
page and contradicts the memory, so that `promote --replace` puts it in its place; the edit of a
block becomes a proposal; a page without an id becomes a candidate. An edited page is not
overwritten before the edit is decided about. A page that is deleted there is written again: a
folder that is synchronised or cleaned up must not forget anything. Nor must it bring back what was
forgotten: a page with the id of that is removed, whatever its name and its words.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from recollect.client.atomic_file import atomic_file
from recollect.clock import derived_id
from recollect.domain.block import Block, ProposalState, replace_all
from recollect.domain.link import Relation
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.retrieval import Filters
from recollect.domain.scope import Scope
from recollect.domain.vault_report import VaultReport
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import InvalidInput, StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.service.block_proposals import add_proposal
from recollect.service.outside_candidates import VAULT_WRITER, add_candidate
from recollect.service.place_lookup import PlaceIds
from recollect.service.services import Services
from recollect.service.write_memory import draft_memory
from recollect.store.protocol import Tables
from recollect.text.redact import redact
from recollect.text.vault_page import VaultPage, file_name, parse_page, render_page
from recollect.wire.requests.recollect import IngestRequest

STATE_FILE = ".recollect-vault.json"
MAX_PAGES = 100_000
MAX_PAGE_BYTES = 1_000_000
_MAX_WRITTEN_BYTES = 100_000_000  # no page that was written here is larger
_FOLDERS = ("memories", "decisions", "blocks")


@dataclass
class _PageRecord:
    """What the vault knows of one page."""

    id: str
    written: str  # hash of the text that was written
    captured: str = ""  # hash of an edit that is captured
    proposal: str = ""  # id of the candidate or of the proposal that it became


@dataclass
class _Vault:
    """A folder and the record of its pages."""

    folder: Path
    pages: dict[str, _PageRecord] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()  # ids of what a person forgot or deleted
    proposed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def write_vault(services: Services, folder: Path, *, plain: bool = False) -> VaultReport:
    """Capture the edits in *folder*, and bring its pages up to date."""
    file = services.store.file
    if file is not None and file.is_encrypted and not plain:
        raise InvalidInput(
            "the store is encrypted, and the pages of a vault are not. Pass --plain (plain=True) "
            "to write them anyway"
        )
    vault = _open_or_create(folder)
    with services.store.read() as tables:
        vault.deleted = frozenset(tombstone.id for tombstone in tables.tombstones.all())
    for name, content in _edited_pages(vault):
        services.store.write(partial(_capture, services, vault, name, content))
        _save(vault)
    with services.store.read() as tables:
        undecided = {
            name
            for name, page in vault.pages.items()
            if page.captured and _is_undecided(tables, page)
        }
        pages = dict(_rendered_pages(tables))
    written, unchanged = _write_pages(vault, pages, undecided)
    removed = _remove_pages(vault, pages, undecided)
    _save(vault)
    return VaultReport(
        folder=str(folder),
        written=written,
        unchanged=unchanged,
        removed=removed,
        proposed=tuple(vault.proposed),
        notes=tuple(vault.notes),
    )


def _open_or_create(folder: Path) -> _Vault:
    """Create the folders and read the state file; raise if that file is damaged."""
    state = folder / STATE_FILE
    for name in _FOLDERS:
        if (folder / name).is_symlink():
            raise InvalidInput(
                f"{folder / name} is a link, and a vault writes and removes files only inside its "
                "own folder. Replace it by a folder"
            )
    try:
        for name in _FOLDERS:
            (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        if not state.exists():
            return _Vault(folder)
        if not state.is_file():
            raise ValueError("it is not a file")
        pages = json.loads(state.read_text(encoding="utf-8"))["pages"]
        return _Vault(folder, {_page_name(name): _PageRecord(**pages[name]) for name in pages})
    except OSError as error:
        raise StoreUnavailable(f"cannot write a vault to {folder}: {error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(
            f"{state} is damaged: {error}. Delete it: then pages with an id are compared again"
        ) from error


def _page_name(name: str) -> str:
    """
    Return *name* if it is the name of a page; raise `ValueError` if not.

    Whoever shares the folder can write the state file, and its pages are removed: it must not name
    a file elsewhere.
    """
    kind, _, file = name.partition("/")
    if kind not in _FOLDERS or not file.endswith(".md") or Path(file).name != file:
        raise ValueError(f"{name!r} is not the name of a page in {', '.join(_FOLDERS)}")
    return name


def _save(vault: _Vault) -> None:
    pages = {name: vars(page) for name, page in sorted(vault.pages.items())}
    with atomic_file(vault.folder / STATE_FILE) as file:
        file.write(json.dumps({"recollect": "vault", "pages": pages}, indent=1).encode())


def _edited_pages(vault: _Vault) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each page that is not as it was written or captured."""
    paths = [path for name in _FOLDERS for path in sorted((vault.folder / name).glob("*.md"))]
    for path in paths[:MAX_PAGES]:
        name = f"{path.parent.name}/{path.name}"
        if path.is_symlink() or not path.is_file():
            kind = "a link" if path.is_symlink() else "not a file"
            vault.notes.append(f"{name} was not read: it is {kind}. Replace it by a file")
            continue
        if path.stat().st_size > MAX_PAGE_BYTES:
            vault.notes.append(
                f"{name} was not read: it is larger than {MAX_PAGE_BYTES:,} bytes. Shorten it"
            )
            continue
        content = path.read_bytes()
        page = vault.pages.get(name)
        if page is None or _hash(content) not in (page.written, page.captured):
            yield name, content


def _capture(services: Services, vault: _Vault, name: str, content: bytes, tables: Tables) -> None:
    page = parse_page(content.decode("utf-8", errors="replace"))
    page_id = page.id or (vault.pages[name].id if name in vault.pages else "")
    record = vault.pages.get(name) or _PageRecord(id=page_id, written="")
    vault.pages[name] = record
    record.captured = _hash(content)
    if page_id in vault.deleted:
        vault.notes.append(f"{name} was removed: it is a page of something that was forgotten")
        return
    if not page.words.strip():
        vault.notes.append(f"{name} is empty; use `recollect forget` to remove a memory")
        return
    if name.startswith("blocks/"):
        block = tables.blocks.get(page_id) if page_id else None
        record.proposal = _propose_block(services, tables, vault, name, page, block)
    else:
        memory = tables.memories.get(page_id) if page_id else None
        record.proposal = _propose_memory(services, tables, page, memory, page_id)
    if record.proposal:
        vault.proposed.append(name)


def _propose_block(
    services: Services,
    tables: Tables,
    vault: _Vault,
    name: str,
    page: VaultPage,
    block: Block | None,
) -> str:
    if block is None:
        vault.notes.append(
            f"{name}: no block has this id. Create one with `recollect block create`, and move the "
            "text there"
        )
        return ""
    words = redact(page.words).text
    if words.rstrip() == block.value.rstrip():
        return ""
    return add_proposal(
        tables,
        services.clock,
        block,
        replace_all(words),
        author=VAULT_WRITER,
        reason="edited in the vault",
    )


def _propose_memory(
    services: Services, tables: Tables, page: VaultPage, memory: Memory | None, page_id: str
) -> str:
    """Store the words of a page as a candidate; return its id, '' if they are known."""
    if memory is not None and page.words.rstrip() == memory.content.rstrip():
        return ""
    draft = draft_memory(_request_of(page, memory))
    candidate_id = services.clock.new_id()
    if memory is not None:
        candidate_id = derived_id(page_id, f"vault {_hash(page.words.encode())}", 0)
        if tables.memories.get(candidate_id) is not None:
            return candidate_id
    candidate = add_candidate(
        services,
        tables,
        draft if memory is None else replace(draft, scope=memory.scope),
        memory_id=candidate_id,
        by=VAULT_WRITER,
        reason="edited in the vault" if memory is not None else "written in the vault",
        place=None if memory is None else _place_ids(memory),
    )
    if candidate is None:
        return ""
    if memory is not None:
        writer = AuditedWriter(tables, services.clock, VAULT_WRITER)
        writer.link(candidate.id, Relation.CONTRADICTS, memory.id, note="edited in the vault")
    return candidate.id


def _request_of(page: VaultPage, memory: Memory | None) -> IngestRequest:
    fields: dict[str, Any] = {"content": page.words, "status": Status.INBOX}
    if memory is not None:  # whose place is used as it is
        fields |= {"type": memory.type, "tags": memory.tags, "scope": Scope.GLOBAL}
        return IngestRequest.of(fields)
    kind = page.fields.get("type")
    if kind in {kind.value for kind in MemoryType}:
        fields["type"] = kind
    scope = Scope.GLOBAL
    for narrower in (Scope.PROJECT, Scope.REPO, Scope.AGENT):
        name = page.fields.get(narrower.value)
        if isinstance(name, str) and name.strip():
            fields[narrower.value], scope = name, narrower
    return IngestRequest.of({**fields, "scope": scope})


def _place_ids(memory: Memory) -> PlaceIds:
    return PlaceIds(
        project_id=memory.project_id,
        repo_id=memory.repo_id,
        agent_id=memory.agent_id,
        session_id=memory.session_id,
    )


def _place_fields(tables: Tables, memory: Memory) -> Mapping[str, str]:
    """Return the names of the place of a memory, and its scope."""
    fields = {"scope": memory.scope.value}
    if memory.project_id and (project := tables.projects.project(memory.project_id)):
        fields["project"] = project.identity
    if memory.repo_id and (repo := tables.projects.repo(memory.repo_id)):
        fields["repo"] = repo.name
    if memory.agent_id and (agent := tables.agents.get(memory.agent_id)):
        fields["agent"] = agent.name
    return fields


def _is_undecided(tables: Tables, page: _PageRecord) -> bool:
    """Return whether nobody has decided about the edit of a page yet."""
    candidate = tables.memories.get(page.proposal) if page.proposal else None
    if candidate is not None:
        return candidate.status is Status.INBOX
    proposal = tables.blocks.proposal(page.proposal) if page.proposal else None
    return proposal is not None and proposal.state is ProposalState.PENDING


def _rendered_pages(tables: Tables) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name of each page with the id of its record and its text."""
    active = Filters(statuses=frozenset({Status.ACTIVE}))
    for memory in tables.memories.newest(None, active, MAX_PAGES):
        kind = "decisions" if memory.type is MemoryType.DECISION else "memories"
        name = f"{kind}/{file_name(memory.title or memory.content, memory.id)}"
        yield name, (memory.id, _memory_page(tables, memory))
    for block in tables.blocks.all():
        if not block.hidden and block.value.strip():
            name = f"blocks/{file_name(block.label, block.id)}"
            yield name, (block.id, _block_page(block))


def _memory_page(tables: Tables, memory: Memory) -> str:
    fields: dict[str, Any] = {"id": memory.id, "type": memory.type.value}
    fields |= _place_fields(tables, memory)
    if memory.title:
        fields["title"] = memory.title
    if memory.tags:
        fields["tags"] = list(memory.tags)
    fields["observed"] = f"{memory.observed_at:%Y-%m-%d}"
    quotes = [evidence.quote for evidence in memory.evidence]
    return render_page(fields, memory.content, reason=memory.rationale, quotes=quotes)


def _block_page(block: Block) -> str:
    fields = {"id": block.id, "block": block.label, "scope": block.scope.value}
    fields["version"] = str(block.version)
    return render_page(fields, block.value, reason=block.description)


def _write_pages(
    vault: _Vault, pages: Mapping[str, tuple[str, str]], undecided: set[str]
) -> tuple[int, int]:
    written = unchanged = 0
    undecided_ids = {vault.pages[name].id for name in undecided}
    for name, (record_id, text) in pages.items():
        content = text.encode()
        path = vault.folder / name
        page = vault.pages.get(name)
        if record_id in undecided_ids:
            vault.notes.append(f"{name} has an edit that waits in the inbox; it was left alone")
            continue
        is_current = page is not None and page.written == _hash(content) and not page.captured
        if is_current and path.exists():
            unchanged += 1
            continue
        with atomic_file(path) as file:
            file.write(content)
        vault.pages[name] = _PageRecord(id=record_id, written=_hash(content))
        written += 1
    return written, unchanged


def _remove_pages(vault: _Vault, pages: Mapping[str, tuple[str, str]], undecided: set[str]) -> int:
    """Remove the pages of what is not active any more, and those whose words were decided about."""
    outdated = [name for name in vault.pages if name not in pages and name not in undecided]
    removed = 0
    for name in outdated:
        page, path = vault.pages[name], vault.folder / name
        is_settled = page.proposal or page.written or page.id in vault.deleted
        if is_settled and _is_as_recorded(path, page):
            path.unlink()
            removed += 1
            del vault.pages[name]
        elif not path.exists():
            del vault.pages[name]
    return removed


def _is_as_recorded(path: Path, page: _PageRecord) -> bool:
    """Return whether a page is a file that nobody changed since it was written or captured."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_WRITTEN_BYTES:
        return False
    return _hash(path.read_bytes()) in (page.written, page.captured)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

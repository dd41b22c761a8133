"""
Open files for agents, and search files by regular expression, words and embedding.

A file is read from disk each time it is shown, and only inside the allowed roots: those of the
request, else the project's folder. The store holds its text without secrets, for search.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollect.domain.file import (
    FileHit,
    FilesReceipt,
    FileWindow,
    GrepPage,
    OpenFile,
    files_to_close,
)
from recollect.domain.scope import ItemKind, Scope, visible_owners
from recollect.errors import InvalidInput, NotFound, RequestRefused
from recollect.retrieval.text_search import rank_texts
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.disk.allowed_roots import (
    file_window,
    read_text,
    real_folders,
    require_readable,
)
from recollect.service.disk.file_walk import FileToSearch, walk
from recollect.service.disk.grep import grep
from recollect.service.disk.safe_read import FileText, read_file
from recollect.service.erase_deleted import request_erasure
from recollect.service.forget import erase_and_list_copies
from recollect.service.forget_traces import ItemsToDelete, remove_traces
from recollect.service.place_lookup import RequestPlace, ensure_place, find_viewer, project_root
from recollect.service.query_snapshot import query_snapshot
from recollect.service.retrieval_log import log_items
from recollect.service.services import Services
from recollect.store.bounded_steps import StepBudget, run_in_steps
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery
from recollect.store.values import OpenFileWindow, StoredFile
from recollect.text.fingerprint import sha256_hex
from recollect.text.glob_matcher import glob_matcher
from recollect.text.redact import redact
from recollect.wire.requests.files import (
    CloseFilesRequest,
    FileRange,
    ForgetFilesRequest,
    GrepFilesRequest,
    IndexFilesRequest,
    ListOpenFilesRequest,
    OpenFilesRequest,
    SearchFilesRequest,
)

MAX_STORED_CHARS = 200_000  # of a file's text
MAX_INDEXED_FILES = 2_000  # of a project
BATCH_FILES = 50  # written in one transaction
EXCERPT_CHARS = 400


def open_files(services: Services, request: OpenFilesRequest) -> list[FileWindow]:
    """Open windows of files for an agent; the least recently used are closed to make room."""
    place = RequestPlace.of(request.project)
    roots = _readable_roots(services, place, request.roots)
    ranges: Sequence[FileRange] = request.requests
    texts = [read_text(lines.path, roots) for lines in ranges]
    windows = [
        file_window(text, offset=lines.offset, length=lines.length)
        for text, lines in zip(texts, ranges, strict=True)
    ]
    paths = [str(text.path) for text in texts]
    now = services.clock.now()

    def write(tables: Tables) -> None:
        agent = require_agent(tables, request.agent)
        project_id = ensure_place(tables, place, services.clock).project_id
        opened = tables.files.open_windows(agent.id)
        to_close = set(files_to_close(_open_files(opened), paths, max_open=request.most_open))
        for window in opened:
            # A file that is opened again, for this project or another, keeps only its new window.
            if request.close_others or window.path in to_close or window.path in paths:
                tables.files.close(agent.id, window.file_id)
        for text, lines in zip(texts, ranges, strict=True):
            file = tables.files.save(_stored_file(services, text, project_id), now)
            new_window = OpenFileWindow(
                file_id=file.id,
                project_id=file.project_id,
                path=file.path,
                root=str(text.root),
                first_line=lines.offset,
                last_line=None if lines.length is None else lines.offset + lines.length,
                last_accessed_at=now,
            )
            tables.files.open(agent.id, new_window)

    services.store.write(write)
    return windows


def list_open_files(services: Services, request: ListOpenFilesRequest) -> list[FileWindow]:
    """Return the open files of an agent, with their current text, least recently used first."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        opened = tables.files.open_windows(agent.id)
    return read_windows(services, opened, roots=request.roots)


def read_windows(
    services: Services, opened: Sequence[OpenFileWindow], *, roots: Sequence[str] = ()
) -> list[FileWindow]:
    """Return open files with their current text; *roots* are the folders they may lie in."""
    windows = []
    for window in opened:
        # It is shown only while it is still in the folder it was opened in.
        length = None if window.last_line is None else window.last_line - window.first_line
        try:
            folders = [
                require_readable(Path(root), services.readable_folders)
                for root in roots or (window.root,)
            ]
            text = read_text(window.path, folders)
            windows.append(file_window(text, offset=window.first_line, length=length))
        except (NotFound, InvalidInput, RequestRefused) as error:
            windows.append(_unreadable_window(window.path, str(error)))
    return windows


def close_files(services: Services, request: CloseFilesRequest) -> list[str]:
    """Close some files of an agent, or all; return their paths."""

    def write(tables: Tables) -> list[str]:
        agent = require_agent(tables, request.agent)
        ids = {window.path: window.file_id for window in tables.files.open_windows(agent.id)}
        paths = ids if request.paths is None else [_open_path(path, ids) for path in request.paths]
        for path in paths:
            tables.files.close(agent.id, ids[path])
        return list(paths)

    return services.store.write(write)


def grep_files(services: Services, request: GrepFilesRequest) -> GrepPage:
    """Search files by regular expression; open files that match count as used just now."""
    roots = _readable_roots(services, RequestPlace.of(request.project), request.roots)
    page = grep(
        request.pattern,
        roots=roots,
        paths=request.paths,
        include=request.include,
        context_lines=request.context_lines,
        offset=request.offset,
    )
    if request.agent is not None and page.matches:
        agent_name, matched = request.agent, {match.path for match in page.matches}

        def touch(tables: Tables) -> None:
            agent = require_agent(tables, agent_name)
            opened = tables.files.open_windows(agent.id)
            ids = [window.file_id for window in opened if window.path in matched]
            tables.files.touch(agent.id, ids, services.clock.now())

        services.store.write(touch)
    return page


def index_files(services: Services, request: IndexFilesRequest) -> int:
    """Store the text of a project's files for search; return how many were read."""
    place = _require_project(request.project)
    roots = _readable_roots(services, place, request.roots)
    project_id = services.store.write(
        lambda tables: ensure_place(tables, place, services.clock).project_id
    )
    texts = _read_files(roots, request.include)
    files = [_stored_file(services, text, project_id) for text in texts]
    now = services.clock.now()

    def save(tables: Tables, batch: Sequence[StoredFile]) -> None:
        for file in batch:
            tables.files.save(file, now)

    for start in range(0, len(files), BATCH_FILES):  # other writers get their turn in between
        batch = files[start : start + BATCH_FILES]
        services.store.write(lambda tables, batch=batch: save(tables, batch))  # type: ignore[misc]
    folders = real_folders(roots)

    def delete_missing(tables: Tables) -> None:
        for file_id, path in tables.files.paths_of(project_id or ""):
            is_inside = any(Path(path).is_relative_to(folder) for folder in folders)
            if is_inside and not Path(path).exists():
                _delete(tables, file_id)

    services.store.write(delete_missing)
    return len(files)


def forget_files(services: Services, request: ForgetFilesRequest) -> FilesReceipt:
    """Delete the stored text of a project's files, of all or of some, and what was asked of it."""
    place = _require_project(request.project)
    paths = None if request.paths is None else set(request.paths)

    with services.store.read() as tables:
        viewer = find_viewer(tables, place)
        project_ids = (viewer.project_id or "", *viewer.linked_project_ids)
        file_ids = [
            file_id
            for project_id in project_ids
            for file_id, stored_path in tables.files.paths_of(project_id)
            if paths is None
            or any(stored_path == path or stored_path.endswith(f"/{path}") for path in paths)
        ]
    removed = Counter({"files": len(file_ids)})
    remove_traces(services, ItemsToDelete(frozenset(file_ids)), removed)
    left = list(reversed(file_ids))

    def step(tables: Tables, budget: StepBudget) -> bool:
        request_erasure(tables, services.clock)
        while left and not budget.is_exhausted:
            _delete(tables, left.pop())
            budget.spend(rows=100)
        return bool(left)

    run_in_steps(services.store, step)
    on_disk = ["the files themselves stay on disk, and in the history of their repository"]
    return FilesReceipt(
        forgotten_at=services.clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=(*(on_disk if file_ids else ()), *erase_and_list_copies(services)),
    )


def search_files(services: Services, request: SearchFilesRequest) -> list[FileHit]:
    """Return the stored files that match the query by words and embedding, best first."""
    query = validate.query_of(request.query)
    if not query.strip():
        return []
    place = _require_project(request.project)
    with query_snapshot(services, query) as snapshot:
        tables = snapshot.tables
        owners = visible_owners(find_viewer(tables, place), {Scope.PROJECT})
        index_query = IndexQuery(
            kind=ItemKind.FILE,
            text=query,
            vector=snapshot.vector,
            owners=owners,
            limit=request.limit,
        )
        ranked = rank_texts(tables, index_query)
        files = tables.files.get_many([hit.id for hit in ranked])
    log_items(services, "search_files", query, "file", {hit.id: hit.score for hit in ranked})
    return [
        FileHit(path=file.path, score=hit.score, excerpt=_excerpt(file.content, hit.words))
        for file, hit in zip(files, ranked, strict=True)
    ]


def _readable_roots(
    services: Services, place: RequestPlace, roots: Sequence[str]
) -> tuple[Path, ...]:
    """Return the folders that may be read: *roots*, else the project's folder."""
    folders = [Path(root) for root in roots]
    if not folders:
        root = project_root(services.store, place)
        if root is None:
            raise InvalidInput(
                "which folder may be read? pass roots=[…], or project=PATH for the project's"
            )
        folders = [root]
    return tuple(require_readable(folder, services.readable_folders) for folder in folders)


def _require_project(project: str | None) -> RequestPlace:
    if project is None:
        raise InvalidInput("whose files? pass project=…: stored files belong to a project")
    return RequestPlace.of(project)


def _read_files(roots: Sequence[Path], include: str | None) -> list[FileText]:
    """Return the text files below *roots* that match *include*; other files are skipped."""
    is_included = glob_matcher(include or None)
    texts: list[FileText] = []
    for entry in walk(roots):
        if not isinstance(entry, FileToSearch) or not is_included(entry.name):
            continue
        if len(texts) == MAX_INDEXED_FILES:
            raise InvalidInput(
                f"there are more than {MAX_INDEXED_FILES:,} files; narrow them with include='*.py'"
            )
        text = read_file(entry.path, entry.root)
        if isinstance(text, FileText):
            texts.append(text)
    return texts


def _stored_file(services: Services, text: FileText, project_id: str | None) -> StoredFile:
    # Without a project nobody owns the text: only that the file is open is stored. Twice as many
    # characters are redacted as are stored, so that the cut does not hide half a secret.
    content = ""
    if project_id is not None:
        content = redact(text.text[: 2 * MAX_STORED_CHARS], keep_lines=True).text
        content = content[:MAX_STORED_CHARS]
    return StoredFile(
        services.clock.new_id(), project_id, str(text.path), content, sha256_hex(content)
    )


def _delete(tables: Tables, file_id: str) -> None:
    for file in tables.files.get_many([file_id]):
        tables.files.delete(file)


def _open_files(windows: Sequence[OpenFileWindow]) -> list[OpenFile]:
    return [
        OpenFile(
            path=window.path,
            root="",
            first_line=window.first_line + 1,
            last_line=window.last_line,
            opened_at=window.last_accessed_at,
            last_accessed_at=window.last_accessed_at,
        )
        for window in windows
    ]


def _open_path(path: str, open_paths: Mapping[str, str]) -> str:
    """Return the open path that *path* names, whole or by its end."""
    if path in open_paths:
        return path
    ending = [indexed for indexed in open_paths if indexed.endswith(f"/{path.removeprefix('./')}")]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise InvalidInput(f"{path} may be any of {', '.join(ending)}; write the whole path of one")
    listed = ", ".join(sorted(open_paths)) or "none"
    raise NotFound(f"{path} is not open; open files: {listed}")


def _unreadable_window(path: str, reason: str) -> FileWindow:
    return FileWindow(path=path, first_line=1, last_line=0, total_lines=0, text=f"({reason})")


def _excerpt(content: str, words: Sequence[str]) -> str:
    """Return the text around the first word that matched, or the beginning of the file."""
    lowered = content.lower()
    positions = [at for word in words if (at := lowered.find(word.lower())) >= 0]
    start = max(min(positions, default=0) - EXCERPT_CHARS // 4, 0)
    return content[start : start + EXCERPT_CHARS].strip()

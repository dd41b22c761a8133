"""
Open files: windows an agent has on files, a few at once; search in files by expression and meaning.

A file is read from disk each time it is shown, inside the allowed roots only; what the store keeps
is its text without secrets, for search. The roots are those a caller gives, else the project's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from recollect.domain import limits
from recollect.domain.file import FileHit, FileWindow, GrepPage, OpenFile, files_to_close
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.errors import InvalidInput, NotFound, RequestRefused
from recollect.retrieval.rank_text_items import rank_text_items
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.disk.grep import grep as grep_files
from recollect.service.disk.reading import FileText, read_real
from recollect.service.disk.roots import read_text, real_folders, window_of, within_reach
from recollect.service.disk.walk import Met, walk
from recollect.service.place_lookup import RequestPlace, ensure_place, find_viewer, project_root
from recollect.service.read import log_items, query_vector, refresh_query_vector
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.values import OpenFileWindow, StoredFile
from recollect.text.fingerprint import sha256_hex
from recollect.text.glob_matcher import glob_matcher
from recollect.text.redact import redact
from recollect.wire.requests.files import MOST_OPEN

KEPT_CHARS = 200_000  # of a file's text, for search by meaning
MOST_INDEXED = 2_000  # files of a project
AT_ONCE = 50  # written in one transaction
SHOWN_CHARS = 400


NOWHERE = RequestPlace()


@dataclass(frozen=True, kw_only=True)
class FilePlace:
    """Whose files, and which folders may be read."""

    agent: object = None
    where: RequestPlace = NOWHERE
    roots: tuple[Path, ...] = ()


def roots_of(services: Services, place: FilePlace) -> tuple[Path, ...]:
    """Return the folders that may be read."""
    roots = place.roots
    if not roots:
        root = project_root(services.store, place.where)
        if root is None:
            raise InvalidInput(
                "which folder may be read? pass roots=[…], or project=PATH for the project's"
            )
        roots = (root,)
    return tuple(within_reach(root, services.reach) for root in roots)


def open_files(
    services: Services,
    place: FilePlace,
    requests: Sequence[object],
    *,
    most_open: object = MOST_OPEN,
    close_others: bool = False,
) -> list[FileWindow]:
    """Open windows of files for an agent; the least recently used are closed to make room."""
    most = validate.count_of("most_open", most_open, most=100)
    roots = roots_of(services, place)
    wanted = [_request(request) for request in requests]
    texts = [read_text(path, roots) for path, _, _ in wanted]
    windows = [
        window_of(text, offset=offset, length=length)
        for text, (_, offset, length) in zip(texts, wanted, strict=True)
    ]
    now = services.clock.now()

    def write(tables: Tables) -> None:
        agent = require_agent(tables, place.agent)
        project_id = ensure_place(tables, place.where, services.clock).project_id
        opened = tables.files.open_windows(agent.id)
        here = {one.path: one.file_id for one in opened}
        going = set(files_to_close(_values(opened), [str(text.path) for text in texts], most=most))
        if close_others:
            going = set(here) - {str(text.path) for text in texts}
        for one in opened:
            # A file opened anew, for this project or another, has one window: the new one.
            if one.path in going or one.path in {str(text.path) for text in texts}:
                tables.files.close(agent.id, one.file_id)
        for text, (_, offset, length) in zip(texts, wanted, strict=True):
            kept = tables.files.save(_kept(services, text, project_id), now)
            window = OpenFileWindow(
                file_id=kept.id,
                project_id=kept.project_id,
                path=kept.path,
                root=str(text.root),
                first_line=offset,
                last_line=None if length is None else offset + length,
                last_accessed_at=now,
            )
            tables.files.open(agent.id, window)

    services.store.write(write)
    return windows


def opened(services: Services, place: FilePlace) -> list[FileWindow]:
    """Return what an agent has open, as it stands on disk now, least recently used first."""
    with services.store.read() as tables:
        agent = require_agent(tables, place.agent)
        found = tables.files.open_windows(agent.id)
    windows = []
    for one in found:
        # It is shown only while it still lies in the folder it was opened in.
        length = None if one.last_line is None else one.last_line - one.first_line
        try:
            roots = place.roots or (Path(one.root),)
            text = read_text(one.path, [within_reach(root, services.reach) for root in roots])
            windows.append(window_of(text, offset=one.first_line, length=length))
        except (NotFound, InvalidInput, RequestRefused) as error:
            windows.append(_gone(one.path, str(error)))
    return windows


def close_files(services: Services, place: FilePlace, paths: Sequence[object] | None) -> list[str]:
    """Close some files of an agent, or all; return which."""

    def write(tables: Tables) -> list[str]:
        agent = require_agent(tables, place.agent)
        here = {one.path: one.file_id for one in tables.files.open_windows(agent.id)}
        wanted = list(here) if paths is None else [_open_path(path, here) for path in paths]
        for path in wanted:
            tables.files.close(agent.id, here[path])
        return wanted

    return services.store.write(write)


def grep(services: Services, place: FilePlace, pattern: object, **how: Any) -> GrepPage:
    """Search files by expression; open files that match count as used just now."""
    text = validate.text_of("pattern", pattern, most=1_000)
    page = grep_files(text, roots=roots_of(services, place), **how)
    if place.agent is not None and page.matches:
        matched = {match.path for match in page.matches}
        now = services.clock.now()

        def touch(tables: Tables) -> None:
            agent = require_agent(tables, place.agent)
            ids = [
                one.file_id for one in tables.files.open_windows(agent.id) if one.path in matched
            ]
            tables.files.touch(agent.id, ids, now)

        services.store.write(touch)
    return page


def index(services: Services, place: FilePlace, *, include: str | None = None) -> int:
    """Keep the text of a project's files for search by meaning; return how many were read."""
    _refuse_nowhere(place)
    roots = roots_of(services, place)
    project_id = services.store.write(
        lambda tables: ensure_place(tables, place.where, services.clock).project_id
    )
    kept = [_kept(services, text, project_id) for text in _walked(roots, include)]
    now = services.clock.now()
    for start in range(0, len(kept), AT_ONCE):  # others may write in between
        services.store.write(partial(_put, kept[start : start + AT_ONCE], now))
    reals = real_folders(roots)

    def drop_gone(tables: Tables) -> None:
        for file_id, path in tables.files.paths_of(project_id or ""):
            inside = any(Path(path).is_relative_to(root) for root in reals)
            if inside and not Path(path).exists():
                _drop(tables, file_id)

    services.store.write(drop_gone)
    return len(kept)


def forget(services: Services, place: FilePlace, paths: Sequence[object] | None) -> int:
    """Remove what is kept of a project's files, of all or of some; return how many."""
    _refuse_nowhere(place)
    wanted = None if paths is None else {str(path) for path in paths}

    def write(tables: Tables) -> int:
        project_id = find_viewer(tables, place.where).project_id or ""
        known = tables.files.paths_of(project_id)
        going = [
            file_id
            for file_id, path in known
            if wanted is None or any(path == one or path.endswith(f"/{one}") for one in wanted)
        ]
        for file_id in going:
            _drop(tables, file_id)
        return len(going)

    return services.store.write(write)


def _put(files: Sequence[StoredFile], now: datetime, tables: Tables) -> None:
    for file in files:
        tables.files.save(file, now)


def _drop(tables: Tables, file_id: str) -> None:
    for file in tables.files.get_many([file_id]):
        tables.files.delete(file)


def _refuse_nowhere(place: FilePlace) -> None:
    if place.where.project is None:
        raise InvalidInput("whose files? pass project=…: what is kept of files is its project's")


def search(
    services: Services, place: FilePlace, query: object, *, limit: object = 5
) -> list[FileHit]:
    """Return the files that answer *query*, by words and meaning, among those read before."""
    asked = validate.query_of(query)
    most = validate.count_of("limit", limit, most=limits.MAX_LIMIT)
    if not asked.strip():
        return []
    _refuse_nowhere(place)
    meaning, _ = query_vector(services, asked)
    with services.store.read() as tables:
        meaning = refresh_query_vector(services, tables, asked, meaning)
        owner = Owner(Scope.PROJECT, find_viewer(tables, place.where).project_id or "")
        partitions = tables.word_index.partitions(ItemKind.FILE, [owner])

        def admit(item_ids: Iterable[int]) -> list[_Numbered]:
            return [
                _Numbered(item_id, file_id)
                for item_id, file_id in tables.files.file_ids_of(item_ids).items()
            ]

        ranked = rank_text_items(tables, asked, partitions, admit, meaning, limit=most)
        files = tables.files.get_many([one.item.id for _, one in ranked])
    scores = {candidate.item.id: score for score, candidate in ranked}
    log_items(services, "search_files", asked, "file", scores)
    return [
        FileHit(
            path=file.path,
            score=score,
            excerpt=_excerpt(
                file.content, candidate.word_match.words if candidate.word_match else ()
            ),
        )
        for file, (score, candidate) in zip(files, ranked, strict=True)
    ]


@dataclass(frozen=True)
class _Numbered:
    """A file with the number by which indexes know it."""

    item_id: int
    id: str


def _walked(roots: Sequence[Path], include: str | None) -> list[FileText]:
    """Read the text files below *roots* that are wanted; what is no text is passed over."""
    wanted = glob_matcher(include) if include else None
    texts: list[FileText] = []
    for met in walk(roots):
        if not isinstance(met, Met) or (wanted and not wanted(met.name)):
            continue
        if len(texts) == MOST_INDEXED:
            raise InvalidInput(
                f"there are more than {MOST_INDEXED:,} files; narrow them with include='*.py'"
            )
        read = read_real(met.path, met.root)
        if isinstance(read, FileText):
            texts.append(read)
    return texts


def _request(request: object) -> tuple[str, int, int | None]:
    if isinstance(request, str | Path):
        return str(request), 0, None
    if not isinstance(request, Mapping):
        raise InvalidInput("each file must be a path, or a dict of path, offset and length")
    unknown = sorted(set(request) - {"path", "offset", "length"})
    if unknown or not isinstance(request.get("path"), str | Path):
        raise InvalidInput("each file must be a path, or a dict of path, offset and length")
    offset = validate.count_of("offset", request.get("offset", 0), least=0, most=10**9)
    length = request.get("length")
    checked = None if length is None else validate.count_of("length", length, most=10**9)
    return str(request["path"]), offset, checked


def _kept(services: Services, text: FileText, project_id: str | None) -> StoredFile:
    # Without a project nobody owns its text: only that it is open is noted.
    if project_id is None:
        return StoredFile(services.clock.new_id(), None, str(text.path), "", sha256_hex(""))
    # Twice as much is looked at, so that no secret is cut in half before it is known as one.
    content = redact(text.text[: 2 * KEPT_CHARS], keep_lines=True).text[:KEPT_CHARS]
    return StoredFile(
        services.clock.new_id(), project_id, str(text.path), content, sha256_hex(content)
    )


def _values(opened_now: Sequence[OpenFileWindow]) -> list[OpenFile]:
    return [
        OpenFile(
            path=one.path,
            root="",
            first_line=one.first_line + 1,
            last_line=one.last_line,
            opened_at=one.last_accessed_at,
            last_accessed_at=one.last_accessed_at,
        )
        for one in opened_now
    ]


def _open_path(path: object, here: Mapping[str, str]) -> str:
    wanted = str(path)
    for known in here:
        if known == wanted:
            return known
    ending = [known for known in here if known.endswith(f"/{wanted.removeprefix('./')}")]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise InvalidInput(f"{wanted} may be any of {', '.join(ending)}; name one whole")
    listed = ", ".join(sorted(here)) or "nothing"
    raise NotFound(f"{wanted} is not open; open are {listed}")


def _gone(path: str, why: str) -> FileWindow:
    return FileWindow(path=path, first_line=1, last_line=0, total_lines=0, text=f"({why})")


def _excerpt(content: str, words: Sequence[str]) -> str:
    """Return the lines around the first word that matched, or how the file begins."""
    lowered = content.lower()
    places = [at for word in words if (at := lowered.find(word.lower())) >= 0]
    start = max(min(places, default=0) - SHOWN_CHARS // 4, 0)
    return content[start : start + SHOWN_CHARS].strip()

"""
Open files: windows an agent has on files, a few at once; search in files by expression and meaning.

A file is read from disk each time it is shown, inside the allowed roots only; what the store keeps
is its text without secrets, for search. The roots are those a caller gives, else the project's.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.domain.file import FileHit, FileWindow, GrepPage, OpenFile, to_close
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.errors import InvalidInput, NotFound
from recollect.retrieval.plain import rank_plain
from recollect.service import inputs
from recollect.service.agents import known_agent
from recollect.service.deps import Deps
from recollect.service.disk.grep import grep as grep_files
from recollect.service.disk.reading import FileText, read_real
from recollect.service.disk.roots import read_text, real_folders, window_of
from recollect.service.disk.walk import Met, walk
from recollect.service.places import Where, find, settle
from recollect.service.read import meaning_of
from recollect.service.skills import project_root
from recollect.store.protocol import Tables
from recollect.store.values import KeptFile, OpenWindow
from recollect.text.fingerprint import sha256_hex
from recollect.text.globs import chooser
from recollect.text.redact import redact

MOST_OPEN = 5
KEPT_CHARS = 200_000  # of a file's text, for search by meaning
MOST_INDEXED = 2_000  # files at once
SHOWN_CHARS = 400


NOWHERE = Where()


@dataclass(frozen=True, kw_only=True)
class FilePlace:
    """Whose files, and which folders may be read."""

    agent: object = None
    where: Where = NOWHERE
    roots: tuple[Path, ...] = ()


def roots_of(deps: Deps, place: FilePlace) -> tuple[Path, ...]:
    """Return the folders that may be read."""
    if place.roots:
        return place.roots
    root = project_root(deps, place.where)
    if root is None:
        raise InvalidInput(
            "which folder may be read? pass roots=[…], or project=PATH for the project's"
        )
    return (root,)


def open_files(
    deps: Deps,
    place: FilePlace,
    requests: Sequence[object],
    *,
    most_open: object = MOST_OPEN,
    close_others: bool = False,
) -> list[FileWindow]:
    """Open windows of files for an agent; the least recently used are closed to make room."""
    most = inputs.count_of("most_open", most_open, most=100)
    roots = roots_of(deps, place)
    wanted = [_request(request) for request in requests]
    texts = [read_text(path, roots) for path, _, _ in wanted]
    windows = [
        window_of(text, offset=offset, length=length)
        for text, (_, offset, length) in zip(texts, wanted, strict=True)
    ]
    now = deps.clock.now()

    def write(tables: Tables) -> None:
        agent = known_agent(tables, place.agent)
        project_id = settle(tables, place.where, deps.clock).project_id
        opened = tables.files.opened(agent.id)
        here = {one.path: one.file_id for one in opened}
        going = set(to_close(_values(opened), [str(text.path) for text in texts], most=most))
        if close_others:
            going = set(here) - {str(text.path) for text in texts}
        for one in opened:
            # A file opened anew, for this project or another, has one window: the new one.
            if one.path in going or one.path in {str(text.path) for text in texts}:
                tables.files.close(agent.id, one.file_id)
        for text, (_, offset, length) in zip(texts, wanted, strict=True):
            kept = tables.files.put(_kept(deps, text, project_id), now)
            window = OpenWindow(
                file_id=kept.id,
                project_id=kept.project_id,
                path=kept.path,
                root=str(text.root),
                first_line=offset,
                last_line=None if length is None else offset + length,
                last_accessed_at=now,
            )
            tables.files.open(agent.id, window)

    deps.store.write(write)
    return windows


def opened(deps: Deps, place: FilePlace) -> list[FileWindow]:
    """Return what an agent has open, as it stands on disk now, least recently used first."""
    with deps.store.read() as tables:
        agent = known_agent(tables, place.agent)
        found = tables.files.opened(agent.id)
    windows = []
    for one in found:
        # It is shown only while it still lies in the folder it was opened in.
        length = None if one.last_line is None else one.last_line - one.first_line
        try:
            text = read_text(one.path, place.roots or (Path(one.root),))
            windows.append(window_of(text, offset=one.first_line, length=length))
        except (NotFound, InvalidInput) as error:
            windows.append(_gone(one.path, str(error)))
    return windows


def close_files(deps: Deps, place: FilePlace, paths: Sequence[object] | None) -> list[str]:
    """Close some files of an agent, or all; return which."""

    def write(tables: Tables) -> list[str]:
        agent = known_agent(tables, place.agent)
        here = {one.path: one.file_id for one in tables.files.opened(agent.id)}
        wanted = list(here) if paths is None else [_open_path(path, here) for path in paths]
        for path in wanted:
            tables.files.close(agent.id, here[path])
        return wanted

    return deps.store.write(write)


def grep(deps: Deps, place: FilePlace, pattern: object, **how: Any) -> GrepPage:
    """Search files by expression; open files that match count as used just now."""
    text = inputs.text_of("pattern", pattern, most=1_000)
    page = grep_files(text, roots=roots_of(deps, place), **how)
    if place.agent is not None and page.matches:
        matched = {match.path for match in page.matches}
        now = deps.clock.now()

        def touch(tables: Tables) -> None:
            agent = known_agent(tables, place.agent)
            ids = [one.file_id for one in tables.files.opened(agent.id) if one.path in matched]
            tables.files.touch(agent.id, ids, now)

        deps.store.write(touch)
    return page


def index(deps: Deps, place: FilePlace, *, include: str | None = None) -> int:
    """Keep the text of a project's files for search by meaning; return how many were read."""
    roots = roots_of(deps, place)
    texts = _walked(roots, include)
    reals = real_folders(roots)
    now = deps.clock.now()

    def write(tables: Tables) -> int:
        project_id = settle(tables, place.where, deps.clock).project_id
        for text in texts:
            tables.files.put(_kept(deps, text, project_id), now)
        for file in tables.files.of_project(project_id):
            path = Path(file.path)
            if any(path.is_relative_to(root) for root in reals) and not path.exists():
                tables.files.delete(file)
        return len(texts)

    return deps.store.write(write)


def search(deps: Deps, place: FilePlace, query: object, *, limit: object = 5) -> list[FileHit]:
    """Return the files that answer *query*, by words and meaning, among those read before."""
    asked = inputs.query_of(query)
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    if not asked.strip():
        return []
    meaning, _ = meaning_of(deps, asked)
    with deps.store.read() as tables:
        owners = _owners(tables, place.where)
        shelves = tables.words.shelves(ItemKind.FILE, owners)

        def admit(seqs: Iterable[int]) -> list[_Numbered]:
            return [_Numbered(seq, file_id) for seq, file_id in tables.files.ids_of(seqs).items()]

        ranked = rank_plain(tables, asked, shelves, admit, meaning, limit=most)
        files = tables.files.get_many([one.standing.id for _, one in ranked])
    return [
        FileHit(
            path=file.path,
            score=score,
            excerpt=_excerpt(file.content, candidate.words.words if candidate.words else ()),
        )
        for file, (score, candidate) in zip(files, ranked, strict=True)
    ]


@dataclass(frozen=True)
class _Numbered:
    """A file with the number by which indexes know it."""

    seq: int
    id: str


def _walked(roots: Sequence[Path], include: str | None) -> list[FileText]:
    """Read the text files below *roots* that are wanted; what is no text is passed over."""
    wanted = chooser(include) if include else None
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
    offset = inputs.count_of("offset", request.get("offset", 0), least=0, most=10**9)
    length = request.get("length")
    checked = None if length is None else inputs.count_of("length", length, most=10**9)
    return str(request["path"]), offset, checked


def _kept(deps: Deps, text: FileText, project_id: str | None) -> KeptFile:
    # Twice as much is looked at, so that no secret is cut in half before it is known as one.
    content = redact(text.text[: 2 * KEPT_CHARS], keep_lines=True).text[:KEPT_CHARS]
    return KeptFile(deps.clock.new_id(), project_id, str(text.path), content, sha256_hex(content))


def _values(opened_now: Sequence[OpenWindow]) -> list[OpenFile]:
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
        if known == wanted or known.endswith(f"/{wanted.lstrip('./')}"):
            return known
    listed = ", ".join(sorted(here)) or "nothing"
    raise NotFound(f"{wanted} is not open; open are {listed}")


def _gone(path: str, why: str) -> FileWindow:
    return FileWindow(path=path, first_line=1, last_line=0, total_lines=0, text=f"({why})")


def _owners(tables: Tables, where: Where) -> list[Owner]:
    project_id = find(tables, where).project_id
    return [Owner(Scope.PROJECT, project_id)] if project_id else [Owner(Scope.GLOBAL, "")]


def _excerpt(content: str, words: Sequence[str]) -> str:
    """Return the lines around the first word that matched, or how the file begins."""
    lowered = content.lower()
    places = [at for word in words if (at := lowered.find(word.lower())) >= 0]
    start = max(min(places, default=0) - SHOWN_CHARS // 4, 0)
    return content[start : start + SHOWN_CHARS].strip()

"""
Write the store as an agent memory directory: Markdown files with a MEMORY.md in each folder.

This is the directory draft of the Open Memory Protocol: files at the top are always in an agent's
context, folders are read when needed, and each MEMORY.md says what its folder holds. Shared blocks
are at the top; facts about the user and the memories of each project are in folders below.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.client.atomic_file import atomic_file
from recollect.clock import from_micros
from recollect.errors import InvalidInput, StoreUnavailable
from recollect.service.services import Services
from recollect.text.vault_page import slug

INDEX = "MEMORY.md"
MARK = ".recollect-memory.json"  # in a folder that was written by this program
_SECTIONS = {
    "profile": "profile.md",
    "project": "facts.md",
    "decision": "decisions.md",
    "artifact": "artifacts.md",
    "task_hint": "hints.md",
    "episode": "episodes.md",
}
_TITLES = {
    "profile.md": "About the user",
    "facts.md": "Facts",
    "decisions.md": "Decisions",
    "artifacts.md": "Artifacts",
    "hints.md": "Hints for tasks",
    "episodes.md": "Sessions",
}

Row = Mapping[str, Any]


def write_memory_directory(services: Services, folder: Path, *, plain: bool = False) -> int:
    """Write active memories and shared blocks to *folder*; return how many files were written."""
    file = services.store.file
    if file is not None and file.is_encrypted and not plain:
        raise InvalidInput(
            "the store is encrypted, and a memory directory is not. Pass --plain (plain=True) to "
            "write it anyway"
        )
    pages = _pages(services)
    try:
        _clear(folder)
        for name, text in pages.items():
            path = folder / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with atomic_file(path) as page:
                page.write(text.encode())
        with atomic_file(folder / MARK) as mark:
            mark.write(json.dumps({"recollect": "memory", "files": sorted(pages)}).encode())
    except OSError as error:
        raise StoreUnavailable(f"cannot write a memory directory to {folder}: {error}") from error
    return len(pages)


def _clear(folder: Path) -> None:
    """Remove what was written here before; refuse a folder with files of somebody else."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = folder / MARK
    if not mark.exists():
        if any(folder.iterdir()):
            raise InvalidInput(
                f"{folder} has files that Recollect did not write; name an empty folder"
            )
        return
    for entry in folder.iterdir():
        if entry.is_symlink() or not entry.is_dir():
            if entry.suffix == ".md":
                entry.unlink()
        elif (entry / INDEX).exists():
            shutil.rmtree(entry)


def _pages(services: Services) -> dict[str, str]:
    """Return the text of each file by its name."""
    rows: dict[str, list[Row]] = {"projects": [], "blocks": [], "memories": []}
    for row in services.store.export_rows():
        if row["table"] in rows:
            rows[row["table"]].append(row)
    pages: dict[str, str] = {}
    for block in rows["blocks"]:
        if block["scope"] == "global" and not block["hidden"] and block["value"].strip():
            pages[_unused_name(f"{slug(block['label']) or 'block'}.md", pages)] = (
                f"{block['value'].rstrip()}\n"
            )
    core = sorted(pages)
    active = [row for row in rows["memories"] if row["status"] == "active"]
    pages |= _folder_pages("user", "About the user", [r for r in active if r["scope"] == "global"])
    names: dict[str, str] = {}
    for project in rows["projects"]:
        own = [row for row in active if row["project_id"] == project["id"]]
        name = f"projects/{slug(project['name']) or 'project'}"
        if own:
            name = _unused_name(name, names)
            names[name] = project["name"]
            pages |= _folder_pages(name, project["name"], own)
    if names:
        lines = [f"- [{title}]({Path(name).name}/{INDEX})" for name, title in names.items()]
        pages[f"projects/{INDEX}"] = _index("Projects", lines)
    pages[INDEX] = _index("Memory", list(_top_lines(core, pages)))
    return pages


def _top_lines(core: list[str], pages: Mapping[str, str]) -> Iterator[str]:
    for name in core:
        yield f"- [{Path(name).stem}]({name}): always in context"
    for folder, about in (("user", "what is known about the user"), ("projects", "by project")):
        if f"{folder}/{INDEX}" in pages:
            yield f"- [{folder}]({folder}/{INDEX}): {about}; read it when needed"


def _folder_pages(folder: str, title: str, memories: list[Row]) -> dict[str, str]:
    """Return the files of one folder with its index; none if it has no memories."""
    by_file: dict[str, list[Row]] = {}
    for row in memories:
        by_file.setdefault(_SECTIONS[row["type"]], []).append(row)
    pages = {
        f"{folder}/{name}": _page(_TITLES[name], rows) for name, rows in sorted(by_file.items())
    }
    if pages:
        lines = [
            f"- [{_TITLES[name]}]({name}): {len(rows)} entries"
            for name, rows in sorted(by_file.items())
        ]
        pages[f"{folder}/{INDEX}"] = _index(title, lines)
    return pages


def _page(title: str, memories: list[Row]) -> str:
    lines = [
        _entry(row) for row in sorted(memories, key=lambda row: (row["observed_at"], row["id"]))
    ]
    return f"# {title}\n\n" + "\n".join(lines) + "\n"


def _entry(row: Row) -> str:
    text = " ".join(f"{row['content']}".split())
    reason = f" Reason: {' '.join(row['rationale'].split())}" if row["rationale"] else ""
    return f"- {text}{reason} ({from_micros(row['observed_at']):%Y-%m-%d})"


def _index(title: str, lines: list[str]) -> str:
    return f"# {title}\n\n" + "\n".join(lines or ["Nothing is stored yet."]) + "\n"


def _unused_name(name: str, used_names: Mapping[str, object]) -> str:
    path, number, result = Path(name), 2, name
    while result in used_names or Path(result).name == INDEX:
        result = str(path.with_name(f"{path.stem}-{number}{path.suffix}"))
        number += 1
    return result

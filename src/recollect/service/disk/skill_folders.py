"""
Skills on disk: find them, and write a new one.

A skill is a folder with a SKILL.md. Folders of skills are read in a fixed order, and a later skill
overrides an earlier one of the same name. Files on disk are untrusted (a repository that was just
cloned), so only regular files of bounded size are opened, links that leave their folder are
refused, and nothing is executed. What cannot be read is reported, and the scan continues.
"""

import codecs
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import field, replace
from importlib.resources import files as resources
from pathlib import Path

from recollect.domain.skill import Skill, SkillOrigin, SkillReport
from recollect.errors import AlreadyExists, InvalidInput, StoreUnavailable, TooLarge
from recollect.lazy_dataclass import dataclass
from recollect.text.skill_file import name_problem, parse_skill

FILE = "SKILL.md"
GLOBAL_FOLDERS = (".letta-memory/skills", ".agents/skills", ".claude/skills")
PROJECT_FOLDERS = (".skills", ".agents/skills", ".claude/skills")
MAX_BYTES = 1_048_576
MAX_ENTRIES = 1_000  # skills in one folder
MAX_FILES = 500  # listed of one skill
MAX_DEPTH = 8


@dataclass
class _SkillScan:
    """The skills found so far; of several with one name, the last counts."""

    skills: dict[str, Skill] = field(default_factory=dict)
    overridden: list[Skill] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def add(self, skill: Skill) -> None:
        if skill.name in self.skills:
            self.overridden.append(self.skills[skill.name])
        self.skills[skill.name] = skill

    def report(self) -> SkillReport:
        named = sorted(self.skills.items())
        return SkillReport(
            skills=tuple(skill for _, skill in named),
            overridden=tuple(self.overridden),
            problems=tuple(self.problems),
        )


def discover(project_root: Path | None, *, home: Path | None) -> SkillReport:
    """Return the bundled skills, those of the user's *home*, if any, and of *project_root*."""
    search = _SkillScan()
    _find_bundled(search)
    if home is not None:
        for name in GLOBAL_FOLDERS:
            # A home is its owner's: the folder itself may be a link to anywhere.
            _find_in(search, home / name, SkillOrigin.GLOBAL, within=None)
    if project_root is not None:
        for name in PROJECT_FOLDERS:
            _find_in(search, project_root / name, SkillOrigin.PROJECT, within=project_root)
    return search.report()


def save_skill(folder: Path, text: str, name: str, *, overwrite: bool = False) -> Path:
    """
    Write *text* to `<folder>/<name>/SKILL.md`, complete or not at all, and return its path.

    Raises `AlreadyExists` if the file exists, unless *overwrite* is set.
    """
    if problem := name_problem(name):
        raise InvalidInput(problem)
    content = text.encode("utf-8", "replace")
    if len(content) > MAX_BYTES:
        raise TooLarge(f"the skill {name} has {len(content):,} bytes; the most is {MAX_BYTES:,}")
    target = folder / name / FILE
    if target.parent.is_symlink():
        raise InvalidInput(f"{target.parent} is a link; remove it, or choose another name")
    message = f"there is a skill {name} already, in {target}; choose another name, or overwrite it"
    if not overwrite and os.path.lexists(target):
        raise AlreadyExists(message)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, content, overwrite=overwrite)
    except FileExistsError as error:
        raise AlreadyExists(message) from error
    except (OSError, ValueError) as error:
        raise StoreUnavailable(
            f"cannot write {target}: {error}; choose another folder, or make this one writable"
        ) from error
    return target


def _write(target: Path, content: bytes, *, overwrite: bool) -> None:
    temporary = target.parent / f".{FILE}.{secrets.token_hex(6)}"
    # Not tempfile: its files are for their owner only, and a skill has the mode of any other file.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(temporary, target)
        else:
            _publish(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _publish(temporary: Path, target: Path) -> None:
    """Rename the file to *target*, or raise if *target* was created in the meantime."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        os.replace(temporary, target)


def _find_bundled(search: _SkillScan) -> None:
    package = resources("recollect")
    # The plugin is a folder of its own that may be copied, so its skill lies in it and not here.
    folders = (package.joinpath("skills"), package.joinpath("plugin", "skills"))
    entries = [entry for folder in folders for entry in folder.iterdir()]
    for entry in sorted(entries, key=lambda e: e.name):
        file = entry.joinpath(FILE)
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            search.add(
                parse_skill(text, folder=entry.name, origin=SkillOrigin.BUNDLED, path=str(file))
            )


def _find_in(search: _SkillScan, folder: Path, origin: SkillOrigin, *, within: Path | None) -> None:
    """Add the skills of one *folder*, which must lie *within* another where one is given."""
    try:
        if not os.path.lexists(folder):
            return
        real = folder.resolve(strict=True)
        if within is not None and not real.is_relative_to(within.resolve()):
            search.problems.append(f"{folder} is a link that leads out of {within}; it was skipped")
            return
        if not real.is_dir():
            search.problems.append(f"{folder} is not a folder; no skills were read. Move it away")
            return
        if real in search.seen:
            return  # the home is the project, or one folder is a link to another
        search.seen.add(real)
        names = sorted(name for name in os.listdir(real) if not name.startswith("."))
    except (OSError, RuntimeError, ValueError) as error:
        search.problems.append(
            f"cannot read {folder} ({_error_text(error)}); check its permissions"
        )
        return
    if FILE in names:
        search.problems.append(
            f"{folder / FILE} lies beside the skills; put it into a folder of its own name"
        )
    if len(names) > MAX_ENTRIES:
        search.problems.append(
            f"{folder} has {len(names):,} entries, and only the first {MAX_ENTRIES:,} were read; "
            "remove what is not a skill"
        )
    for name in names[:MAX_ENTRIES]:
        try:
            _find_skill(search, folder / name, real, origin)
        except (OSError, RuntimeError, ValueError) as error:
            search.problems.append(
                f"cannot read {folder / name} ({_error_text(error)}); it was skipped"
            )


def _find_skill(search: _SkillScan, folder: Path, root: Path, origin: SkillOrigin) -> None:
    real = (root / folder.name).resolve(strict=True)
    if not real.is_relative_to(root):
        search.problems.append(
            f"{folder} is a link that leads out of its folder; it was skipped. Copy the skill "
            "there instead"
        )
        return
    if not real.is_dir():
        return  # a README beside the skills
    file = real / FILE
    if not os.path.lexists(file):
        search.problems.append(f"{folder} has no {FILE}; add one, or move the folder elsewhere")
        return
    if not file.resolve(strict=True).is_relative_to(root):
        search.problems.append(
            f"{folder / FILE} is a link that leads out of its folder; it was skipped"
        )
        return
    content = _content(file)
    if isinstance(content, _UnreadSkill):
        search.problems.append(f"{folder / FILE} {content.problem}")
        return
    text, problems = _decode(content)
    names, more = _files_of(real)
    skill = parse_skill(
        text, folder=folder.name, origin=origin, path=str(folder / FILE), files=names
    )
    search.add(replace(skill, problems=(*problems, *skill.problems, *more)))


@dataclass(frozen=True)
class _UnreadSkill:
    """Why a file was not read, in words that follow its name."""

    problem: str


def _content(file: Path) -> bytes | _UnreadSkill:
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):  # reading a pipe would block
        return _UnreadSkill("is not a regular file; it was skipped")
    if status.st_size > MAX_BYTES:
        return _UnreadSkill(
            f"has {status.st_size:,} bytes, the most is {MAX_BYTES:,}; it was skipped. Move parts "
            "of it into files beside it"
        )
    with file.open("rb") as opened:
        return opened.read(MAX_BYTES)


def _decode(content: bytes) -> tuple[str, list[str]]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), ["The file is UTF-16; save it as UTF-8."]
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError as error:
        where = content.count(b"\n", 0, error.start) + 1
        problem = f"The file is not UTF-8 (line {where}), and what is not is shown as U+FFFD; "
        return content.decode("utf-8", "replace"), [problem + "save it as UTF-8."]


def _files_of(folder: Path) -> tuple[tuple[str, ...], list[str]]:
    """Return the other files of a skill, as paths below its folder, and what was left out."""
    names: list[str] = []
    problems: list[str] = []
    for path in _walk(folder, problems, depth=1):
        if len(names) >= MAX_FILES:
            problems.append(
                f"The skill has more than {MAX_FILES} files, and the rest are not listed; keep "
                "only what it needs."
            )
            break
        names.append(path.relative_to(folder).as_posix())
    return tuple(name for name in names if name != FILE), problems


def _walk(
    folder: Path, problems: list[str], *, depth: int, root: Path | None = None
) -> Iterator[Path]:
    root = root or folder
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        below = folder.relative_to(root).as_posix()
        problems.append(
            f"The folder {below} cannot be read ({_error_text(error)}); check permissions."
        )
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_symlink() and not _stays_inside(path, root):
            below = path.relative_to(root).as_posix()
            problems.append(f"{below} is a link that leads out of the skill; it was left out.")
        elif entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
            yield from _walk(path, problems, depth=depth + 1, root=root)
        elif entry.is_file():
            yield path


def _stays_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False  # it leads nowhere, or in a circle


def _error_text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)

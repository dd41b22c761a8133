"""
Move a store to another database: from a file to a PostgreSQL server, or back.

The store of a team is moved with the stores of its users and projects: those first, and the users
last, in one transaction. So the new place refuses every token until everything is there and equal.
A move that was interrupted is run again, and continues. The sources are only read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

from recollect.app.copy_store import (
    Report,
    compare_stores,
    copy_content,
    finish_copy,
    has_rows,
    is_copying,
    start_copy,
)
from recollect.app.local_recollect import key_places
from recollect.app.open_postgres_store import open_postgres_store
from recollect.app.space_stores import open_space, open_space_to_read
from recollect.clock import Clock, SystemClock
from recollect.config import Settings
from recollect.domain.move_report import MoveReport
from recollect.domain.team import Member, TeamProject, User
from recollect.errors import ImportRefused, InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.store.protocol import Store, Tables
from recollect.store.sqlite.store import SqliteStore


@dataclass(frozen=True, kw_only=True)
class DirectoryRows:
    """The users with the hashes of their tokens, and the projects with their members."""

    users: Sequence[User]
    token_hashes: Mapping[str, str]
    projects: Sequence[TeamProject]
    members: Sequence[Member]

    def space_ids(self) -> list[str]:
        """Return the ids of the spaces beside the first store."""
        users = [user.id for user in self.users if not user.has_first_store]
        return users + [project.id for project in self.projects]

    def counts(self) -> dict[str, int]:
        """Return the number of rows by table, without those that are empty."""
        tables = {
            "users": len(self.users),
            "team_projects": len(self.projects),
            "project_members": len(self.members),
        }
        return {table: count for table, count in tables.items() if count}


def move_store(settings: Settings, to: str, *, plain: bool, report: Report) -> MoveReport:
    """
    Copy the store of *settings*, and those of its team, to the database *to*, and compare them.

    *plain*: an encrypted store may be copied to a place where it is not encrypted.
    """
    target_settings = replace(settings, db=to)
    if target_settings.location == settings.location:
        raise InvalidInput(f"{settings.location} cannot be moved to itself; name another place")
    clock = SystemClock()
    with ExitStack() as stack:
        source = stack.enter_context(closing(_open(settings, clock)))
        target = stack.enter_context(closing(_open(target_settings, clock)))
        _check_encryption(source, target, plain=plain)
        continues = start_copy(source, target, clock)
        directory = _read_directory(source)
        is_copied = bool(_read_directory(target).users)  # and was interrupted after that
        copied = []
        places = (settings, source), (target_settings, target)
        for store, copy in _spaces(*places, directory, clock, only_reads=is_copied):
            if not is_copied and _must_copy(copy, continues=continues):
                start_copy(store, copy, clock)
                copy_content(store, copy, clock, report=report)
            copied.append(compare_stores(store, copy))
            if not is_copied:
                copy.write(finish_copy)
        if not is_copied:
            copy_content(source, target, clock, report=report)
        report("Comparing")
        copied.append(compare_stores(source, target))
        _finish(source, target, directory)
    rows: Counter[str] = Counter()
    for counts in copied:
        rows.update(counts.rows)
    return MoveReport(
        source=settings.location,
        target=target_settings.location,
        rows=dict(rows) | directory.counts(),
        vectors=sum(counts.vectors for counts in copied),
        compared_rankings=sum(counts.rankings for counts in copied),
        stores=len(copied),
    )


def _open(settings: Settings, clock: Clock) -> Store:
    if settings.is_on_server:
        return open_postgres_store(settings, clock)
    return SqliteStore(settings.db_path, clock, keys=key_places(settings))


def _check_encryption(source: Store, target: Store, *, plain: bool) -> None:
    encrypted_source = source.file is not None and source.file.is_encrypted
    encrypted_target = target.file is not None and target.file.is_encrypted
    if encrypted_source and not encrypted_target and not plain:
        raise InvalidInput(
            f"{source.location} is encrypted, and {target.location} would not be; pass --plain if "
            "the place itself is encrypted, or if that is all right"
        )


def _spaces(
    from_place: tuple[Settings, Store],
    to_place: tuple[Settings, Store],
    directory: DirectoryRows,
    clock: Clock,
    *,
    only_reads: bool,
) -> Iterator[tuple[Store, Store]]:
    """
    Yield the stores of users and projects that are there, each with its copy.

    A place is the settings of a first store, and that store.
    """
    settings, first = from_place
    target_settings, first_copy = to_place
    for space_id in directory.space_ids():
        source = open_space_to_read(settings, clock, space_id, first=first)
        if source is None:
            continue  # nobody has used it yet
        with closing(source):
            # The store of a revoked user can be written only as long as nobody knows of the user.
            open_copy = open_space_to_read if only_reads else open_space
            target = open_copy(target_settings, clock, space_id, first=first_copy)
            if target is None:
                raise ImportRefused(
                    f"{target_settings.location} lacks the copy of {source.location}; empty it, "
                    "and move the store again"
                )
            with closing(target):
                yield source, target


def _must_copy(target: Store, *, continues: bool) -> bool:
    """Return whether the copy of a space is not complete, of a move that begins or *continues*."""
    return not continues or is_copying(target) or not has_rows(target)


def _read_directory(store: Store) -> DirectoryRows:
    with store.read() as tables:
        return DirectoryRows(
            users=tables.team.users(),
            token_hashes=tables.team.token_hashes(),
            projects=tables.team.projects(),
            members=tables.team.members(),
        )


def _finish(source: Store, target: Store, directory: DirectoryRows) -> None:
    """Write the users, projects and members, and that the move is complete."""
    if _read_directory(source) != directory:
        raise ImportRefused(
            f"the users or members of {source.location} were changed meanwhile; stop the programs "
            "that use it, and run the command again"
        )

    def write(tables: Tables) -> None:
        for user in directory.users:
            tables.team.add_user(user, directory.token_hashes[user.id])
        for project in directory.projects:
            tables.team.add_project(project)
        for member in directory.members:
            tables.team.set_member(
                member.project_id, member.user_id, member.role, at=member.added_at
            )

    if not _read_directory(target).users:
        target.write(write)
    if _read_directory(target) != directory:
        raise ImportRefused(
            f"{target.location} has other users or members than {source.location}; empty it, and "
            "move the store again"
        )
    if directory.users:
        target.enforce_policies()
    target.write(finish_copy)

"""The command `user`: the users of a team's server and their tokens."""

from collections.abc import Iterator

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import DefaultGroup, with_new_store, with_store
from recollect.cli.output import Output, safe
from recollect.domain.team import NewToken, User

user_argument = click.argument("name", metavar="NAME")


@click.group(cls=DefaultGroup, default="list")
def user() -> None:
    """
    Manage the users of a team's server.

    From the first user on, a server of this store requires the token of a user. Each user has a
    store of their own; `recollect project member` lets users share a project.
    """


@user.command()
@user_argument
@click.option("--admin", is_flag=True, help="May manage users and what concerns the server.")
@with_new_store
def add(rec: LocalRecollect, *, name: str, admin: bool) -> Output:
    """
    Add a user and print the token, once.

    The first user is an admin, and what this store holds becomes theirs.
    """
    return _token_output(rec.engine.team.add_user(name, is_admin=admin), "Added")


@user.command("list")
@with_store
def list_(rec: LocalRecollect) -> Output:
    """List the users."""
    users = rec.engine.team.list_users()

    def lines() -> Iterator[str]:
        for item in users:
            text = _attributes(item)
            yield f"[bold]{safe(item.name)}[/bold]" + (f"  [dim]{text}[/dim]" if text else "")
        if not users:
            yield "No users: a server of this store has at most one token (RECOLLECT_TOKEN)."

    return Output(users, lines())


@user.command()
@user_argument
@with_store
def rotate(rec: LocalRecollect, *, name: str) -> Output:
    """Print a new token of a user; the old one is refused from now on."""
    return _token_output(rec.engine.team.rotate_user(name), "New token of")


@user.command()
@user_argument
@with_store
def revoke(rec: LocalRecollect, *, name: str) -> Output:
    """Refuse the token of a user from now on. What the user stored stays."""
    revoked = rec.engine.team.revoke_user(name)
    name = safe(revoked.name)
    return Output(revoked, f"Revoked {name} and removed {name} from all projects.")


def _token_output(new: NewToken, what: str) -> Output:
    lines = (
        f"{what} {safe(new.user.name)}{_attributes_in_brackets(new.user)}. Token, shown only now:",
        safe(new.token),
    )
    return Output(new, lines)


def _attributes_in_brackets(item: User) -> str:
    text = _attributes(item)
    return f" ({text})" if text else ""


def _attributes(item: User) -> str:
    marks = [
        "admin" if item.is_admin else "",
        "owns the first store" if item.has_first_store else "",
        "" if item.revoked_at is None else f"revoked {item.revoked_at:%Y-%m-%d}",
    ]
    return ", ".join(filter(None, marks))

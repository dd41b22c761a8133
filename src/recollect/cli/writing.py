"""Commands that write: add, link, forget."""

from typing import Any

import click

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, place_options, store_options
from recollect.cli.render import (
    print_json,
    print_receipt,
    print_redactions,
    say,
    shown,
    standard_input,
)
from recollect.domain.link import Relation
from recollect.domain.memory import MemoryType
from recollect.domain.scope import Scope


@click.command()
@click.argument("content")
@click.option(
    "--type",
    type=click.Choice([kind.value for kind in MemoryType]),
    help="What kind of thing it is.",
)
@click.option(
    "--scope", type=click.Choice([scope.value for scope in Scope]), help="How far it reaches."
)
@place_options
@click.option("--title", default="", help="A short title.")
@click.option("--summary", default="", help="A summary, for long content.")
@click.option("--tag", "tags", multiple=True, help="A label. May be repeated.")
@click.option("--confidence", type=float, default=1.0, help="How sure it is, from 0 to 1.")
@click.option("--observed-at", help="When it was true or said (2026-05-08). Default: now.")
@click.option("--rationale", default="", help="Why, for a decision.")
@click.option("--alternative", "alternatives", multiple=True, help="What was decided against.")
@click.option("--inbox", is_flag=True, help="As a candidate, to be promoted later.")
@click.option("--key", help="Set the profile fact of this name; a former value is superseded.")
@creating_store_options
def add(
    memory: LocalRecollect, *, as_json: bool, content: str, inbox: bool, key: str | None, **given: Any
) -> None:
    """
    Remember CONTENT ('-' reads standard input).

    \b
    Examples:
      recollect add "Answers should be short."
      recollect add "Use pnpm, not npm." --project site --type decision --rationale "Faster CI."
      recollect add --key timezone "Europe/Berlin"
    """
    if content == "-":
        content = standard_input()
    if key is not None:
        if inbox or any(value not in (None, "", (), 1.0) for value in given.values()):
            raise click.UsageError("--key sets a global profile fact; it takes no other option")
        kept = memory.upsert_profile_fact(key, content)
    else:
        kept = memory.ingest(content, status="inbox" if inbox else "active", **given)
    if as_json:
        print_json(kept)
        return
    say(f"Remembered as {kept.type} of {kept.scope} scope, {kept.status}: {kept.id}")
    print_redactions(kept)


@click.command()
@click.argument("memory_id", metavar="ID")
@click.argument("relation", type=click.Choice([kind.value for kind in Relation]))
@click.argument("other", metavar="OTHER")
@click.option("--note", default="", help="Why they are linked.")
@store_options
def link(
    memory: LocalRecollect, *, as_json: bool, memory_id: str, relation: str, other: str, note: str
) -> None:
    """
    Link a memory to another memory, or to a project written as project:NAME.

    \b
    Example:
      recollect link ID applies_to project:shop
    """
    made = memory.link(memory_id, relation, other, note=note)
    if as_json:
        print_json(made)
    else:
        say(f"{made.from_id} {made.relation} {made.to_kind} {made.to_id}")


@click.command()
@click.argument("memory_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_options
def forget(memory: LocalRecollect, *, as_json: bool, memory_id: str, yes: bool) -> None:
    """Remove a memory from every table and index, and print a receipt."""
    found = memory.memories.get(memory_id)
    if not yes and not as_json:
        say(shown(found.content))
    if not yes:
        click.confirm("Forget this for good?", abort=True, err=as_json)
    receipt = memory.forget(memory_id)
    if as_json:
        print_json(receipt)
        return
    print_receipt("Forgotten", receipt.removed, receipt.kept)

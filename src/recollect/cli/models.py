"""Commands about embedding models: which there are, which one the store uses, embedding anew."""

from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from recollect.app.local import LocalRecollect
from recollect.cli.options import creating_store_options, store_options
from recollect.cli.render import print_json, say, shown
from recollect.domain.embedding_model import EmbeddingModel, Reembedded

_errors = Console(stderr=True)


@click.group()
def models() -> None:
    """
    Embedding models: what search by meaning compares with.

    A model is a folder with an ONNX file, a tokenizer.json and a manifest.json. Changing it takes
    as long as embedding everything does; until then the former one answers.

    \b
    Examples:
      recollect models list
      recollect models use default
      recollect models reembed
    """


@models.command("list")
@creating_store_options
def list_(memory: LocalRecollect, *, as_json: bool) -> None:
    """List the models there are, and how far the store has come with each."""
    found = memory.models.list()
    if as_json:
        print_json(found)
        return
    if not any(one.wanted for one in found):
        say("Embeddings are switched off (embedding_backend = none); search goes by words.")
    for one in found:
        say(f"{_mark(one)} [bold]{shown(one.name or one.identity)}[/bold]  {_standing(one)}")
        place = f"  {one.folder}" if one.folder else ""
        say(f"    [dim]{shown(one.identity)}{shown(place)}[/dim]")
        if one.trouble:
            say(f"    [red]{shown(one.trouble)}[/red]")


@models.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="What to call it here. Default: the name in its manifest.")
@click.option("--replace", is_flag=True, help="Put it in the place of the one of that name.")
@creating_store_options
def add(memory: LocalRecollect, *, as_json: bool, folder: Path, name: str | None, replace: bool) -> None:
    """Copy a model folder to those kept on this machine, and prove that it works."""
    with _errors.status("Copying and trying it …"):
        added = memory.models.add(folder, name=name, replace=replace)
    if as_json:
        print_json(added)
        return
    say(f"Added {shown(added.name)} ({shown(added.identity)}) at {shown(added.folder)}.")
    say(f"Use it with: recollect models use {shown(added.name)}")


@models.command()
@click.argument("name")
@creating_store_options
def remove(memory: LocalRecollect, *, as_json: bool, name: str) -> None:
    """
    Remove a model that `models add` copied to this machine.

    One that this store uses is refused. Other stores are not asked: one that uses it goes by words
    until it is added again, or another one is chosen there.
    """
    removed = memory.models.remove(name)
    if as_json:
        print_json(removed)
        return
    say(f"Removed {shown(removed.name)} ({shown(removed.identity)}) from {shown(removed.folder)}.")


@models.command()
@click.argument("name")
@creating_store_options
def use(memory: LocalRecollect, *, as_json: bool, name: str) -> None:
    """
    Choose the model of this store, by a name of `models list`.

    \b
    Example:
      recollect models use default
    """
    chosen = memory.models.use(name)
    if as_json:
        print_json(chosen)
        return
    say(f"This store uses {shown(chosen.model.name)} from now on.")
    if chosen.note:
        say(f"[yellow]But {shown(chosen.note)}.[/yellow]")
    elif chosen.model.waiting and not chosen.model.serving:
        say(
            f"{chosen.model.waiting} items wait to be embedded by it; until then the former model "
            "answers. A server does it in the background; here: recollect models reembed"
        )


@models.command()
@store_options
def reembed(memory: LocalRecollect, *, as_json: bool) -> None:
    """
    Embed what waits for the store's model. Stopped half-way, it goes on where it was.

    \b
    Example:
      recollect models reembed
    """
    columns = (
        TextColumn("Embedding …"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    steps = memory.models.reembed_in_steps()
    last = first = next(steps)
    with Progress(*columns, console=_errors, transient=True) as progress:
        task = progress.add_task("", total=first.done + first.waiting, completed=first.done)
        for last in steps:
            progress.update(task, total=last.done + last.waiting, completed=last.done)
    print_json(last) if as_json else say(_told(last, first))


def _told(last: Reembedded, first: Reembedded) -> str:
    embedded = max(last.done - first.done, 0)
    answers = "It answers questions now." if last.serving else "The former model still answers."
    return f"{embedded} items embedded by {shown(last.identity)}, {last.waiting} wait. {answers}"


def _mark(one: EmbeddingModel) -> str:
    return "[green]●[/green]" if one.wanted else "[yellow]○[/yellow]" if one.serving else " "


def _standing(one: EmbeddingModel) -> str:
    told = [f"{one.embedded} embedded, {one.waiting} waiting"]
    if one.wanted:
        told.insert(0, "in use" if one.serving or not one.waiting else "chosen")
    elif one.serving:
        told.insert(0, "answers until then")
    if one.dimension:
        told.append(f"{one.dimension} dimensions")
    return " · ".join(told)

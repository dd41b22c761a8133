"""The command `models`: embedding models, the one the store uses, and embedding again."""

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import with_new_store, with_store
from recollect.cli.output import Output, safe
from recollect.cli.progress import progress_line, show_status
from recollect.domain.embedding_model import EmbeddingModel

_name_argument = click.argument("name")


@click.group()
def models() -> None:
    """
    List and choose the embedding model, which search by meaning uses.

    A model is a folder with an ONNX file, a tokenizer.json and a manifest.json. After a change
    everything is embedded again; until that is done, the previous model answers searches.
    """


@models.command("list")
@with_new_store
def list_(rec: LocalRecollect) -> Output:
    """List the models and how much of the store each has embedded."""
    models = rec.models.list()

    def lines() -> Iterator[str]:
        if not any(model.wanted for model in models):
            yield "Embeddings are off (embedding_backend = none); search uses words only."
        for model in models:
            mark = "[green]●[/green]" if model.wanted else " "
            mark = "[yellow]○[/yellow]" if model.serving and not model.wanted else mark
            yield f"{mark} [bold]{safe(model.name or model.identity)}[/bold]  {_progress(model)}"
            folder = f"  {model.folder}" if model.folder else ""
            yield f"    [dim]{safe(model.identity)}{safe(folder)}[/dim]"
            if model.trouble:
                yield f"    [red]{safe(model.trouble)}[/red]"

    return Output(models, lines())


@models.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--name", help="Its name here. Default: the name in its manifest.")
@click.option("--replace", is_flag=True, help="Replace a model of that name.")
@with_new_store
def add(rec: LocalRecollect, *, folder: Path, name: str | None, replace: bool) -> Output:
    """Copy a model folder to the models of this machine, and test it."""
    with show_status("Copying and testing …"):
        added = rec.models.add(folder, name=name, replace=replace)
    model = safe(added.name)
    text = f"Added {model} ({safe(added.identity)}) at {safe(added.folder)}."
    return Output(added, f"{text}\nUse it with: recollect models use {model}")


@models.command()
@_name_argument
@with_new_store
def remove(rec: LocalRecollect, *, name: str) -> Output:
    """
    Remove a model that `models add` copied to this machine.

    The model of this store cannot be removed. Other stores are not checked: a store that uses the
    model searches by words until it is added again or another model is chosen.
    """
    removed = rec.models.remove(name)
    model = f"{safe(removed.name)} ({safe(removed.identity)})"
    return Output(removed, f"Removed {model} from {safe(removed.folder)}.")


@models.command()
@_name_argument
@with_new_store
def use(rec: LocalRecollect, *, name: str) -> Output:
    """Choose the model of this store, by a name of `models list`."""
    choice = rec.models.use(name)

    def lines() -> Iterator[str]:
        yield f"This store uses {safe(choice.model.name)} from now on."
        if choice.note:
            yield f"[yellow]But {safe(choice.note)}.[/yellow]"
        elif choice.model.waiting and not choice.model.serving:
            yield (
                f"{choice.model.waiting} items are not embedded by it yet; until then the previous "
                "model answers. A server embeds in the background; here: recollect models reembed"
            )

    return Output(choice, lines())


@models.command()
@with_store
def reembed(rec: LocalRecollect) -> Output:
    """Embed what the store's model has not embedded yet. It can be stopped and run again."""
    steps = rec.models.reembed_in_steps()
    last = first = next(steps)
    with progress_line("Embedding …") as progress:
        progress.update(first.done, first.done + first.waiting)
        for last in steps:
            progress.update(last.done, last.done + last.waiting)
    embedded = f"{max(last.done - first.done, 0)} items embedded by {safe(last.identity)}"
    serving = "It answers searches now." if last.serving else "The previous model still answers."
    return Output(last, f"{embedded}, {last.waiting} pending. {serving}")


def _progress(model: EmbeddingModel) -> str:
    parts = [f"{model.embedded} embedded, {model.waiting} pending"]
    if model.wanted:
        parts.insert(0, "in use" if model.serving or not model.waiting else "chosen")
    elif model.serving:
        parts.insert(0, "answers until then")
    if model.dimension:
        parts.append(f"{model.dimension} dimensions")
    return " · ".join(parts)

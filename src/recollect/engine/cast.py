"""
Who does what among embedders: decided from what the store says and what this machine has.

Ordinarily one does everything. While a model is being changed there are two: the one that *answers*
has vectors of every item; the one that *comes* is given items bit by bit. What is new is embedded
by the one that answers first, and only then by the one that comes. So whatever the coming one has
embedded can be found through the other too, a question needs one search, and two models' vectors
are never compared. Where the former model cannot be used here, the wanted one answers as far as it
has come.
"""

from dataclasses import dataclass

from recollect.engine.answering import Answering
from recollect.errors import EmbedderUnavailable
from recollect.models.choice import Choice
from recollect.models.named import not_here
from recollect.models.protocol import Embedder
from recollect.store.values import InUse, KnownModel, Waiters

_NO_TROUBLE = EmbedderUnavailable("")


@dataclass(frozen=True)
class Cast:
    """Who embeds questions and what is new, who takes over later, and what to say of it."""

    answers: Answering
    comes: Answering | None = None
    which: Waiters = Waiters.ALL  # of what waits for the one that answers
    note: str = ""


class Casting:
    """Gives the parts to the embedders of one program."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._made: dict[int, Answering] = {}

    def cast(self, in_use: InUse) -> Cast:
        """Return who does what now; raises `EmbedderUnavailable` where nobody can."""
        wanted, trouble = self._wanted_or_why_not(in_use)
        serving = in_use.serving
        if serving is None or (wanted is not None and wanted.is_model(serving)):
            if wanted is None:
                raise trouble
            # Somebody may be on the way from here to the model the store wants: let them.
            is_left = serving is not None and in_use.wanted not in (None, serving)
            return Cast(wanted, which=Waiters.NEW if is_left else Waiters.ALL)
        former = self._called(serving)
        if former is not None and not former.resting:
            return Cast(former, comes=wanted, which=Waiters.NEW)
        if wanted is None:
            raise trouble
        why = "it is not on this machine" if former is None else former.failure
        note = (
            f"meaning was compared with what {wanted.embedder.name} has embedded so far; "
            f"{serving.name} cannot be used: {why}"
        )
        return Cast(wanted, note=note)

    def wanted(self, in_use: InUse) -> Answering:
        """Return what everything is to be embedded by; raises where this machine has it not."""
        if self._choice.is_named or in_use.wanted is None:
            return self._answering(self._choice.own())
        found = self._called(in_use.wanted)
        if found is None:
            raise not_here(in_use.wanted.name)
        return found

    def may_serve(self, in_use: InUse, model_id: int) -> bool:
        """Say whether vectors this program made of everything may take over."""
        return self._choice.is_named or in_use.wanted is None or in_use.wanted.id == model_id

    def _wanted_or_why_not(self, in_use: InUse) -> tuple[Answering | None, EmbedderUnavailable]:
        try:
            return self.wanted(in_use), _NO_TROUBLE
        except EmbedderUnavailable as error:
            return None, error

    def _called(self, model: KnownModel) -> Answering | None:
        found = self._choice.called(model.name)
        if found is None:
            return None
        one = self._answering(found)
        try:
            return one if one.is_model(model) else None
        except EmbedderUnavailable:
            return one  # it rests now, with its reason

    def _answering(self, embedder: Embedder) -> Answering:
        return self._made.setdefault(id(embedder), Answering(embedder))

"""
Spans: how long the parts of a request took, for whoever collects traces.

Nothing is traced, and nothing is loaded for it, until a program installs a tracer
(`install_tracer`); `server/otel_tracer.py` has that of OpenTelemetry. Names and attributes come
from code: verbs, routes, names of models, counts. No text of a memory or a query, no name of a
project or an agent and no message of an error may be among them.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol, Self

Attribute = str | int | bool


class Span(Protocol):
    """A span that has begun."""

    def set_attribute(self, name: str, value: Attribute) -> None:
        """Add an attribute."""

    def rename(self, name: str) -> None:
        """Change the name."""


class Tracer(Protocol):
    """Records spans."""

    def begin(
        self, name: str, attributes: Mapping[str, Attribute], headers: Mapping[str, str] | None
    ) -> AbstractContextManager[Span]:
        """
        Return a context with a span; spans in it are its children.

        *headers* are those of a request, which may name the span of the caller.
        """

    def step(
        self, name: str, attributes: Mapping[str, Attribute]
    ) -> AbstractContextManager[Span] | None:
        """
        Return a context with a span that has no children; None outside of other spans.

        It may be entered and left in different threads, as a generator does.
        """


class _NoSpan:
    """The span of a program that traces nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def set_attribute(self, name: str, value: Attribute) -> None:
        pass

    def rename(self, name: str) -> None:
        pass


_NO_SPAN = _NoSpan()
_tracer: Tracer | None = None


def install_tracer(tracer: Tracer | None) -> None:
    """Record the spans of this process with *tracer*; None ends the recording."""
    global _tracer
    _tracer = tracer


def trace(
    name: str, *, headers: Mapping[str, str] | None = None, **attributes: Attribute
) -> AbstractContextManager[Span]:
    """Return a context that is recorded as a span; spans in it are its children."""
    return _NO_SPAN if _tracer is None else _tracer.begin(name, attributes, headers)


def trace_step(name: str, **attributes: Attribute) -> AbstractContextManager[Span]:
    """Return a context recorded as a span inside the current one; without one, record nothing."""
    if _tracer is None:
        return _NO_SPAN
    return _tracer.step(name, attributes) or _NO_SPAN

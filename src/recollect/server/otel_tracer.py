"""
Send spans to a collector of OpenTelemetry (OTLP over HTTP) that `trace_endpoint` names.

The packages are an extra (`recollect[otel]`) and load only then. A span that failed has the name of
the error's class and not its message, which may quote a memory. How many requests are traced and
what the service is called is decided by the variables of OpenTelemetry (OTEL_TRACES_SAMPLER,
OTEL_SERVICE_NAME).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recollect import __version__
from recollect.errors import InvalidInput
from recollect.tracing import Attribute, Span, install_tracer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as SpanOfOtel

SERVICE = "recollect"
FLUSH_S = 3  # how long the end of the server waits for a collector that does not answer
NOT_INSTALLED = (
    "trace_endpoint is set, and the packages of OpenTelemetry are not installed; install them "
    "with: pip install 'recollect[otel]'"
)


@contextmanager
def traces_to(endpoint: str) -> Iterator[None]:
    """Send the spans of this block to the collector at *endpoint*; if it is empty, nowhere."""
    if not endpoint:
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidInput(NOT_INSTALLED) from error
    resource = Resource({"service.name": SERVICE, "service.version": __version__})
    provider = TracerProvider(resource=resource.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, timeout=FLUSH_S))
    )
    try:
        with recorded_by(provider):
            yield
    finally:
        provider.shutdown()


@contextmanager
def recorded_by(provider: "TracerProvider") -> Iterator[None]:
    """Record the spans of this block with *provider*, which is not made the global one."""
    install_tracer(OtelTracer(provider))
    try:
        yield
    finally:
        install_tracer(None)


class OtelTracer:
    """See `recollect.tracing.Tracer`."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._api = trace
        self._tracer = provider.get_tracer("recollect", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def begin(
        self, name: str, attributes: Mapping[str, Attribute], headers: Mapping[str, str] | None
    ) -> Iterator[Span]:
        """See `Tracer.begin`."""
        is_request = headers is not None
        caller = self._propagator.extract(headers) if headers else None
        with (
            self._record_span(
                self._tracer.start_span(
                    name,
                    context=caller,
                    kind=self._api.SpanKind.SERVER if is_request else self._api.SpanKind.INTERNAL,
                    attributes=attributes,
                    record_exception=False,
                    set_status_on_exception=False,
                )
            ) as span,
            self._api.use_span(span.span, record_exception=False, set_status_on_exception=False),
        ):
            yield span

    def step(self, name: str, attributes: Mapping[str, Attribute]) -> Any:
        """See `Tracer.step`."""
        if not self._api.get_current_span().get_span_context().is_valid:
            return None
        return self._record_span(self._tracer.start_span(name, attributes=attributes))

    @contextmanager
    def _record_span(self, span: "SpanOfOtel") -> Iterator["RecordedSpan"]:
        try:
            yield RecordedSpan(span)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(self._api.StatusCode.ERROR)
            raise
        finally:
            span.end()


class RecordedSpan:
    """See `recollect.tracing.Span`."""

    def __init__(self, span: "SpanOfOtel") -> None:
        self.span = span

    def set_attribute(self, name: str, value: Attribute) -> None:
        """See `Span.set_attribute`."""
        self.span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        """See `Span.rename`."""
        self.span.update_name(name)

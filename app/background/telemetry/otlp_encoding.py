"""Encode spans and measures as OTLP JSON for POST /v1/traces and /v1/metrics. Pure."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from app import __version__
from app.background.telemetry.run_log_spans import Attributes, Measure, Span, Value

CONVENTIONS = "https://opentelemetry.io/schemas/1.37.0"
"""Schema URL of the semantic conventions, an identifier only: the names for generative AI still change."""
_UNITS = {
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.token.usage": "{token}",
    "gen_ai.server.time_to_first_token": "s",
}
_BOUNDS = {
    "s": (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
    "{token}": tuple(float(4**power) for power in range(14)),
}
_INTERNAL, _CLIENT = 1, 3
_FAILED = 2
_DELTA = 1
"""Delta temporality: each batch contains the values since the previous one."""


def encode_traces(spans: Iterable[Span], instance: str) -> dict[str, Any]:
    return _wrap_payload("Spans", "spans", [_encode_span(span) for span in spans], instance)


def encode_metrics(measures: Sequence[Measure], since: float, instance: str) -> dict[str, Any]:
    """Encode measures as histograms. `since` is the end of the previous batch."""
    by_name: dict[str, dict[str, list[Measure]]] = defaultdict(lambda: defaultdict(list))
    for one in measures:
        by_name[one.name][repr(sorted(one.attributes.items()))].append(one)
    metrics = []
    for name, series in by_name.items():
        points = [_encode_histogram_point(same, since, _BOUNDS[_UNITS[name]]) for same in series.values()]
        histogram = {"aggregationTemporality": _DELTA, "dataPoints": points}
        metrics.append({"name": name, "unit": _UNITS[name], "histogram": histogram})
    return _wrap_payload("Metrics", "metrics", metrics, instance)


def _wrap_payload(signal: str, field: str, content: list[dict[str, Any]], instance: str) -> dict[str, Any]:
    """Return the content under the resource and scope that it comes from."""
    about: Attributes = {"service.name": "temper", "service.version": __version__, "service.instance.id": instance}
    scope = {"scope": {"name": "temper", "version": __version__}, "schemaUrl": CONVENTIONS, field: content}
    resource = {"attributes": _encode_attributes(about)}
    return {f"resource{signal}": [{"resource": resource, "schemaUrl": CONVENTIONS, f"scope{signal}": [scope]}]}


def _encode_histogram_point(measures: Sequence[Measure], since: float, bounds: Sequence[float]) -> dict[str, Any]:
    counts = [0] * (len(bounds) + 1)
    for one in measures:
        counts[bisect_left(bounds, one.value)] += 1
    values = [one.value for one in measures]
    return {
        "attributes": _encode_attributes(measures[0].attributes),
        "startTimeUnixNano": _encode_time_in_nanoseconds(since),
        "timeUnixNano": _encode_time_in_nanoseconds(max(one.at for one in measures)),
        "count": str(len(values)),
        "sum": sum(values),
        "min": min(values),
        "max": max(values),
        "explicitBounds": list(bounds),
        "bucketCounts": [str(count) for count in counts],
    }


def _encode_span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": _CLIENT if span.outward else _INTERNAL,
        "startTimeUnixNano": _encode_time_in_nanoseconds(span.began),
        "endTimeUnixNano": _encode_time_in_nanoseconds(span.ended),
        "attributes": _encode_attributes(span.attributes),
        "status": {"code": _FAILED, "message": span.error[:300]} if span.error else {},
    }


def _encode_attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _encode_value(value)} for key, value in attributes.items()]


def _encode_value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [_encode_value(one) for one in value]}}


def _encode_time_in_nanoseconds(at: float) -> str:
    return str(round(at * 1e6) * 1000)

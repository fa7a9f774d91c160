"""OpenTelemetry ids, derived from the log's own ids so that a turn knows its span before any export."""

import hashlib


def trace_id(run: str) -> str:
    return _digest(f"run {run}", 32)


def span_id(run: str, *place: object) -> str:
    return _digest(f"span {run} {' '.join(map(str, place))}", 16)


def traceparent(run: str, turn: str) -> str:
    """Return the `traceparent` header that links the engine's spans to the turn's."""
    return f"00-{trace_id(run)}-{span_id(run, 'chat', turn)}-01"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]

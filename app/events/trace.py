"""Ids of OpenTelemetry, reckoned from the log's own: a turn knows its span before anybody has drawn it."""

import hashlib


def trace_id(run: str) -> str:
    return _digest(f"run {run}", 32)


def span_id(run: str, *place: object) -> str:
    return _digest(f"span {run} {' '.join(map(str, place))}", 16)


def traceparent(run: str, turn: str) -> str:
    """What an engine is told, so that its own spans hang under the turn's."""
    return f"00-{trace_id(run)}-{span_id(run, 'chat', turn)}-01"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]

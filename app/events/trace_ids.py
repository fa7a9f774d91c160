"""OpenTelemetry ids, derived from the log's own ids so that a turn knows its span before any export."""

import hashlib


def derive_trace_id(run: str) -> str:
    return _hash_hex(f"run {run}", 32)


def derive_span_id(run: str, *name_parts: object) -> str:
    return _hash_hex(f"span {run} {' '.join(map(str, name_parts))}", 16)


def build_traceparent(run: str, turn: str) -> str:
    """Return the `traceparent` header that links the engine's spans to the turn's."""
    return f"00-{derive_trace_id(run)}-{derive_span_id(run, 'chat', turn)}-01"


def _hash_hex(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]

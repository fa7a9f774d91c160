"""Recorded events: seq, line and hash chain."""

import functools
import hashlib
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from app.events.kinds import Event, list_leaf_event_types

GENESIS = "0" * 64
MACHINE = "machine"
"""The log of the machine's samples."""
AUDIT = "audit"
"""The audit log."""
ALL = "all"
"""Every run's events in the order in which this process received them; only on the bus, never stored."""


@dataclass(frozen=True)
class Recorded:
    run: str
    seq: int
    at: float
    event: Event
    line: bytes
    """Canonical JSON, exactly as hashed, stored and sent."""
    hash: str


Kind = TypeVar("Kind", bound=Event)


class BrokenChain(Exception):
    """Names the first invalid line, and why it is invalid."""


class _Envelope(msgspec.Struct):
    seq: int
    at: str
    run: str


_decode_event: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    functools.reduce(operator.or_, list_leaf_event_types(Event))
)
_decode_envelope = msgspec.json.Decoder(_Envelope)


def format_timestamp(epoch_seconds: float) -> str:
    return datetime.fromtimestamp(epoch_seconds, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def build_recorded_event(run: str, seq: int, at: float, event: Event, previous: str) -> Recorded:
    """Encode an event. Samples have no hash: pass `previous=""`."""
    at = round(at, 3)
    head = f'{{"seq":{seq},"at":"{format_timestamp(at)}","run":"{run}",'.encode()
    line = head + msgspec.json.encode(event)[1:]
    return Recorded(run, seq, at, event, line, hash_line(previous, line) if previous else "")


def hash_line(previous: str, line: bytes) -> str:
    return hashlib.sha256(previous.encode() + line).hexdigest()


def parse_line(line: bytes, digest: str) -> Recorded:
    envelope = _decode_envelope.decode(line)
    at = datetime.fromisoformat(envelope.at).timestamp()
    return Recorded(envelope.run, envelope.seq, at, _decode_event.decode(line), line, digest)


def select_events(log: Iterable[Recorded], event_type: type[Kind]) -> list[Kind]:
    return [one.event for one in log if isinstance(one.event, event_type)]


def check_chain_and_get_head(rows: Iterable[tuple[int, bytes, str]], run: str = "") -> str:
    """Verify that the lines form an unbroken chain of `run`, and return its last hash. Raises BrokenChain."""
    previous, expected = GENESIS, 1
    for seq, line, digest in rows:
        if seq != expected:
            raise BrokenChain(f"event {expected} is missing: the log goes on with {seq}")
        if hash_line(previous, line) != digest:
            raise BrokenChain(f"event {seq} is not what was recorded: its hash does not follow from event {seq - 1}")
        envelope = _decode_envelope.decode(line)
        if envelope.seq != seq:
            raise BrokenChain(f"event {seq} says of itself that it is another")
        if run and envelope.run != run:
            raise BrokenChain(
                f"event {seq} is of another run: it says of itself that it belongs to {envelope.run[:60]!a}"
            )
        previous, expected = digest, expected + 1
    return previous

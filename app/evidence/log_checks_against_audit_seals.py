"""The anchors in the audit record: the sequence of signing keys, and the length and head of each run's log."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from app.events.kinds import AuditedRequest, ItemOutcome, RunEnd
from app.events.record import BrokenChain, Recorded, parse_line
from app.evidence.notary import SignedHead, is_key_successor
from app.store.models import RunRow
from app.store.projection import find_run_counter_increments

_SEAL = re.compile(r"seal: (?:evidence of run|run) (\S+)(?: ended)?")
_FIELD = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True)
class Seal:
    """The newest seal of a run: its number of events and the hash of the last one."""

    line: int
    events: int
    head: str


@dataclass
class AuditAnchors:
    seals: dict[str, Seal] = field(default_factory=dict)
    manifests: set[str] = field(default_factory=set)
    """Digests of the manifests of issued packs."""
    keys: list[str] = field(default_factory=list)
    """Public keys in order of use."""
    unvouched: list[str] = field(default_factory=list)
    """Keys after the first that no earlier key signed, because the earlier key was lost."""


def read_anchors_from_already_verified_rows(verified_rows: Iterable[tuple[int, bytes, str]]) -> AuditAnchors:
    """Return the anchors in a verified chain; raise BrokenChain if the old key did not sign a key change."""
    found = AuditAnchors()
    for seq, line, digest in verified_rows:
        event = parse_line(line, digest).event
        if not isinstance(event, AuditedRequest):
            continue
        fields = dict(_FIELD.findall(event.detail))
        if seal := _SEAL.fullmatch(event.did):  # lines about requests begin with the HTTP method
            found.seals[seal[1]] = Seal(seq, int(fields["events"]), fields["head"])
            found.manifests |= {fields["manifest"]} if "manifest" in fields else set()
        elif event.did in ("key: made", "key: changed"):
            _check_and_add_signing_key(found, seq, fields)
    return found


def _check_and_add_signing_key(anchors: AuditAnchors, seq: int, fields: Mapping[str, str]) -> None:
    public, old = fields["public"], fields.get("from", "")
    if not old and anchors.keys[-1:] == [public]:
        return  # several processes of an older Temper noted their first key at once
    if old and not (old in anchors.keys and is_key_successor(public, old, fields.get("signature", ""))):
        raise BrokenChain(f"line {seq} changes the key to {public}, and the key before did not sign that")
    if anchors.keys and not old:
        anchors.unvouched.append(public)
    anchors.keys.append(public)


def check_audit_log_end(
    rows: list[tuple[int, bytes, str]],
    stored_end: tuple[int, str] | None,
    head: SignedHead | None,
    anchors: AuditAnchors,
) -> None:
    """Raise BrokenChain if the record contradicts its counter or signed head. It may have grown since then."""
    last = rows[-1][0] if rows else 0
    if stored_end and last < stored_end[0]:
        raise BrokenChain(f"it ends with line {last}, and its own counter says that there are {stored_end[0]}")
    if stored_end and rows[stored_end[0] - 1][2] != stored_end[1]:
        raise BrokenChain(f"line {stored_end[0]} is not the one that was counted")
    if head is None:
        if anchors.keys:
            raise BrokenChain(
                "no signed head lies beside it (keys/audit.head in the data folder): somebody took it away"
            )
        return
    if not head.is_valid or head.key not in anchors.keys:
        raise BrokenChain("the head that lies beside it (keys/audit.head) is not signed by a key of this record")
    if last < head.seq:
        raise BrokenChain(f"it ends with line {last}, and the newest signed head is that of line {head.seq}")
    if rows[head.seq - 1][2] != head.hash:
        raise BrokenChain(f"line {head.seq} is not the one whose hash was signed")


def check_run_row(row: RunRow, log: list[Recorded]) -> None:
    """Raise BrokenChain if the log lacks its end or events that the run's row counts. The row is read first."""
    ends = [one.at for one in log if isinstance(one.event, RunEnd)]
    if (row.ended_at is not None) > bool(ends):
        raise BrokenChain(f"its row says that it has {row.state}, and the log goes on: its end is missing")
    if ends and row.ended_at not in (None, ends[0]):
        raise BrokenChain("its row gives another end than the log")
    counts = Counter({"tokens": 0} | dict.fromkeys(get_args(ItemOutcome), 0))
    for one in log:
        counts.update({name: many for name, many in find_run_counter_increments(one.event).items() if name in counts})
    for column, count in counts.items():
        counted = getattr(row, column)
        if counted > count or (ends and row.ended_at is not None and counted != count):
            raise BrokenChain(f"its row counts {counted} {column}, and the log has {count}")


def check_run_seal(run: str, seal: Seal | None, hashes_by_seq: Mapping[int, str]) -> None:
    """Raise BrokenChain if the log does not match its seal. `hashes_by_seq` has hashes by seq."""
    if seal and hashes_by_seq.get(seal.events) != seal.head:
        last = max(hashes_by_seq, default=0)
        other = "has another hash" if seal.events in hashes_by_seq else f"is missing: the log ends with {last}"
        raise BrokenChain(f"event {seal.events} of run {run}, which line {seal.line} of the record sealed, {other}")

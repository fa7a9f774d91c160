"""What the audit record anchors: runs by their rows and seals, and signing keys in the order of their use."""

import pytest

from app.events import kinds
from app.events.kinds import AuditedRequest
from app.events.record import AUDIT, GENESIS, BrokenChain, build_recorded_event
from app.evidence.log_checks_against_audit_seals import (
    Seal,
    check_audit_log_end,
    check_run_row,
    read_anchors_from_already_verified_rows,
)
from app.evidence.signing_key import derive_key
from app.store.models import RunRow
from tests.evidence.logs import BEGAN, chain, finished, queued, scoped, started

RUN = {
    "id": "r",
    "host": "h",
    "mode": "auto",
    "skill": "stig",
    "lineup": "l",
    "simulated": True,
    "note": "",
    "queued_at": 0.0,
}
PASSED, LEFT = kinds.ItemPassed(rule="A", attempts=1), kinds.ItemDeferred(rule="B", reason="")
TURN = kinds.TurnFinished(
    turn="t", role="worker", purpose="act", outcome="answered", detail="", thought="", answer="", completion_tokens=7
)
BEGUN = (queued(["A", "B"]), started(), scoped({"A": "fail", "B": "fail"}))
OPEN = chain([*BEGUN, TURN, PASSED, LEFT])
OVER = chain([*BEGUN, TURN, PASSED, LEFT, finished()])
END = BEGAN + len(OVER)
COUNTED = {"tokens": 7, "passed": 1, "deferred": 1}


@pytest.mark.parametrize(
    ("log", "row"),
    [
        (OPEN, {"state": "running"}),
        (OPEN, {"state": "running", "passed": 1}),
        (OPEN, {"state": "running", **COUNTED}),
        (OVER, {"state": "finished", "ended_at": END, **COUNTED}),
        (OVER, {"state": "running"}),
        (OVER, {"state": "running", **COUNTED}),
    ],
)
def test_a_row_that_was_read_before_its_log_may_lag_behind_it(log, row):
    check_run_row(RunRow(**RUN, **row), log)


@pytest.mark.parametrize(
    ("log", "row", "told"),
    [
        (OPEN, {"state": "finished", "ended_at": END}, "its row says that it has finished, and the log goes on"),
        (OVER, {"state": "finished", "ended_at": END + 1, **COUNTED}, "its row gives another end than the log"),
        (OVER, {"state": "finished", "ended_at": END - 1, **COUNTED}, "its row gives another end than the log"),
        (OPEN, {"state": "running", "passed": 2}, "its row counts 2 passed, and the log has 1"),
        (OPEN, {"state": "running", "tokens": 8}, "its row counts 8 tokens, and the log has 7"),
        (OPEN, {"state": "running", "escalated": 1}, "its row counts 1 escalated, and the log has 0"),
        (
            OVER,
            {"state": "finished", "ended_at": END, **COUNTED, "passed": 0},
            "its row counts 0 passed, and the log has 1",
        ),
        (
            OVER,
            {"state": "finished", "ended_at": END, **COUNTED, "tokens": 6},
            "its row counts 6 tokens, and the log has 7",
        ),
    ],
)
def test_a_row_that_counts_what_its_log_lacks_shows_that_the_log_was_cut(log, row, told):
    with pytest.raises(BrokenChain, match=told):
        check_run_row(RunRow(**RUN, **row), log)


FIRST, SECOND, THIRD = (derive_key(bytes([n]) * 32) for n in (1, 2, 3))


def note(*lines):
    rows, previous = [], GENESIS
    for seq, (did, detail) in enumerate(lines, 1):
        event = AuditedRequest(who="", right="", via="", source="", did=did, status=0, detail=detail)
        line = build_recorded_event(AUDIT, seq, float(seq), event, previous)
        rows.append((seq, line.line, line.hash))
        previous = line.hash
    return rows


def make(key):
    return "key: made", f"public={key.public}"


def change(old, new, by=None):
    signature = (by or old).sign(b"temper next key\n" + bytes.fromhex(new.public))
    return "key: changed", f"public={new.public} from={old.public} signature={signature}"


@pytest.mark.parametrize(
    ("lines", "keys", "unvouched"),
    [
        ([], [], []),
        ([make(FIRST)], [FIRST], []),
        ([make(FIRST), make(FIRST)], [FIRST], []),
        ([make(FIRST), make(SECOND)], [FIRST, SECOND], [SECOND]),
        ([make(FIRST), make(SECOND), make(FIRST)], [FIRST, SECOND, FIRST], [SECOND, FIRST]),
        ([make(FIRST), change(FIRST, SECOND)], [FIRST, SECOND], []),
        ([make(FIRST), change(FIRST, SECOND), change(SECOND, THIRD)], [FIRST, SECOND, THIRD], []),
    ],
)
def test_keys_are_known_in_the_order_of_their_use_and_by_whether_the_one_before_signed_them(lines, keys, unvouched):
    found = read_anchors_from_already_verified_rows(note(*lines))
    assert found.keys == [key.public for key in keys]
    assert found.unvouched == [key.public for key in unvouched]


@pytest.mark.parametrize(
    "lines",
    [[change(FIRST, SECOND)], [make(THIRD), change(FIRST, SECOND)], [make(FIRST), change(FIRST, SECOND, by=THIRD)]],
)
def test_a_change_that_no_known_key_signed_breaks_the_record(lines):
    with pytest.raises(BrokenChain, match=f"line {len(lines)} changes the key to {SECOND.public}"):
        read_anchors_from_already_verified_rows(note(*lines))


def test_the_newest_seal_of_a_run_counts_and_every_manifest_that_was_handed_out():
    found = read_anchors_from_already_verified_rows(
        note(
            ("seal: run r1 ended", "events=3 head=a"),
            ("seal: evidence of run r1", "events=4 head=b manifest=m1"),
            ("seal: evidence of run r2", "events=9 head=c manifest=m2"),
            ("GET seal: run r3", "events=1 head=d"),
            ("seal: run r4 ended twice", "events=1 head=d"),
        )
    )
    assert found.seals == {"r1": Seal(2, 4, "b"), "r2": Seal(3, 9, "c")}
    assert found.manifests == {"m1", "m2"}


def test_a_record_of_nothing_has_no_end_to_miss():
    check_audit_log_end([], None, None, read_anchors_from_already_verified_rows([]))
    with pytest.raises(BrokenChain, match="it ends with line 0, and its own counter says that there are 1"):
        check_audit_log_end([], (1, "x"), None, read_anchors_from_already_verified_rows([]))
    rows = note(make(FIRST), ("a", ""))
    with pytest.raises(BrokenChain, match="no signed head lies beside it"):
        check_audit_log_end(rows, None, None, read_anchors_from_already_verified_rows(rows))

"""What is handed out is signed and on record; a key changes in the open."""

import json
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from sqlalchemy.event import listen
from sqlmodel import Session

from app.errors import BadInput
from app.events.event_field_types import Budget
from app.events.kinds import AuditedRequest, RolloutHostBegun, RolloutOrdered
from app.events.record import AUDIT, GENESIS, BrokenChain, build_recorded_event, check_chain_and_get_head
from app.evidence import verify
from app.evidence.log_checks_against_audit_seals import (
    Seal,
    check_audit_log_end,
    check_run_seal,
    read_anchors_from_already_verified_rows,
)
from app.evidence.notary import (
    HEAD,
    ITSELF,
    KEYS,
    Requester,
    change_signing_key,
    find_signed_head,
    is_key_successor,
    open_notary,
    sign_head,
)
from app.evidence.pack import build_pack
from app.evidence.signing_key import find_key
from app.evidence.verify import check_pack_and_get_manifest, compute_sha256, unpack_zip_packed_by_temper
from app.store import audit
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.evidence import logs
from tests.evidence.logs import finished, plain_log, queued, scoped, started, verdicts

ADA = Requester("ada", "viewer", "token")


@pytest.fixture
def notary(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield open_notary(tmp_path, database)
    database.dispose()


@pytest.fixture
def of_the_run(played, tmp_path):
    data, run = played
    database = open_and_migrate_database(data / "temper.sqlite")
    yield open_notary(data, database), run
    database.dispose()


def told(database):
    return [json.loads(line) for _, line, _ in EventStore(database).read_lines(AUDIT)]


def test_its_key_is_on_record_before_anything_that_it_signs(notary):
    [line] = told(notary.database)
    assert (line["did"], line["detail"]) == ("key: made", f"public={notary.key.public}")
    open_notary(notary.folder.parent, notary.database)
    assert len(told(notary.database)) == 1


def test_of_several_that_are_the_first_at_once_one_puts_the_key_on_record(tmp_path):
    """Each has looked in vain for it before any of them can write."""
    database, looked = open_and_migrate_database(tmp_path / "temper.sqlite"), threading.Semaphore(0)
    listen(database, "after_cursor_execute", lambda *told: "FROM seal" in told[2] and looked.release())
    with ThreadPoolExecutor(3) as pool:
        with database.connect() as writing:
            writing.exec_driver_sql("begin immediate")
            opening = [pool.submit(open_notary, tmp_path, database) for _ in range(3)]
            for _ in opening:
                assert looked.acquire(timeout=30)
            writing.rollback()
        [key] = {one.result().key.public for one in opening}
    assert [line["detail"] for line in told(database)] == [f"public={key}"]
    assert read_anchors_from_already_verified_rows(EventStore(database).read_lines(AUDIT)).unvouched == []
    database.dispose()


def test_a_record_in_which_several_noted_the_same_first_key_holds_without_a_word(notary):
    again = AuditedRequest(who="temper", right="", via="", source="", did="key: made", status=0)
    made = msgspec.structs.replace(again, detail=f"public={notary.key.public}")
    audit.record_audit_event(notary.database, made)
    assert read_anchors_from_already_verified_rows(EventStore(notary.database).read_lines(AUDIT)).unvouched == []
    audit.record_audit_event(notary.database, msgspec.structs.replace(again, detail=f"public={'0' * 64}"))
    audit.record_audit_event(notary.database, made)
    assert read_anchors_from_already_verified_rows(EventStore(notary.database).read_lines(AUDIT)).unvouched == [
        "0" * 64,
        notary.key.public,
    ]


def test_a_pack_that_is_handed_out_is_on_record_once(of_the_run, archive):
    notary, run = of_the_run
    assert notary.issue_evidence(run, ADA) == notary.issue_evidence(run, ADA) == archive
    manifest = unpack_zip_packed_by_temper(archive)["manifest.json"]
    [line] = [one for one in told(notary.database) if one["did"] == f"seal: evidence of run {run}"]
    assert f"manifest={compute_sha256(manifest)}" in line["detail"]
    assert f"key={notary.key.public}" in line["detail"]
    assert f"head={json.loads(manifest)['chain_head']}" in line["detail"]


def test_the_evidence_of_a_rollout_is_on_record_and_can_be_handed_out(notary, log):
    run, host = log[0].run, log[0].event.host
    asked = RolloutOrdered(
        hosts=(host,), words="all", skill="stig", rules=(), mode="auto", keep=False, budget=Budget(),
        lineup="simulated", simulated=True, pace=0, at_once=1, waves=(1,), harmed=1, escalated=100.0,
    )  # fmt: skip
    first = build_recorded_event("o1", 1, 1.0, asked, GENESIS)
    begun = build_recorded_event("o1", 2, 2.0, RolloutHostBegun(host=host, of=run, wave=1), first.hash)
    EventStore(notary.database).append([*log, first, begun])
    archive = notary.issue_bundle("o1", Requester("ada", "admin", "token"))
    manifest = unpack_zip_packed_by_temper(b"".join(archive.stream_archive_and_close()))["manifest.json"]
    [line] = [one for one in told(notary.database) if one["did"] == "seal: evidence of rollout o1"]
    assert f"manifest={compute_sha256(manifest)}" in line["detail"]


def test_how_long_its_log_is_was_on_record_when_the_run_ended(of_the_run, log):
    notary, run = of_the_run
    [line] = [one for one in told(notary.database) if one["did"] == f"seal: run {run} ended"]
    assert line["detail"] == f"events={len(log)} head={log[-1].hash}"


def test_the_newest_head_is_signed_beside_the_database(notary):
    head = find_signed_head(notary.folder)
    assert head.is_valid
    assert (head.seq, head.hash) == (1, EventStore(notary.database).read_lines(AUDIT)[-1][2])
    assert stat.S_IMODE((notary.folder / HEAD).stat().st_mode) == 0o600
    sign_head(notary.folder, notary.key, 1, "another")
    assert find_signed_head(notary.folder) == head, "an older one does not take its place"


def test_the_old_key_vouches_for_the_new_one_and_is_gone(notary, tmp_path):
    new = change_signing_key(notary, ADA, "whoever had it has left")
    assert open_notary(tmp_path, notary.database).key.public == new.public != notary.key.public
    rows = EventStore(notary.database).read_lines(AUDIT)
    check_chain_and_get_head(rows, AUDIT)
    found = read_anchors_from_already_verified_rows(rows)
    assert found.keys == [notary.key.public, new.public]
    assert found.unvouched == []
    assert "whoever had it has left" in told(notary.database)[-1]["detail"]
    assert sorted(at.name for at in (tmp_path / KEYS).iterdir()) == [HEAD, "signing.changes", "signing.key"]
    [change] = find_key(tmp_path / KEYS).list_key_changes_since(notary.key.public)
    assert is_key_successor(new.public, notary.key.public, change["signature"])
    assert change["key"] == new.public
    assert find_key(tmp_path / KEYS).list_key_changes_since("0" * 64) == []
    with pytest.raises(BadInput, match="give the reason"):
        change_signing_key(notary, ADA, " ")


def test_a_key_that_was_lost_is_said_to_be(notary, tmp_path):
    (tmp_path / KEYS / "signing.key").unlink()
    after = open_notary(tmp_path, notary.database)
    found = read_anchors_from_already_verified_rows(EventStore(notary.database).read_lines(AUDIT))
    assert found.keys == [notary.key.public, after.key.public]
    assert found.unvouched == [after.key.public]


def test_a_key_that_the_one_before_did_not_sign_does_not_hold(notary):
    other = "0" * 64
    said = f"public={other} from={notary.key.public} signature={notary.key.sign(b'something else')}"
    notary.append_audit_line_once("key", other, ITSELF, "key: changed", said)
    with pytest.raises(BrokenChain, match="the key before did not sign that"):
        read_anchors_from_already_verified_rows(EventStore(notary.database).read_lines(AUDIT))


def chain(*details):
    rows, previous = [], GENESIS
    for seq, (did, detail) in enumerate(details, 1):
        event = AuditedRequest(who="", right="", via="", source="", did=did, status=0, detail=detail)
        line = build_recorded_event(AUDIT, seq, float(seq), event, previous)
        rows, previous = [*rows, (seq, line.line, line.hash)], line.hash
    return rows


def test_the_record_ends_where_counter_and_signed_head_say(notary, tmp_path):
    rows = chain(("key: made", f"public={notary.key.public}"), ("a", ""), ("b", ""), ("c", ""))
    (tmp_path / "heads").mkdir()
    sign_head(tmp_path / "heads", notary.key, 3, rows[2][2])
    head, counted, found = (
        find_signed_head(tmp_path / "heads"),
        (4, rows[3][2]),
        read_anchors_from_already_verified_rows(rows),
    )
    check_audit_log_end(rows, counted, head, found)
    check_audit_log_end([*rows, (5, b"", "later")], counted, head, found)
    for cut, count, said in (
        (rows[:3], counted, "its own counter says that there are 4"),
        (rows[:2], (2, rows[1][2]), "the newest signed head is that of line 3"),
        ([*rows[:2], (3, b"", "other")], (3, "other"), "is not the one whose hash was signed"),
        (rows[:3], (3, "other"), "is not the one that was counted"),
    ):
        with pytest.raises(BrokenChain, match=said):
            check_audit_log_end(cut, count, head, found)
    with pytest.raises(BrokenChain, match="somebody took it away"):
        check_audit_log_end(rows, counted, None, found)
    with pytest.raises(BrokenChain, match="is not signed by a key of this record"):
        check_audit_log_end(rows, counted, head, read_anchors_from_already_verified_rows(rows[1:]))


def test_a_run_goes_on_as_far_as_its_seal_says_and_one_without_a_seal_is_not_judged():
    check_run_seal("r", None, {1: "a"})
    seal = Seal(line=9, events=2, head="b")
    check_run_seal("r", seal, {1: "a", 2: "b", 3: "c"})
    for rows, said in (({1: "a"}, "is missing: the log ends with 1"), ({2: "other"}, "has another hash")):
        with pytest.raises(BrokenChain, match=f"event 2 of run r, which line 9 of the record sealed, {said}"):
            check_run_seal("r", seal, rows)


def test_the_counter_is_written_with_the_line(notary):
    with Session(notary.database) as session:
        assert audit.read_recorded_audit_chain_end(session, AUDIT) == EventStore(notary.database).read_last_link(AUDIT)


def test_a_pack_of_a_run_that_only_looked_says_what_it_saw(of_the_run):
    words = {"V-257984": "pass", "V-257986": "fail"}
    log = logs.chain([queued(words, mode="scan"), started(), *verdicts("opening", words), scoped(words), finished()])
    notary, _ = of_the_run
    assert check_pack_and_get_manifest(
        unpack_zip_packed_by_temper(build_pack(log, notary.key)), log[-1].hash, notary.key.public
    )


def test_rules_that_changed_since_count_if_the_pack_is_signed(of_the_run):
    log = plain_log({"V-257984": "fail"}, {"V-257984": "pass"}, begun={"rulebook": "0" * 64})
    notary, _ = of_the_run
    files = unpack_zip_packed_by_temper(build_pack(log, notary.key))
    assert json.loads(files["manifest.json"])["rules"] == "newer"
    assert check_pack_and_get_manifest(files, key=notary.key.public)
    with pytest.raises(
        verify.BrokenPack, match=r"not what the run began with; the pack says that the skill has changed"
    ):
        check_pack_and_get_manifest(files)

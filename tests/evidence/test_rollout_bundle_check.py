"""The evidence of a rollout, over a run that was really made: it holds, and each way of changing it is named."""

import json
import tracemalloc

import pytest

from app.cli.verify import BROKEN, HOLDS, verify_by_kind
from app.config import Settings
from app.events.event_field_types import Budget
from app.events.kinds import RolloutEnded, RolloutHostBegun, RolloutHostEnded, RolloutOrdered
from app.events.record import GENESIS, build_recorded_event
from app.evidence import verify
from app.evidence.rollout_bundle import write_bundle
from app.evidence.rollout_bundle_check import check_bundle, is_bundle
from app.evidence.signing_key import derive_key
from app.evidence.spool import Spool
from app.evidence.verify import (
    BrokenPack,
    build_zip_chunks_with_part_names,
    compute_sha256,
    unpack_zip_packed_by_temper,
)
from tests.evidence.played import KEY

OTHER = derive_key(b"o" * 32)


@pytest.fixture(scope="module")
def chain(log):
    return rolled_out(log[0].event.host, log[0].run)


def rolled_out(host, run):
    asked = RolloutOrdered(
        hosts=(host,), words="all", skill="stig", rules=(), mode="auto", keep=False, budget=Budget(),
        lineup="simulated", simulated=True, pace=0, at_once=1, waves=(1,), harmed=1, escalated=100.0,
    )  # fmt: skip
    ended = RolloutHostEnded(
        host=host, of=run, state="finished", findings=6, passed=3, escalated=3, rolled_back=1, harm=""
    )
    made, last = [], GENESIS
    for event in (asked, RolloutHostBegun(host=host, of=run, wave=1), ended, RolloutEnded(state="finished")):
        made.append(build_recorded_event("o1", len(made) + 1, 1.0 + len(made), event, last))
        last = made[-1].hash
    return made


@pytest.fixture(scope="module")
def given(chain, archive, tmp_path_factory):
    return bundled(chain, archive, tmp_path_factory.mktemp("spool"))


def bundled(chain, archive, folder):
    spool = Spool(folder)
    write_bundle(chain, lambda _: archive, KEY, spool)
    size, pieces = spool.archive_size, list(spool.stream_archive_and_close())
    assert size == sum(map(len, pieces))
    assert b"".join(pieces) == b"".join(
        chunk for _, chunk in build_zip_chunks_with_part_names(unpack_zip_packed_by_temper(b"".join(pieces)))
    )
    return b"".join(pieces)


def test_a_manifest_that_is_nested_too_deeply_is_no_bundle():
    assert not is_bundle({"manifest.json": b"[" * 200_000})


def test_of_all_its_packs_a_few_are_in_memory_at_a_time(chain, archive, tmp_path):
    begun = [
        build_recorded_event("o1", seq, 2.0, RolloutHostBegun(host=f"h{seq}", of=f"r{seq}", wave=1), "")
        for seq in range(2, 42)
    ]
    into = Spool(tmp_path)
    tracemalloc.start()
    write_bundle([chain[0], *begun], lambda _: bytes(bytearray(archive)), KEY, into)
    handed_out = sum(map(len, into.stream_archive_and_close()))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert handed_out > 40 * len(archive) > 8 * most


def test_it_holds_by_its_key_and_head(given, chain, tmp_path, capsys):
    place = tmp_path / "given.zip"
    place.write_bytes(given)
    assert verify_by_kind(Settings(), str(place), chain[-1].hash, KEY.public) == HOLDS
    said = capsys.readouterr().out
    assert "rollout o1, 4 events; so does the pack of each run, 1 in all" in " ".join(said.split())
    assert verify_by_kind(Settings(), str(place), "0" * 64) == BROKEN
    assert verify_by_kind(Settings(), str(place), None, OTHER.public) == BROKEN


def sealed(files, key=OTHER):
    """As somebody would seal it again who changed it, and has a key of his own."""
    told = json.loads(files["manifest.json"]) | {"key": key.public}
    listed = sorted(name for name in files if name not in ("manifest.json", "manifest.sig"))
    told["files"] = [{"name": name, "size": len(files[name]), "sha256": compute_sha256(files[name])} for name in listed]
    files["manifest.json"] = json.dumps(told, indent=1).encode() + b"\n"
    files["manifest.sig"] = f"{key.sign(verify.SEALED + files['manifest.json'])}\n".encode()
    return files


def tells(files, **changed):
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | changed).encode()
    return sealed(files)


def line_of(files, old, new):
    files["rollout.jsonl"] = files["rollout.jsonl"].replace(old, new)
    return sealed(files)


def pack_of(files, change):
    (name,) = [one for one in files if one.startswith("runs/")]
    inner = unpack_zip_packed_by_temper(files[name])
    change(inner)
    files[name] = b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(inner))
    return files


def wordier(inner):
    inner["report.html"] += b" "


CHANGES = {
    "a byte of a file": (
        lambda files: files | {"README.txt": files["README.txt"] + b"."},
        "README.txt is not the file",
    ),
    "a file more": (lambda files: files | {"more.txt": b""}, "'more.txt' is not both in the index and in the zip"),
    "the index": (lambda files: files | {"manifest.json": files["manifest.json"] + b" "}, "is not what was signed"),
    "an outcome, sealed again": (lambda files: tells(files, runs=[]), "the index says of runs something else"),
    "a note, sealed again": (lambda files: tells(files, note="all is well"), "the index says of note something else"),
    "its head, sealed again": (lambda files: tells(files, chain_head="0" * 64), "the index gives another chain head"),
    "its length, sealed again": (
        lambda files: tells(files, events=9),
        "the index gives another chain head, or another",
    ),
    "a line of its chain": (lambda files: line_of(files, b'"passed":3', b'"passed":6'), "event 3 is not what was"),
    "a pack": (lambda files: sealed(pack_of(files, wordier)), "the pack of fixture: report.html"),
    "a pack left out": (lambda files: sealed({n: c for n, c in files.items() if "runs/" not in n}), "KeyError"),
    "not said to be simulated": (
        lambda files: sealed(files | {"README.txt": files["README.txt"].replace(b"SIMULATED", b"MADE")}),
        "README.txt is that of another rollout",
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_named(given, what):
    change, said = CHANGES[what]
    with pytest.raises(BrokenPack, match=said):
        check_bundle(change(unpack_zip_packed_by_temper(given)))


def test_a_change_that_was_sealed_again_shows_by_the_key(given):
    files = sealed(unpack_zip_packed_by_temper(given))
    assert check_bundle(files)["key"] == OTHER.public
    with pytest.raises(BrokenPack, match="and not by the one that you gave"):
        check_bundle(files, key=KEY.public)


def test_the_pack_of_another_host_is_named(log, archive, tmp_path):
    """Each pack holds by itself, and the rollout's chain says something else of it."""
    given = bundled(rolled_out("other", log[0].run), archive, tmp_path)
    with pytest.raises(BrokenPack, match=f"the pack of other: it is of run {log[0].run} on {log[0].event.host}"):
        check_bundle(unpack_zip_packed_by_temper(given))


def test_a_field_that_no_chain_accounts_for_does_not_hold(given):
    with pytest.raises(BrokenPack, match="the index says of zz something else than the chain"):
        check_bundle(tells(unpack_zip_packed_by_temper(given), zz=1))

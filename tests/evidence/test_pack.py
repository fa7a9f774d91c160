import hashlib
import io
import json
import subprocess
import sys
import tracemalloc
import zipfile

import pytest

from app.errors import BadInput, EnvironmentUnusable
from app.events.kinds import ActionApplied, ActionApplying, AttemptStarted, ItemPassed, ItemStarted, TurnDelta
from app.events.record import parse_line
from app.evidence.document_catalog import PAPERS
from app.evidence.pack import build_pack
from app.evidence.run_record import RunNotEnded
from app.evidence.verify import check_pack_and_get_manifest, unpack_zip_packed_by_temper
from tests.evidence.logs import chain, plain_log, queued
from tests.evidence.played import KEY

RULE = "V-257984"


def test_the_same_run_gives_the_same_bytes(log, archive):
    assert build_pack(iter(log), KEY) == archive


def test_any_zip_reader_opens_it_and_finds_every_event_and_paper(log, archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        names = opened.namelist()
        assert opened.read("events.jsonl").splitlines() == [one.line for one in log]
        assert opened.read("chain.txt").decode().split() == [one.hash for one in log]
        lineup = json.loads(opened.read("lineup.json"))
        turns = [name for name in names if name.startswith("turns/")]
        first = opened.read(turns[0]).decode()
    assert {paper.file for paper in PAPERS if paper.packed} <= set(names)
    assert not {"playbook.zip", "harden.sh"} & set(names), "nothing offline could hold them against the events"
    assert [seat["role"] for seat in lineup["seats"]] == ["architect", "worker", "auditor", "sentry"]
    assert lineup["seats"][0]["precision"]
    assert len(turns) == sum(one.event.__struct_config__.tag == "turn.started" for one in log)
    assert "=== told by the system\nYou are the ARCHITECT" in first
    assert "=== answer\n{" in first


def test_the_archive_is_byte_for_byte_what_pythons_own_zipfile_writes(archive):
    again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as opened, zipfile.ZipFile(again, "w") as written:
        written.comment = opened.comment
        for name in opened.namelist():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            written.writestr(entry, opened.read(name))
        assert opened.comment == b"manifest sha256 " + hashlib.sha256(opened.read("manifest.json")).hexdigest().encode()
    assert again.getvalue() == archive


@pytest.mark.parametrize("name", ["actions.jsonl", "approvals.jsonl", "verdicts.jsonl", "rules.json", "README.txt"])
def test_it_has_the_cuts_for_eyes(archive, name):
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert name in opened.namelist()


def test_the_script_inside_checks_it_alone_packed_and_unpacked(tmp_path, archive, log):
    (tmp_path / "evidence.zip").write_bytes(archive)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        opened.extractall(folder)
    script = [sys.executable, "-I", "-S", str(folder / "verify.py")]
    key = ["--key", KEY.public]
    for words in (key, [str(tmp_path / "evidence.zip"), *key], [str(folder), log[-1].hash, *key]):
        done = subprocess.run([*script, *words], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"chain head {log[-1].hash}" in done.stdout
    (folder / "poam.csv").write_bytes(b"")
    done = subprocess.run(script, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        1,
        "does not hold: poam.csv is not what the manifest says: its sha256 is another\n",
    )


def test_a_run_that_goes_on_has_no_papers():
    with pytest.raises(RunNotEnded, match="has not ended"):
        build_pack(chain([queued([RULE])]), KEY)


def test_a_run_of_rules_that_are_gone_says_which_temper_to_use():
    with pytest.raises(BadInput, match="no rule V-1 any more"):
        build_pack(plain_log({"V-1": "fail"}, {"V-1": "fail"}), KEY)


def test_a_log_in_which_something_ran_unasked_is_not_handed_on():
    at = {"rule": RULE, "attempt": 1}
    between = [
        ItemStarted(rule=RULE, title="", category="I"),
        AttemptStarted(**at, lessons=()),
        ActionApplying(**at, journal="j"),
        ActionApplied(**at, journal="j", diff="", changes=(), seconds=0.0),
        ItemPassed(rule=RULE, attempts=1),
    ]
    with pytest.raises(EnvironmentUnusable, match="without the policy's leave"):
        build_pack(plain_log({RULE: "fail"}, {RULE: "pass"}, between=between), KEY)


def test_a_log_with_a_broken_chain_is_not_handed_on(log):
    cut = [one for one in log if one.seq != 9]
    with pytest.raises(EnvironmentUnusable, match="event 9 "):
        build_pack(cut, KEY)


def test_the_pieces_of_a_long_run_are_in_memory_as_lines_alone():
    piece = TurnDelta(turn="t", role="worker", channel="thought", text=" so", tokens=1)
    log = plain_log({RULE: "fail"}, {RULE: "pass"}, between=[piece] * 30_000)
    lines, size = [(one.line, one.hash) for one in log], sum(len(one.line) + 66 for one in log)
    del log
    tracemalloc.start()
    archive = build_pack((parse_line(line, digest) for line, digest in lines), KEY)
    packing = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    check_pack_and_get_manifest(unpack_zip_packed_by_temper(archive))
    checking = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert packing < 3 * size
    assert checking < 3 * size

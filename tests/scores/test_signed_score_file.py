"""A result holds, or the first thing that does not is told."""

import io
import zipfile

import msgspec
import pytest

from app.cli.lineup_score import verify_score
from app.errors import BadInput
from app.evidence.pack import build_pack as evidence
from app.scores import signed_score_file
from app.scores.run_summary import summarize_run
from app.scores.score_structures import Trial
from app.scores.signed_score_file import (
    BrokenScore,
    is_score_file,
    read_verified_result_file,
    read_verified_score_and_verified_run_count,
)
from app.skills.stig.pack import STIG
from tests.evidence.played import KEY
from tests.scores.test_score_figures import GOOD, score, trial


def kept(tmp_path, content, name="score.json"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_a_signed_result_holds_and_is_told_from_other_files(tmp_path):
    path = kept(tmp_path, signed_score_file.sign_score(score(trial(GOOD)), KEY))
    assert is_score_file(path)
    assert not is_score_file(kept(tmp_path, b"{}", "other.json"))
    found, runs = read_verified_score_and_verified_run_count(path, KEY.public)
    assert (found.score.order.label, runs) == ("of a test", 0)


def test_a_figure_that_was_changed_does_not_hold(tmp_path):
    content = signed_score_file.sign_score(score(trial(GOOD)), KEY)
    with pytest.raises(BrokenScore, match="not what was signed"):
        read_verified_score_and_verified_run_count(kept(tmp_path, content.replace(b'"tokens":80', b'"tokens":81')))
    with pytest.raises(BrokenScore, match="signed by the key"):
        read_verified_score_and_verified_run_count(kept(tmp_path, content), "0" * 64)
    with pytest.raises(BrokenScore, match="not of the shape"):
        read_verified_score_and_verified_run_count(kept(tmp_path, b'{"format": "temper score 1"}'))


def zip_of(*, flipped=False, **files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    content = packed.getvalue()
    return content.replace(b"temper", b"tamper") if flipped else content


NOT_A_SCORE = {
    "not-utf8.json": b'{"format": "temper score 1", "key": "\xff"}',
    "deep.json": b'{"format": "temper score 1", "x": ' + b"[" * 200_000,
    "damaged.zip": zip_of(score_json=b"temper score 1", flipped=True),
    "no-score.zip": zip_of(other_json=b"{}"),
    "cut.zip": b"PK\x05\x06" + bytes(17),
    "method.zip": zip_of(score_json=b"{}").replace(b"PK\1\2\x14\3\x14\0\0\0\0\0", b"PK\1\2\x14\3\x14\0\0\0\x63\0"),
    "encrypted.zip": zip_of(score_json=b"{}").replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0"),
    "version.zip": zip_of(score_json=b"{}").replace(b"PK\1\2\x14\3\x14\0", b"PK\1\2\x14\3\xff\0"),
}


@pytest.mark.parametrize("name", NOT_A_SCORE)
def test_a_damaged_or_foreign_file_is_a_sentence(tmp_path, name):
    path = kept(tmp_path, NOT_A_SCORE[name], name)
    is_score_file(path)
    with pytest.raises(BrokenScore, match="not of the shape that temper score writes"):
        read_verified_score_and_verified_run_count(path)
    if path.suffix == ".json":
        with pytest.raises(BadInput, match="not of the shape"):
            read_verified_result_file(path)


def test_what_is_printed_of_a_score_is_clean(tmp_path, capsys):
    made = score(trial(GOOD))
    evil = msgspec.structs.replace(made, order=msgspec.structs.replace(made.order, label="\x1b[2Jevil\nholds: all"))
    path = kept(tmp_path, signed_score_file.sign_score(evil, KEY))
    assert verify_score(path, KEY.public) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told
    assert told.startswith(f"holds: {path}: 1 trials of evil holds: all\n")


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="cannot read"):
        verify_score(tmp_path / "missing.json", "")


def of_the(log):
    found = summarize_run(log, STIG)
    rules = tuple(fate.rule for fate in found.fates)
    return Trial(
        seed=1, host="built-in", rules=rules, fates=found.fates, run=log[0].run, head=found.head, events=found.events
    )


def test_a_log_is_read_for_what_became_of_each_rule(log):
    fates = {fate.rule: fate for fate in of_the(log).fates}
    assert {rule: fate.ended for rule, fate in fates.items()} == {
        "V-257984": "passed",
        "V-257985": "passed",
        "V-257981": "passed",
        "V-258106": "escalated",
        "V-258229": "deferred",
        "V-257934": "passed",
    }
    root, sudo = fates["V-257985"], fates["V-258106"]
    assert (root.harmed, root.undone, root.failed_at) == (1, 1, "")
    assert (sudo.refused, sudo.failed_at, sudo.person) == (3, "policy", True)
    assert fates["V-257981"].vetoed == 1
    assert root.turns == root.usable > 4


def test_a_pack_has_the_evidence_of_its_runs_and_they_say_the_same(tmp_path, log):
    one = of_the(log)
    result, archive = signed_score_file.sign_score(score(one), KEY), evidence(log, KEY)
    path, made_up, without = tmp_path / "score.zip", tmp_path / "made-up.zip", tmp_path / "without.zip"
    signed_score_file.write_score_pack(path, result, [one.run], {one.run: archive}.__getitem__)
    assert is_score_file(path)
    assert read_verified_score_and_verified_run_count(path, KEY.public)[1] == 1
    better = msgspec.structs.replace(
        one, fates=tuple(msgspec.structs.replace(fate, ended="passed") for fate in one.fates)
    )
    signed_score_file.write_score_pack(
        made_up, signed_score_file.sign_score(score(better), KEY), [one.run], lambda _: archive
    )
    with pytest.raises(BrokenScore, match="does not say of it what its events say"):
        read_verified_score_and_verified_run_count(made_up)
    signed_score_file.write_score_pack(without, result, [], lambda _: archive)
    with pytest.raises(BrokenScore, match="score alone"):
        read_verified_score_and_verified_run_count(without)

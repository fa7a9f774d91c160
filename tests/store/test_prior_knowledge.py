"""Drift: what held when the host was last seen and fails now, in a run like any other."""

import json

from tests.forkserver import temper

SSHD = "hosts/fixture/root/etc/ssh/sshd_config"


def ran(data, *words):
    done = temper("run", "--data", data, "--speed", "0", "--json", *words)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return events, [event for event in events if event["kind"] == "drift"]


def test_what_slipped_is_found_by_the_next_look_and_not_by_the_one_after_the_host_was_mended(tmp_path):
    events, drift = ran(tmp_path, "--rules", "V-257984")
    assert events[-1]["passed"] == 1
    assert drift == []
    run, config = events[0]["run"], tmp_path / SSHD
    sound = config.read_text()
    config.write_text("PermitEmptyPasswords yes\n" + sound)
    events, drift = ran(tmp_path, "--mode", "scan", "--keep", "--rules", "V-257984,V-257985")
    assert [(event["rules"], event["since"]) for event in drift] == [(["V-257984"], run)]
    assert not any(event["kind"].startswith(("turn.", "action.")) for event in events), "it only looks"
    assert [event["phase"] for event in events if event["kind"] == "scan.finished"] == ["opening"]
    config.write_text(sound)
    assert ran(tmp_path, "--mode", "scan", "--keep", "--rules", "V-257984")[1] == []


def test_a_host_that_is_laid_out_anew_has_no_past(tmp_path):
    ran(tmp_path, "--rules", "V-257984")
    events, drift = ran(tmp_path, "--mode", "scan", "--rules", "V-257984")
    assert [event["word"] for event in events if event["kind"] == "verdict"] == ["fail"]
    assert drift == []

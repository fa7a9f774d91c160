"""The command line as a process: what a person types, what comes back, and that a mistake loses nothing."""

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
from pathlib import Path

import httpx
import pytest

from tests import forkserver
from tests.served import served


def temper(*words, cwd=None):
    done = forkserver.temper(*words, cwd=cwd)
    assert "Traceback" not in done.stderr + done.stdout
    return done


def refused(*words):
    done = temper(*words)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_an_unknown_rule_gets_the_nearest_ids(tmp_path):
    said = refused("run", "--data", str(tmp_path), "--rules", "V-2579855")
    assert "no rule 'V-2579855'" in said
    assert "V-257985" in said
    assert not list(tmp_path.iterdir())


def test_a_rule_like_no_other_is_told_what_there_is(tmp_path):
    said = refused("run", "--data", str(tmp_path), "--rules", "V-1")
    assert "it has rules such as V-" in said
    assert "nearest" not in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--host", "moon"], "no host 'moon'"),
        (["--mode", "yolo"], "choose one of auto, review, dry-run"),
        (["--lineup", "nope"], "No line-up is called 'nope'"),
    ],
)
def test_what_does_not_exist_is_said_before_anything_is_made(tmp_path, words, expected):
    assert expected in refused("run", "--data", str(tmp_path), *words)
    assert not list(tmp_path.iterdir())


def test_a_broken_lineup_names_file_and_line(tmp_path):
    lineup = tmp_path / "mine.toml"
    lineup.write_text('title = "x"\nnote = \n')
    assert f"{lineup}:2" in refused("run", "--data", str(tmp_path / "data"), "--lineup", str(lineup))


def test_a_taken_port_says_so(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "Choose another with --port" in refused("demo", "--data", str(tmp_path / "d"), "--port", str(port))
    assert not (tmp_path / "d").exists()


def test_a_data_folder_that_cannot_be_one_says_so(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert "--data" in refused("run", "--data", str(file / "data"))


def test_a_database_of_a_newer_temper_is_left_alone(tmp_path):
    temper("run", "--data", str(tmp_path), "--speed", "0", "--rules", "V-257820")
    with sqlite3.connect(tmp_path / "temper.sqlite") as database:
        database.execute("update alembic_version set version_num = '9999'")
    database.close()
    assert "newer Temper (9999)" in refused("run", "--data", str(tmp_path))


def test_a_run_as_json_is_the_log_and_verify_agrees(tmp_path):
    done = temper("run", "--data", str(tmp_path), "--speed", "0", "--json", "--rules", "V-257820,V-258106")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[0]["kind"], events[-1]["kind"]) == ("run.queued", "run.finished")
    assert (events[-1]["passed"], events[-1]["escalated"]) == (1, 1)
    said = temper("verify", events[0]["run"], "--data", str(tmp_path)).stdout
    assert "holds" in said
    assert "fixture is as the run left it" in said
    motd = tmp_path / "hosts" / "fixture" / "root" / "etc" / "motd"
    motd.write_text("touched")
    assert "NOT as the run left it" in temper("verify", events[0]["run"], "--data", str(tmp_path)).stdout


def test_a_run_in_which_all_pass_ends_with_zero(tmp_path):
    assert temper("run", "--data", str(tmp_path), "--speed", "0", "--rules", "V-257820").returncode == 0


def test_a_changed_event_is_found_and_named(tmp_path):
    run = json.loads(
        temper("run", "--data", str(tmp_path), "--speed", "0", "--json", "--rules", "V-257820").stdout.splitlines()[0]
    )["run"]
    with sqlite3.connect(tmp_path / "temper.sqlite") as database:
        database.execute("update event set line = cast(replace(line, 'V-257820', 'V-257821') as blob) where seq = 4")
    database.close()
    done = temper("verify", run, "--data", str(tmp_path))
    assert done.returncode == 2
    assert "event 4 is not what was recorded" in done.stdout


def test_verify_without_a_run_says_what_to_do(tmp_path):
    assert "start a run with temper run" in refused("verify", "abc", "--data", str(tmp_path))


def test_a_second_process_hands_its_run_to_the_first(tmp_path):
    with served(tmp_path, "--speed", "0"):
        done = temper("run", "--data", str(tmp_path), "--speed", "0", "--rules", "V-257820")
    assert done.returncode == 0
    assert "works on the run" in done.stderr


def test_review_mode_waits_for_a_person_and_takes_the_answer(tmp_path):
    words = ["run", "--data", str(tmp_path), "--speed", "0", "--json", "--mode", "review"]
    with forkserver.Temper(*words, "--rules", "V-258227", stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            event = json.loads(line)
            if event["kind"] == "approval.requested":
                assert "asked" in temper("approve", event["run"], "--data", str(tmp_path)).stdout
            if event["kind"] == "action.applied":
                break
        rest = [json.loads(line)["kind"] for line in child.stdout]
    assert child.returncode == 0
    assert "item.passed" in rest


def test_stop_undoes_what_was_in_hand_and_says_who(tmp_path):
    words = ["run", "--data", str(tmp_path), "--speed", "1", "--json", "--rules", "V-257820,V-258227"]
    with forkserver.Temper(*words, stdout=subprocess.PIPE, text=True) as child:
        events = []
        for line in child.stdout:
            events.append(json.loads(line))
            if events[-1]["kind"] == "turn.delta" and sum(one["kind"] == "turn.delta" for one in events) == 3:
                temper("stop", events[0]["run"], "--data", str(tmp_path), "--reason", "enough")
    assert child.returncode == 1
    kinds = [one["kind"] for one in events]
    assert kinds[-1] == "run.stopped"
    assert "turn.interrupted" in kinds
    assert kinds.count("item.skipped") == 2


def test_the_server_goes_on_with_the_run_that_was_cut(tmp_path):
    with served(tmp_path, "--speed", "20") as server:
        order = {"host": "fixture", "rules": ["V-257820", "V-257985", "V-257996"]}
        assert httpx.post(f"{server.url}/api/v1/runs", json=order).status_code == 202
        server.wait_for_kind("item.passed")
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    with served(tmp_path, "--speed", "0", command="demo") as server:
        server.wait_for_kind("run.finished")
        assert len(server.runs()) == 1


def test_the_server_ends_in_order_when_told(tmp_path):
    with served(tmp_path, "--speed", "1", command="demo") as server:
        server.wait_for_kind("turn.delta")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=15) == 0
    assert not re.search("Traceback", server.output())


def test_help_lists_the_commands():
    said = temper("--help").stdout
    assert {"demo", "serve", "run", "verify", "stop"} <= set(said.split())


def test_nothing_listens_beyond_loopback(tmp_path):
    with served(tmp_path) as server:
        held = {str(path.readlink()) for path in Path(f"/proc/{server.process.pid}/fd").iterdir()}
        rows = [line.split() for line in Path(f"/proc/{server.process.pid}/net/tcp").read_text().splitlines()[1:]]
        ours = [row[1] for row in rows if f"socket:[{row[9]}]" in held and row[3] == "0A"]
        assert ours == [f"0100007F:{server.port:04X}"]

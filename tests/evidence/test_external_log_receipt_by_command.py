"""A statement goes to a command of the operator's, and what that answers is kept; whatever it answers."""

import base64
import json
import os
import signal
import stat
import time

import pytest

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.external_log_receipt_by_command import find_or_request_receipt, parse_hook_command_json
from app.evidence.notary import Requester, open_notary
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.verify import (
    ATTESTED,
    LONGEST_RECEIPT,
    RECEIPT,
    BrokenPack,
    check_pack_and_get_manifest,
    compute_sha256,
    list_proof_explanations,
    read_unverified_external_log_answer,
    unpack_zip_packed_by_temper,
)
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.evidence.logs import plain_log
from tests.evidence.test_verify import listed_anew

WORDS = {"V-257984": "pass"}


def command(folder, body):
    file = folder / "enter"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(stat.S_IRWXU)
    return (str(file), "a word; $(with) 'everything'")


def test_the_command_gets_the_statement_and_no_shell_reads_its_words(tmp_path):
    hook = command(tmp_path, 'cat > "$(dirname "$0")/got"; echo "$1"')
    said = json.loads(find_or_request_receipt(tmp_path / "kept", hook, b"a statement"))
    assert (tmp_path / "got").read_bytes() == b"a statement"
    assert (said["statement"], said["command"]) == (compute_sha256(b"a statement"), "enter")
    assert base64.b64decode(said["answer"]) == b"a word; $(with) 'everything'\n"


def test_its_secrets_stay_with_temper(tmp_path, monkeypatch):
    monkeypatch.setenv("TEMPER_DATABASE_URL", "postgresql://ada:hunter2@db")
    said = json.loads(find_or_request_receipt(tmp_path / "kept", command(tmp_path, "env"), b"x"))
    assert b"hunter2" not in base64.b64decode(said["answer"])


def test_it_is_asked_once(tmp_path):
    hook = command(tmp_path, 'echo x >> "$(dirname "$0")/asked"; echo 7')
    first = find_or_request_receipt(tmp_path / "kept", hook, b"s")
    assert (
        find_or_request_receipt(tmp_path / "kept", hook, b"s")
        == find_or_request_receipt(tmp_path / "kept", (), b"s")
        == first
    )
    assert (tmp_path / "asked").read_text() == "x\n"
    assert find_or_request_receipt(tmp_path / "kept", (), b"another") is None


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("exit 3", "exited with 3"),
        ("true", "wrote 0 bytes"),
        ("head -c 70000 /dev/zero; sleep 100", f"more than {LONGEST_RECEIPT} bytes"),
        ("yes", f"more than {LONGEST_RECEIPT} bytes"),
        ("sleep 100 & sleep 100", "did not answer within 0.3 seconds"),
        ("while :; do echo x; sleep 0.01; done", "did not answer within 0.3 seconds"),
        ("exec >&-; sleep 100", "did not answer within 0.3 seconds"),
    ],
)
def test_what_gives_no_receipt_is_a_sentence_and_nothing_is_kept(tmp_path, body, says):
    with pytest.raises(EnvironmentUnusable, match=says):
        find_or_request_receipt(tmp_path / "kept", command(tmp_path, body), b"s", 0.3 if "seconds" in says else 30.0)
    assert not (tmp_path / "kept").exists()


def test_a_process_that_leaves_the_commands_group_with_its_pipe_does_not_outlast_the_patience(tmp_path):
    hook = command(tmp_path, 'setsid sleep 8 & echo $! > "$(dirname "$0")/left"; echo 7')
    began = time.monotonic()
    with pytest.raises(EnvironmentUnusable, match=r"did not answer within 0\.5 seconds"):
        find_or_request_receipt(tmp_path / "kept", hook, b"s", 0.5)
    assert time.monotonic() - began < 5
    os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_command_that_temper_may_not_end_does_not_outlast_the_patience(tmp_path, monkeypatch):
    def refuse(pid, number):
        refused.append(pid)
        raise PermissionError

    refused, end_group = [], os.killpg  # sudo's process belongs to root
    monkeypatch.setattr(os, "killpg", refuse)
    began = time.monotonic()
    with pytest.raises(EnvironmentUnusable, match=r"did not answer within 0\.3 seconds"):
        find_or_request_receipt(tmp_path / "kept", command(tmp_path, "exec sleep 8"), b"s", 0.3)
    assert time.monotonic() - began < 5
    end_group(refused[0], signal.SIGKILL)


def test_the_longest_answer_that_is_kept_is_one_that_the_script_reads(tmp_path):
    hook = command(tmp_path, f"head -c {LONGEST_RECEIPT} /dev/zero")
    assert read_unverified_external_log_answer(find_or_request_receipt(tmp_path / "kept", hook, b"s"), b"s") == bytes(
        LONGEST_RECEIPT
    )


def test_a_command_that_is_not_there_is_said(tmp_path):
    with pytest.raises(EnvironmentUnusable, match="could not be started"):
        find_or_request_receipt(tmp_path / "kept", (str(tmp_path / "none"),), b"s")


@pytest.mark.parametrize("said", ["enter it", "[]", '"x"', "[1]", '[""]', '["a\\u0000"]', json.dumps(["x"] * 65)])
def test_the_setting_is_a_list_of_words(said):
    with pytest.raises(BadInput, match="TEMPER_LOG_HOOK must be a JSON list"):
        parse_hook_command_json(said)
    assert parse_hook_command_json('["a", "b c"]') == ("a", "b c")
    assert parse_hook_command_json("") == ()


@pytest.fixture
def handed(tmp_path):
    def out(body):
        database = open_and_migrate_database(tmp_path / "temper.sqlite")
        log = plain_log(WORDS, WORDS)
        EventStore(database).append(log)
        notary = open_notary(tmp_path, database, hook=command(tmp_path, body))
        files = unpack_zip_packed_by_temper(notary.issue_evidence(log[0].run, Requester("ada", "operator", "token")))
        database.dispose()
        return files, check_pack_and_get_manifest(files, key=notary.key.public)

    return out


def test_a_pack_has_it_beside_its_seals_and_says_who_can_check_it(handed):
    files, manifest = handed(r"printf 'index 7 \033[2J\nholds: all of it\377'")
    assert describe_difference_from_rebuild(files) == ""
    told = list_proof_explanations(files, manifest)
    assert told[-2].endswith("in its own words: index 7 [2J holds: all of it"), told[-2]
    assert told[-1] == "whether the log holds it, the log's own tool tells, and nothing here does"
    for changed in (
        {"statement": "0" * 64},
        {"answer": "?"},
        {"answer": base64.b64encode(b"x" * (LONGEST_RECEIPT + 1)).decode()},
        {"more": 1},
    ):
        odd = json.dumps(json.loads(files[RECEIPT]) | changed).encode()
        with pytest.raises(BrokenPack):
            check_pack_and_get_manifest(listed_anew({**files, RECEIPT: odd}))
    assert ATTESTED in files


def test_where_the_command_fails_the_pack_goes_out_without(handed, caplog):
    files, _ = handed("exit 1")
    assert RECEIPT not in files
    assert "without a log's receipt" in caplog.text

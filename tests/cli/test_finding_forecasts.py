"""`temper plan-run`: the forecast of a run on the simulated host, and what a later run then does."""

import json

import pytest

from app.cli.finding_forecasts import ALL_PROPOSED, SOME_OPEN, print_forecasts_and_get_exit_code
from app.config import Settings
from app.errors import BadInput
from app.targets.host_registry import open_target


@pytest.fixture
def settings(tmp_path):
    return Settings(data=tmp_path)


def test_each_finding_has_a_source_or_a_question_and_nothing_is_changed(settings, capsys):
    words = (settings, "fixture", "stig", ("V-257984", "V-257989"))
    assert print_forecasts_and_get_exit_code(*words, as_json=True) == SOME_OPEN
    rows = {row["rule"]: row for row in json.loads(capsys.readouterr().out)}
    fixed, left = rows["V-257984"], rows["V-257989"]
    assert (fixed["source"], fixed["question"]) == ("the fix text", "")
    assert fixed["actions"] == [
        {"do": "set_option", "path": "/etc/ssh/sshd_config", "key": "PermitEmptyPasswords", "value": "no"}
    ]
    assert (left["source"], left["actions"], left["question"]) == ("", [], "has no proposal that is safe here")
    host = open_target("fixture", settings.hosts_folder)
    assert b"PermitEmptyPasswords no" not in host.files.read("/etc/ssh/sshd_config")
    host.close()


def test_it_is_told_by_source_and_by_question(settings, capsys):
    assert (
        print_forecasts_and_get_exit_code(
            settings, "fixture", "stig", ("V-257984", "V-258057", "V-257989"), as_json=False
        )
        == SOME_OPEN
    )
    text = capsys.readouterr().out
    assert "fixture: 3 findings. For 2 a change is proposed that the policy accepts:" in text
    assert "2  from the fix text" in text
    assert "1  of these ask a person in every mode: V-258057" in text
    assert "V-257989: The fix text holds no line" in text


def test_a_rule_that_holds_is_no_finding_and_an_unknown_one_is_refused(settings, capsys):
    assert print_forecasts_and_get_exit_code(settings, "fixture", "stig", ("V-257984",), as_json=False) == ALL_PROPOSED
    assert "left to a model or to a person" not in capsys.readouterr().out
    with pytest.raises(BadInput, match="There is no rule 'V-1'"):
        print_forecasts_and_get_exit_code(settings, "fixture", "stig", ("V-1",), as_json=False)

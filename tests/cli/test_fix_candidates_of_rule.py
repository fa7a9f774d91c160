"""`temper candidates`: what the content proposes for a rule, judged on a host, with nothing changed there."""

import json
from pathlib import Path

import pytest

from app.cli.fix_candidates_of_rule import ACCEPTED, NOT_ACCEPTED, print_candidates_and_get_acceptance_code
from app.config import Settings
from app.errors import BadInput

STREAM = Path(__file__).parents[1] / "data" / "scap" / "small-ds.xml"
TASKS = """- lineinfile: {path: /etc/sysctl.conf, regexp: '^kernel.kptr', line: kernel.kptr_restrict=2, create: true}
- lineinfile: {path: /etc/issue, line: <sub idref="xccdf_temper.test_value_answer"/>, state: absent}"""
NAME = "scap:small:xccdf_temper.test_profile_base"


@pytest.fixture
def content(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    text = STREAM.read_text()
    assert "- not for us" in text
    (folder / "small-ds.xml").write_text(text.replace("- not for us", TASKS))
    return NAME


@pytest.fixture
def settings(tmp_path):
    return Settings(data=tmp_path)


def test_a_fix_text_without_literal_steps_says_so(settings, capsys):
    assert (
        print_candidates_and_get_acceptance_code(settings, "V-257989", "fixture", "stig", as_json=False) == NOT_ACCEPTED
    )
    assert "no line and no command that a typed action can have" in capsys.readouterr().out


def test_an_unknown_rule_is_refused_with_what_is_like_it(settings):
    with pytest.raises(BadInput, match=r"has no rule 'V-25798'\. Did you mean V-257989, V-257986, V-257985\?"):
        print_candidates_and_get_acceptance_code(settings, "V-25798", "fixture", "stig", as_json=False)


def test_tasks_and_text_are_judged_and_shown_with_their_difference(settings, capsys, content):
    words = (settings, "V-257985", "fixture", content)
    assert print_candidates_and_get_acceptance_code(*words, as_json=True) == ACCEPTED
    (one,) = json.loads(capsys.readouterr().out)
    assert (one["source"], one["accepted"], one["refusals"]) == ("the content's Ansible tasks", True, [])
    assert one["actions"] == [
        {"do": "write_file", "path": "/etc/sysctl.conf", "content": "kernel.kptr_restrict=2\n", "mode": "0644"},
        {"do": "reload", "service": "systemd-sysctl"},
    ]
    assert "+kernel.kptr_restrict=2" in one["diff"]
    assert print_candidates_and_get_acceptance_code(*words, as_json=False) == ACCEPTED
    assert "From the content's Ansible tasks: accepted by the policy" in capsys.readouterr().out


def test_a_recipe_is_listed_first_and_a_wrong_one_is_refused(settings, capsys, tmp_path):
    recipes = settings.fix_recipes_folder
    recipes.mkdir()
    text = '"V-257989" = [{do = "set_option", path = "/etc/crypto-policies/config", key = "x", value = "y"}]'
    (recipes / "site.toml").write_text(text)
    assert (
        print_candidates_and_get_acceptance_code(settings, "V-257989", "fixture", "stig", as_json=False) == NOT_ACCEPTED
    )
    assert "From a recipe of site: refused." in capsys.readouterr().out
    (recipes / "site.toml").write_text(text.replace("set_option", "shell"))
    with pytest.raises(BadInput, match=r"site\.toml:1: action 1 of V-257989"):
        print_candidates_and_get_acceptance_code(settings, "V-257989", "fixture", "stig", as_json=False)

"""A row says what is particular about it."""

import shlex
from dataclasses import replace

import pytest
from typer.main import get_command

from app.cli.commands import lineup_scores
from app.cli.exit_codes import COULD_NOT, NOT_PINNED
from app.cli.lineup_score import (
    ScoreOptions,
    build_score_settings,
    choose_score_subject,
    format_score_label,
    run_score,
    write_score_table,
)
from app.cli.lineup_score_on_machine import score_on_machine
from app.cli.server_to_lineup import print_score_instructions
from app.config import Settings
from app.errors import BadInput
from app.events.event_field_types import Budget
from app.scores.public_score import read_verified_public_score
from app.scores.signed_score_file import read_verified_result_file
from tests.cli.test_up import LINEUP
from tests.engines.conftest import simulator
from tests.engines.launch.conftest import free_port
from tests.forkserver import temper
from tests.test_cli import refused


def test_a_smaller_budget_is_in_the_name_of_the_row():
    assert format_score_label("cpu", Budget()) == "cpu"
    assert format_score_label("cpu", Budget(attempts=1)) == "cpu, at most 1 attempt per rule"
    assert (
        format_score_label("cpu", Budget(attempts=2, item_seconds=132))
        == "cpu, at most 2 attempts and 2.2 min per rule"
    )


def options(folder, name, rules="V-257984,V-257985"):
    return ScoreOptions(name, 1, 1, rules, "", folder / "score.json", None, "", False, Budget())


def test_candidates_without_a_model_are_a_baseline_of_their_own(tmp_path, capsys):
    asked = options(tmp_path, "candidates")
    settings = build_score_settings(Settings(data=tmp_path, speed=0, kind="score"), asked.lineup)
    assert run_score(settings, asked) == 0
    made = read_verified_result_file(asked.out).score
    order = made.order
    assert (order.label, order.kind, order.engine) == ("candidates without a model", "no model", "none")
    assert (made.simulated, made.models) == (False, ())
    first, second = (fate for trial in made.trials for fate in trial.fates)
    assert (first.ended, first.closing, first.turns) == ("passed", "pass", 0)
    assert (second.ended, second.harmed, second.undone) == ("escalated", 1, 1)
    assert "candidates without a model" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "label"), [("nothing", "doing nothing"), ("cpu", "cpu")])
def test_other_subjects_keep_their_names(tmp_path, name, label):
    asked = options(tmp_path, name)
    subject = choose_score_subject(build_score_settings(Settings(data=tmp_path), name), asked)
    assert (subject.label, subject.kind) == (label, "baseline" if name == "nothing" else "line-up")


def test_a_server_is_scored_by_its_address_and_the_result_can_be_sent_in_without_it(tmp_path):
    public = tmp_path / "public.json"
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        words = ("--public", public, "--seeds", "1", "--rules", "V-257984", "--data", tmp_path / "data")
        assert temper("score", f"{running.root()}/v1", *words).returncode == 0
        address = running.root().removeprefix("http://")
    done = temper("score", "check", public)
    assert done.returncode == NOT_PINNED
    assert "trials of nvidia/Gemma-4-31B-IT-NVFP4, SIMULATED engines" in done.stdout
    assert "NVFP4 (guessed from the name)" in done.stdout
    made = read_verified_public_score(public).body
    assert made.score.simulated
    [trajectory] = made.trajectories
    assert [one["source"] for one in trajectory["steps"]].count("agent") == made.summary.turns > 0
    beside = tmp_path / "public.result.json"
    assert not [path for path in (public, beside) if address in path.read_text()]
    assert read_verified_result_file(beside).score == made.score
    assert temper("score", "check", public, "--key", "0" * 64).returncode == 2


def test_a_server_is_asked_before_it_is_scored_on_a_debian(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")  # no machine can be built
    asked = options(tmp_path, f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(BadInput, match=asked.lineup):
        score_on_machine(Settings(data=tmp_path, speed=0, kind="score"), asked, "vault")


@pytest.mark.parametrize("words", [{"name": "nothing"}, {"name": "cpu", "held_back": "secret words"}])
def test_what_cannot_be_shown_is_not_made_public(tmp_path, words):
    asked = replace(options(tmp_path, words["name"]), public=tmp_path / "p.json", held_back=words.get("held_back", ""))
    with pytest.raises(BadInput, match="--public publishes the hosts"):
        run_score(build_score_settings(Settings(data=tmp_path), asked.lineup), asked)
    assert not list(tmp_path.iterdir())


def test_a_table_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(BadInput, match=r"cannot write .*Choose another path"):
        write_score_table([], tmp_path / "no" / "scores.md")


def test_the_command_wants_one_of_two_files_and_the_offer_of_a_demo_can_be_typed(tmp_path, capsys):
    assert "--out FILE" in refused("score", "cpu")
    assert "add --host NAME" in refused("score", "cpu", "--out", str(tmp_path / "s.json"), "--skill", "stig")
    assert "leave --host out" in refused("score", "cpu", "--public", str(tmp_path / "p"), "--host", "x")
    print_score_instructions("http://127.0.0.1:8080/v1#a model")
    line = capsys.readouterr().out.splitlines()[0].partition(": ")[2]
    words = shlex.split(line)
    assert words[:4] == ["temper", "score", "http://127.0.0.1:8080/v1#a model", "--public"]
    group = get_command(lineup_scores.app).commands["score"]
    parsed = group.commands["lineup"].make_context("lineup", words[2:])
    assert str(parsed.params["public"]) == words[4]


@pytest.mark.timeout(60)
def test_an_engine_that_does_not_start_ends_the_score_with_its_reason(tmp_path):
    text = LINEUP.format(port=free_port(), python=tmp_path / "vllm", fake="serve", how="")
    (lineup := tmp_path / "one.toml").write_text(text)
    done = temper("score", lineup, "--out", tmp_path / "s.json", "--rules", "V-257984", "--data", tmp_path / "data")
    assert done.returncode == COULD_NOT
    assert "temper: small did not start: " in done.stderr.splitlines()[-1]

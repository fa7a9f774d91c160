"""A row says what is particular about it."""

import pytest

from app.cli.score import ScoreOptions, choose_subject, format_score_label, run_score, use_score_folder
from app.config import Settings
from app.events.vocabulary import Budget
from app.scores.score_file import read_result_file


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
    settings = use_score_folder(Settings(data=tmp_path, speed=0, kind="score"), asked.lineup)
    assert run_score(settings, asked) == 0
    made = read_result_file(asked.out).score
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
    subject = choose_subject(use_score_folder(Settings(data=tmp_path), name), asked)
    assert (subject.label, subject.kind) == (label, "baseline" if name == "nothing" else "line-up")

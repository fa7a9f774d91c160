"""`temper demo --real`, up to the start of its engine: tests/engines/llamacpp has that."""

import pytest

from app.cli.real_model_demo import RULES, create_small_model_order, select_cpu_lineup
from app.config import Settings
from app.errors import BadInput
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import create_run_request
from app.skills.catalog import load_skill


def test_it_is_the_line_up_without_a_gpu(tmp_path):
    assert select_cpu_lineup(Settings(data=tmp_path)).lineup == "cpu"


def test_another_line_up_is_not_silently_left_aside(tmp_path):
    with pytest.raises(BadInput, match="--lineup"):
        select_cpu_lineup(Settings(data=tmp_path, lineup="gb10"))


def test_what_is_missing_is_said_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr("app.engines.doctor.files_and_environment_for_checks.find_spec", lambda _: None)
    with pytest.raises(BadInput, match="make demo ARGS=--real"):
        select_cpu_lineup(Settings(data=tmp_path))


def test_its_run_is_of_four_rules_and_nothing_about_its_engine_is_simulated(tmp_path):
    assert set(RULES) <= set(load_skill("stig").rules)
    lineup = read_lineup(require_lineup_path("cpu"))
    asked = create_run_request(create_small_model_order("ada", "demo"), lineup, tmp_path)
    assert (asked.rules, asked.simulated, asked.pace) == (RULES, False, None)

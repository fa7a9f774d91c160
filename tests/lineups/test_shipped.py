"""The line-ups that are shipped: each is planned to fit, and what deploy/ holds is what they make."""

import json
import shlex
from dataclasses import replace

import pytest
import yaml

from app.engines.fit.lineup_estimate import plan_lineup
from app.engines.launch.launch_command import build_launch_command, build_serve_arguments
from app.engines.launch.unit_files import render_compose_file, render_systemd_units
from app.errors import BadInput
from app.lineups.reader import LINEUPS, list_shipped_lineup_names, read_lineup, require_lineup_path

DEPLOY = LINEUPS.parents[1] / "deploy"
DEPLOYED = "l4x4-nvfp4"
ON_CPU = "cpu"
NAMES = ["blackwell-mtp", "gb10", "h100x2-light", "h100x2-push", "l4x4-bf16-tp4", "l4x4-nvfp4"]


def lineup(name):
    return read_lineup(require_lineup_path(name))


def test_they_are_all_here():
    assert list_shipped_lineup_names() == sorted([*NAMES, ON_CPU, "simulated"])


@pytest.mark.parametrize("name", [*NAMES, "simulated"])
def test_each_fits(name):
    for fit in plan_lineup(lineup(name)):
        assert fit.fits, fit.says


def test_the_one_without_a_gpu_has_one_engine_for_all_roles_and_nothing_simulated():
    one = lineup(ON_CPU)
    assert (one.gpus, one.simulated, len(one.engines), len(one.seats)) == ((), False, 1, 4)
    [engine] = one.engines.values()
    assert (engine.hardware_label, engine.replicas, engine.addresses) == ("CPU", ((),), ("http://127.0.0.1:8111/v1",))
    with pytest.raises(BadInput, match="runs on the processor"):
        plan_lineup(one)


def test_the_small_model_gets_the_prompts_that_it_was_trained_on_and_large_ones_see_proposals_and_ask():
    small, large = lineup(ON_CPU), lineup("simulated")
    assert (small.shows_candidates, small.asks_host_questions) == (False, False)
    assert (large.shows_candidates, large.asks_host_questions) == (True, True)


@pytest.mark.parametrize("name", NAMES)
def test_no_claim_of_others_beats_what_the_memory_allows(name):
    for fit, engine in zip(plan_lineup(one := lineup(name)), one.engines.values(), strict=True):
        if engine.reported and engine.reported.tok_s:
            best = fit.limit_with_speculation_tok_s.value or fit.limit_tok_s.value
            assert 0.3 * best < engine.reported.tok_s < best


@pytest.mark.parametrize("name", NAMES)
def test_kv_tokens_that_others_report_are_what_the_plan_says(name):
    for fit, engine in zip(plan_lineup(one := lineup(name)), one.engines.values(), strict=True):
        if engine.reported and engine.reported.kv_tokens:
            assert fit.kv_tokens.value == pytest.approx(engine.reported.kv_tokens, rel=0.08)


def test_h100x2_light_has_a_replica_on_each_card():
    engine = lineup("h100x2-light").engines["gemma-31b"]
    assert engine.replicas == ((0,), (1,))
    assert [build_launch_command(engine, n).env["CUDA_VISIBLE_DEVICES"] for n in (0, 1)] == ["0", "1"]
    assert engine.addresses == ("http://127.0.0.1:8101/v1", "http://127.0.0.1:8102/v1")


def test_the_simulated_one_says_the_limit_that_the_plan_reckons():
    one = lineup("simulated")
    for fit, engine in zip(plan_lineup(one), one.engines.values(), strict=True):
        assert engine.limit_tok_s == pytest.approx(fit.limit_tok_s.value, abs=0.06)


def test_what_deploy_holds_is_what_the_line_up_makes():
    made = render_systemd_units(lineup(DEPLOYED), DEPLOYED)
    held = {path.name: path.read_text() for path in (DEPLOY / "systemd").iterdir()}
    assert held == made
    assert (DEPLOY / "compose.yaml").read_text() == render_compose_file(lineup(DEPLOYED), DEPLOYED)


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_starts_the_same_words(name):
    units = render_systemd_units(one := lineup(name), name)
    for engine in one.engines.values():
        for replica in range(len(engine.replicas)):
            unit = units[f"temper-{engine.name}-{replica}.service"]
            words = shlex.split(field(unit, "ExecStart"))
            assert words == ["/usr/bin/env", *build_launch_command(engine, replica).argv]
            assert "Restart=no" in unit


@pytest.mark.parametrize("name", NAMES)
def test_a_service_starts_the_same_words_on_the_same_gpus(name):
    services = yaml.safe_load(render_compose_file(one := lineup(name), name))["services"]
    for engine in one.engines.values():
        for replica, gpus in enumerate(engine.replicas):
            service = services[f"{engine.name}-{replica}"]
            port = build_launch_command(engine, replica).port
            assert service["command"] == list(build_serve_arguments(engine, port))
            (device,) = service["deploy"]["resources"]["reservations"]["devices"]
            assert device["device_ids"] == [str(gpu) for gpu in gpus]
            assert service["restart"] == "no"


def test_what_systemd_and_compose_would_read_as_their_own_is_quoted():
    one = lineup(DEPLOYED)
    engine = one.engines["gemma-31b"]
    odd = replace(engine, launch=replace(engine.launch, flags=("--x", 'a "b" $HOME 5%')))
    changed = replace(one, engines={"gemma-31b": odd})
    exec_start = field(render_systemd_units(changed, DEPLOYED)["temper-gemma-31b-0.service"], "ExecStart")
    assert exec_start.endswith(r'--x "a \"b\" $$HOME 5%%"')
    said = yaml.safe_load(render_compose_file(changed, DEPLOYED))["services"]["gemma-31b-0"]["command"]
    assert said[-1] == 'a "b" $$HOME 5%'


def test_attached_it_looks_at_the_same_addresses_and_starts_nothing():
    one = lineup(DEPLOYED)
    attached = one.to_attached()
    assert all(engine.launch is None for engine in attached.engines.values())
    assert [engine.addresses for engine in attached.engines.values()] == [
        engine.addresses for engine in one.engines.values()
    ]
    assert json.dumps(attached.engines["gemma-31b"].base_urls) == '["http://127.0.0.1:8101/v1"]'


def field(unit, name):
    return next(line for line in unit.splitlines() if line.startswith(f"{name}=")).split("=", 1)[1]

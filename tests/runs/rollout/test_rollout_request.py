"""What a rollout asks of each of its hosts is what was asked of it."""

import pytest

from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order
from app.runs.rollout.rollout_request import (
    RolloutSpec,
    build_host_run_request,
    create_order_without_host,
    create_rollout_request,
)
from app.targets.host_registry import register_host
from app.targets.ssh.endpoint import parse_endpoint


@pytest.mark.parametrize("asked", [{"after_reboot": True}, {"reboot": True, "mode": "auto"}])
def test_a_check_after_a_reboot_and_a_reboot_are_each_hosts(tmp_path, asked):
    lineup = read_lineup(require_lineup_path("simulated"))
    for name in ("web1", "web2"):
        register_host(tmp_path, name, parse_endpoint(f"root@{name}", "agent"), "key ssh-ed25519 AAAA\n", "SHA256:x")
    order = Order(rules=("V-257985",), by="jo", **asked)
    rollout = create_rollout_request(RolloutSpec(order=order, hosts=("web1", "web2"), words="all"), lineup, tmp_path)
    led = build_host_run_request(create_order_without_host(rollout, "r1"), "web2", lineup, tmp_path)
    assert {name: getattr(led, name) for name in asked} == asked
    assert led.mode == asked.get("mode", "scan")


@pytest.mark.parametrize("replay", [True, False])
def test_each_run_gets_what_was_asked_of_the_rollout(tmp_path, replay):
    lineup = read_lineup(require_lineup_path("simulated"))
    order = Order(rules=("V-257985",), mode="dry-run", keep=True, note="n", pace=2.0, replay_fixes=replay, by="jo")
    asked = create_rollout_request(
        RolloutSpec(order=order, hosts=("fixture", "fixture-2"), words="all"), lineup, tmp_path
    )
    alone = build_host_run_request(order, "fixture-2", lineup, tmp_path)
    led = build_host_run_request(create_order_without_host(asked, "r1"), "fixture-2", lineup, tmp_path)
    assert led.by == "rollout r1 of jo"
    assert led == type(alone)(
        **{name: getattr(alone, name) for name in alone.__struct_fields__} | {"by": led.by, "whose": "jo"}
    )

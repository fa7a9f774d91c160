"""A host that shares its kernel says so before a kernel setting is written, unless the kernel has it already."""

from pathlib import Path

import pytest

from app.events.event_field_types import AppendLine, Reload
from app.targets.planned_effects_of_actions import IMPOSSIBLE

PLACE, KEY = "/etc/sysctl.d/90-x.conf", "kernel.pid_max"
NOW = Path("/proc/sys/kernel/pid_max").read_text().strip()


def propose(value):
    return [AppendLine(path="/etc/sysctl.conf", line=f"{KEY} = {value}"), Reload(service="systemd-sysctl")]


@pytest.fixture
def target(host, opened):
    """On a host whose kernel settings are mounted read-only."""
    host.enters(small="--ro-bind /proc/sys /proc/sys")
    one = opened()
    one.prepare()
    return one


def assess(target, value):
    asks = frozenset({f"{loader} {KEY} {value}" for loader in ("sysctl", "systemd-sysctl")})
    actions = propose(value)
    return [
        (one.clause, one.reason)
        for one in target.assess_actions(actions, frozenset({"/etc/sysctl.conf"}), asks).refusals
    ]


def test_another_value_than_the_kernels_is_impossible_there(target):
    [(clause, reason)] = assess(target, int(NOW) - 1)
    assert clause == IMPOSSIBLE
    assert f"{KEY} is {NOW} in the kernel" in reason


def test_the_kernels_own_value_may_be_written_down(target):
    assert assess(target, NOW) == []

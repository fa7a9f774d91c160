import pytest

from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.registry import is_wanted_state_reached
from app.resources.unit import SetUnit, judge_units
from tests.resources.case import KindCase, Sample

CASE = KindCase(
    samples=(
        Sample(
            SetUnit(unit="tidy.service", to="enable"),
            HostState("disabled -"),
            ResourceState("unit:tidy.service", "disabled -", "enabled -"),
            ResourceState("unit:tftp.service", "disabled -", "enabled -"),
        ),
        Sample(
            SetUnit(unit="tidy.service", to="enable-now"),
            HostState("disabled inactive", has_systemd=True),
            ResourceState("unit:tidy.service", "disabled -", "enabled -"),
            ResourceState("unit:tftp.service", "disabled inactive", "enabled active"),
        ),
        Sample(
            SetUnit(unit="multi-user.target", to="set-default"),
            HostState("static -"),
            ResourceState("unit:multi-user.target", "static -", "default -"),
            ResourceState("unit:ctrl-alt-del.target", "disabled -", "default -"),
        ),
        Sample(
            SetUnit(unit="ctrl-alt-del.target", to="mask"),
            HostState("disabled -"),
            ResourceState("unit:ctrl-alt-del.target", "disabled -", "masked -"),
            ResourceState("unit:multi-user.target", "static -", "masked -"),
        ),
    ),
    rule=RuleTexts("x", "The tidy service must be enabled, ctrl-alt-del.target masked, multi-user.target the default."),
    prepare=r"""
mkdir -p /etc/systemd/system
printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/tidy.service
""",
)


def change(unit, before, after):
    return ForeseenStates((ResourceState(f"unit:{unit}", before, after),))


@pytest.mark.parametrize(
    ("unit", "clause"),
    [
        ("ssh.service", "protected identity"),
        ("sshd.service", "protected identity"),
        ("systemd-logind.service", "destruction"),
        ("getty@tty1.service", "lockout"),
        ("networking.service", "network"),
        ("rsyslog.service", "evidence tampering"),
        ("firewalld.service", "weakening"),
        ("home.mount", "destruction"),
    ],
)
@pytest.mark.parametrize("after", ["disabled active", "masked active", "enabled inactive"])
def test_what_lets_in_and_records_goes_on_running(unit, clause, after):
    assert judge_units(change(unit, "enabled active", after)).clause == clause


def test_what_is_not_needed_may_be_left_out():
    assert judge_units(change("cups.service", "enabled active", "masked active")) is None
    assert judge_units(change("systemd-coredump.socket", "static active", "masked active")) is None
    assert judge_units(change("systemd-coredump-keeper.service", "enabled active", "masked active")) is not None
    assert judge_units(change("rsyslog.service", "disabled inactive", "enabled inactive")) is None
    assert judge_units(change("rsyslog.service", "enabled inactive", "enabled active")) is None


@pytest.mark.parametrize("unit", ["debug-shell.service", "telnet.socket", "tftp.service"])
def test_what_hardening_leaves_out_is_not_brought_in(unit):
    assert judge_units(change(unit, "disabled -", "enabled -")).clause == "weakening"
    assert judge_units(change(unit, "masked -", "unmasked -")).clause == "weakening"
    assert judge_units(change(unit, "disabled inactive", "disabled active")).clause == "weakening"
    assert judge_units(change(unit, "disabled -", "masked -")) is None


def test_what_is_unmasked_is_whatever_it_was_underneath():
    assert is_wanted_state_reached("unit:x.service", "unmasked -", "disabled -")
    assert not is_wanted_state_reached("unit:x.service", "unmasked -", "masked -")
    assert not is_wanted_state_reached("unit:x.service", "masked -", "disabled -")

import pytest

from app.events.event_field_types import AppendLine
from app.resources.kind import ResourceState
from app.resources.package import InstallPackage, RemovePackage
from app.resources.unit import SetUnit
from app.targets.policy import list_action_refusals
from app.targets.resources.resource_dry_run import DryRun
from tests.hostfiles import DictFiles

TELNET = RemovePackage(package="telnet")
GOES = DryRun((ResourceState("package:telnet", "installed 1", ""),))


class NoLinks(DictFiles):
    def find_first_link(self, _path):
        return None


def clauses(actions, foreseen, *allowed):
    return [one.clause for one in list_action_refusals(actions, frozenset(allowed), NoLinks({}), foreseen=foreseen)]


def test_what_the_plan_names_and_the_host_foresees_may_be_done():
    assert clauses([TELNET], GOES, "package:telnet") == []


@pytest.mark.parametrize(
    ("foreseen", "allowed", "clause"),
    [
        (GOES, (), "outside the plan"),
        (DryRun(lacking="Unable to locate package telnet"), ("package:telnet",), "not understood"),
        (DryRun((ResourceState("package:telnet", "", ""),)), ("package:telnet",), "not understood"),
        (DryRun(), ("package:telnet",), "not understood"),
    ],
)
def test_what_was_not_planned_or_cannot_be_is_refused(foreseen, allowed, clause):
    assert clauses([TELNET], foreseen, *allowed) == [clause]


def test_a_change_is_of_one_kind():
    """What an action would make of a file that a package brings cannot be foreseen."""
    unit = ResourceState("unit:x.service", "enabled active", "masked active")
    both = DryRun((*GOES.states, unit))
    allowed = ("package:telnet", "unit:x.service", "/etc/motd")
    assert clauses([TELNET, SetUnit(unit="x.service", to="mask")], both, *allowed) == ["too much"]
    motd = NoLinks({"/etc/motd": "x"})
    mixed = [TELNET, AppendLine(path="/etc/motd", line="y")]
    assert [one.clause for one in list_action_refusals(mixed, frozenset(allowed), motd, foreseen=GOES)] == ["too much"]


def test_one_thing_is_named_once():
    twice = [SetUnit(unit="x.service", to="disable"), SetUnit(unit="x.service", to="mask")]
    unit = DryRun((ResourceState("unit:x.service", "enabled active", "masked active"),))
    assert clauses(twice, unit, "unit:x.service") == ["too much"]


def test_an_installation_is_judged_by_all_that_comes_and_goes_with_it():
    action = InstallPackage(package="chrony")
    states = (ResourceState("package:chrony", "", "installed 4"), ResourceState("package:rsyslog", "installed 8", ""))
    assert clauses([action], DryRun(states), "package:chrony") == ["evidence tampering"]

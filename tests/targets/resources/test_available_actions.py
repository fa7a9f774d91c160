from app.resources.account import SetAgeing
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage, RemovePackage
from app.resources.unit import SetUnit
from app.targets.resources.available_actions import build_offers

CUPS = [SetUnit(unit="cups.service", to=verb) for verb in ("unmask", "mask", "enable", "disable", "stop", "start")]


def places(states, wanted, could=None, runs=False):
    return {one.place: one.actions for one in build_offers(states, could or {}, wanted, has_systemd=runs)}


def test_only_what_the_host_has_and_what_would_change_it_is_offered():
    wanted = [
        *(kind(package=name) for name in ("aide", "telnet", "ghost") for kind in (RemovePackage, InstallPackage)),
        AddMountOptions(mount="/tmp", options=("nodev",)),
        *(SetAgeing(account=name, setting="max", days=60) for name in ("ana", "bob")),
    ]
    states = [
        ("package:aide", ""),
        ("package:telnet", "installed 0.17"),
        ("package:ghost", ""),
        ("mount:/tmp", "mounted none, fstab none"),
        ("account:ana", "min 0, max 99999, warn 7, inactive -, changed 19000"),
        ("account:bob", "min 0, max 60, warn 7, inactive -, changed 19000"),
    ]
    assert places(states, wanted, {"package:aide": "0.18"}) == {
        "package:aide": (InstallPackage(package="aide"),),
        "package:telnet": (RemovePackage(package="telnet"),),
        "mount:/tmp": (AddMountOptions(mount="/tmp", options=("nodev",)),),
        "account:ana": (SetAgeing(account="ana", setting="max", days=60),),
    }


def test_a_unit_is_started_and_stopped_only_where_systemd_runs():
    states = [("unit:cups.service", "enabled active")]
    found = [places(states, CUPS, runs=runs)["unit:cups.service"] for runs in (False, True)]
    assert [[action.to for action in one] for one in found] == [["mask", "disable"], ["mask", "disable", "stop"]]
    masked = places([("unit:cups.service", "masked -")], CUPS)
    assert masked["unit:cups.service"] == (SetUnit(unit="cups.service", to="unmask"),)


def test_what_a_role_reads_is_the_state_and_what_could_come():
    (offer,) = build_offers(
        [("package:aide", "")], {"package:aide": "0.18"}, [InstallPackage(package="aide")], has_systemd=False
    )
    assert offer.description == "package:aide: 0.18 could be installed"

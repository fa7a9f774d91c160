"""Two processes that cannot see each other have one host: it does what the one says that has it now."""

import pytest

from app.errors import ConnectionLost, LeaseLost
from app.events.event_field_types import SetOption
from app.targets.host_lock import Ownership

SSHD = "/etc/ssh/sshd_config"
NO_X11 = SetOption(path=SSHD, key="X11Forwarding", value="no")
PATHS = frozenset({SSHD})


def test_the_host_refuses_who_had_it_before_in_the_middle_of_a_change(host, opened):
    late = opened(owned=Ownership(fencing_token=5))
    late.prepare()
    late.apply("first", [NO_X11], PATHS)
    other = opened(name="elsewhere", owned=Ownership(fencing_token=6))
    assert other.list_pending() == ["first"], "the host itself knows of it"
    was = host.everything()
    for step in (
        lambda: late.roll_back("first"),
        lambda: late.commit("first"),
        lambda: late._tree.write(SSHD, late._tree.state(SSHD)),
        lambda: late._tree.remove("/etc/motd"),
        lambda: late._journals.begin("second", {}, {}, []),
    ):
        with pytest.raises(LeaseLost):
            step()
    assert host.everything() == was
    assert other.roll_back("first").differences == ()


def test_a_claim_that_came_back_from_nonsense_or_from_nobody_counts_as_none(host, opened):
    claim = host.root / "var/lib/temper/journal/claim"
    opened(owned=Ownership(fencing_token=7)).prepare()
    assert claim.read_text() == "7\n"
    claim.write_text("\x00 not a number\n")
    opened(owned=Ownership(fencing_token=3)).prepare()
    assert claim.read_text() == "3\n"
    nobody = opened()
    nobody.prepare()
    nobody.apply("by-hand", [NO_X11], PATHS)
    nobody.commit("by-hand")
    assert claim.read_text() == "3\n"


def test_who_only_looks_leaves_no_claim(host, opened):
    target = opened()
    target.prepare(changes=False)
    assert target.files.read(SSHD)
    assert not (host.root / "var/lib/temper/journal/claim").exists()


@pytest.mark.parametrize(("others", "raised"), [(True, LeaseLost), (False, ConnectionLost)])
def test_a_host_that_answers_no_more_is_for_who_may_reach_it_where_there_is_one(host, opened, others, raised):
    target = opened(owned=Ownership(fencing_token=1, hand_over=lambda: others))
    target.prepare()
    host.cut(listener=True)
    with pytest.raises(raised):
        target.list_pending()

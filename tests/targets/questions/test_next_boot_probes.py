"""What the next boot would do, as the files have it."""

import pytest

from app.loop.harm_seen_by_probes import find_first_harm
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.health_probes import run_health_probes
from tests.targets.hosts import TODAY, host

UNITS, FSTAB, SELINUX = "/etc/systemd/system", "/etc/fstab", "/etc/selinux/config"
ROOT, HOME = "/dev/sda1 / ext4 defaults 0 1\n", "/dev/sda2 /home ext4 defaults 0 2\n"


def asked(changes, name="next-boot"):
    return next(probe for probe in run_health_probes(host(changes), TODAY) if probe.name == name)


@pytest.fixture
def laid_out(tmp_path):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    (tmp_path / "root/etc/systemd/system").mkdir(parents=True)
    return target, tmp_path / "root/etc/systemd/system"


@pytest.mark.parametrize(
    ("unit", "goal", "said"),
    [
        ("default.target", "/usr/lib/systemd/system/rescue.target", "goes to rescue"),
        ("default.target", "/lib/systemd/system/poweroff.target", "goes to poweroff"),
        ("default.target", "/dev/null", "goes to nothing at all"),
        ("sshd.service", "/dev/null", "leaves out sshd.service"),
        ("systemd-logind.service", "/dev/null", "leaves out systemd-logind.service"),
        ("getty@.service", "/dev/null", "leaves out getty@.service"),
        ("default.target", "/usr/lib/systemd/system/multi-user.target", None),
        ("ctrl-alt-del.target", "/dev/null", None),
        ("sshd.service", "/usr/lib/systemd/system/sshd.service", None),
    ],
)
def test_links_of_systemd_decide(laid_out, unit, goal, said):
    target, units = laid_out
    (units / unit).symlink_to(goal)
    (found,) = [probe for probe in target.check_health() if probe.name == "next-boot"]
    assert found.ok is (said is None)
    assert (said or "the next boot goes to") in found.detail


def test_a_mount_that_is_gone_or_new_is_harm():
    was = [asked({FSTAB: ROOT + HOME})]
    assert was[0].ok
    assert find_first_harm(was, [asked({FSTAB: "# tidier\n" + ROOT + HOME})]) is None
    assert find_first_harm(was, [asked({FSTAB: ROOT})]) == "next-boot: no longer: mounts /dev/sda2 on /home as ext4"
    assert find_first_harm([asked({FSTAB: ROOT})], was).startswith("next-boot: new: mounts /dev/sda2")
    shared = "tmpfs /dev/shm tmpfs nodev,nosuid,noexec 0 0\n"
    assert find_first_harm([asked({FSTAB: ROOT})], [asked({FSTAB: ROOT + shared})]) is None
    other = [asked({FSTAB: ROOT + shared.replace("shm", "mem")})]
    assert find_first_harm([asked({FSTAB: ROOT})], other).startswith("next-boot: new: mounts tmpfs")
    assert "line 2 has 2 fields" in asked({FSTAB: ROOT + "/dev/sdb1 /data\n"}).detail


def test_where_no_file_says_anything_that_is_said():
    assert "default target of its distribution" in asked({}).detail
    assert "/etc/fstab mounts nothing" in asked({}).detail
    assert "so no policy is loaded" in asked({}, "selinux-boot").detail


@pytest.mark.parametrize(
    ("config", "fine"),
    [
        ("SELINUX=enforcing\nSELINUXTYPE=targeted\n", True),
        ("SELINUX=enforcing\n", True),
        ("SELINUX=enforcing\nSELINUXTYPE=mls\n", False),
        ("SELINUX=enforcing\nSELINUXTYPE=targeted\nSELINUXTYPE=mls\n", False),
        ("SELINUX=enforcing\nSELINUXTYPE=../ssh\n", False),
        ("SELINUX=disabled\nSELINUXTYPE=mls\n", True),
    ],
)
def test_the_policy_that_is_named_has_to_be_there(tmp_path, config, fine):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    (tmp_path / "root/etc/selinux/config").write_text(config)
    (found,) = [probe for probe in target.check_health() if probe.name == "selinux-boot"]
    assert found.ok is fine

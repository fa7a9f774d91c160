import subprocess

import pytest

from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.mount import AddMountOptions, judge_mounts
from app.targets.ssh.shell_script import read_script_part
from tests.resources.case import KindCase, Sample

SHARED_MEMORY = "28 23 0:24 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,inode64\n"
WAS = "mounted nodev nosuid, fstab none"
CASE = KindCase(
    samples=(
        Sample(
            AddMountOptions(mount="/tmp", options=("noexec",)),
            HostState(WAS),
            ResourceState(
                "mount:/tmp", "mounted nodev nosuid, fstab none", "mounted nodev nosuid noexec, fstab noexec"
            ),
            ResourceState("mount:/usr", "mounted none, fstab none", "mounted noexec, fstab noexec"),
        ),
    ),
    rule=RuleTexts("x", "/tmp must be mounted with the noexec option."),
    prepare="echo 'tmpfs /tmp tmpfs defaults 0 0' >/etc/fstab",
)


def change(mount, after):
    return ForeseenStates((ResourceState(f"mount:{mount}", "mounted none, fstab none", after),))


@pytest.mark.parametrize("mount", ["/tmp", "/dev/shm", "/home", "/var/tmp", "/var/log/audit"])
def test_where_people_write_may_become_stricter(mount):
    assert judge_mounts(change(mount, "mounted nodev nosuid noexec, fstab nodev nosuid noexec")) is None


@pytest.mark.parametrize("mount", ["/", "/usr", "/proc", "/dev"])
def test_what_the_system_needs_stays_as_it_is(mount):
    assert judge_mounts(change(mount, "mounted nosuid, fstab nosuid")).clause == "destruction"


def test_programs_go_on_running_from_where_packages_keep_them():
    assert judge_mounts(change("/var", "mounted nodev, fstab nodev")) is None
    assert judge_mounts(change("/var", "mounted noexec, fstab noexec")).clause == "destruction"


@pytest.fixture
def ask_host(tmp_path):
    """Run functions of mount.sh on a mount table and an fstab of the test's own."""

    def run(words, fstab="", table=SHARED_MEMORY):
        (tmp_path / "fstab").write_text(fstab)
        (tmp_path / "mountinfo").write_text(table)
        text = read_script_part("mount").replace("/etc/fstab", f"{tmp_path}/fstab")
        text = text.replace("/proc/self/mountinfo", f"{tmp_path}/mountinfo")
        ran = subprocess.run(["/bin/sh", "-s"], input=f"{text}\n{words}\n", capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout

    return run


def test_shared_memory_gets_a_line_of_its_own_and_keeps_what_it_has(ask_host):
    assert ask_host("mount_state /dev/shm") == (0, "mounted nodev nosuid, fstab none\n")
    assert ask_host("mount_becomes /dev/shm noexec")[1] == ("mounted nodev nosuid noexec, fstab nodev nosuid noexec\n")
    root = "LABEL=root / ext4 defaults 0 1\n"
    assert ask_host("fstab_with /dev/shm noexec", root) == (
        0,
        f"{root}tmpfs /dev/shm tmpfs defaults,nodev,nosuid,noexec 0 0\n",
    )
    has = "tmpfs /dev/shm tmpfs defaults,size=1g 0 0\n"
    assert ask_host("fstab_with /dev/shm noexec", has) == (0, "tmpfs /dev/shm tmpfs defaults,size=1g,noexec 0 0\n")


def test_a_disk_without_a_line_gets_none(ask_host):
    disk = "30 1 8:2 / /srv rw,relatime shared:1 - ext4 /dev/sda2 rw\n"
    assert ask_host("fstab_with /srv nodev", table=disk)[0] == 3

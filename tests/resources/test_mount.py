import os
import subprocess

import pytest

from app.evidence.playbook.bash_script import render_script
from app.evidence.playbook.repeatable_fixes import PlainCheck, build_shell_commands
from app.resources.kind import ForeseenStates, HostState, ResourceState, RuleTexts
from app.resources.mount import AddMountOptions, judge_mounts
from app.targets.ssh.shell_script import read_script_part
from tests.evidence.playbook.fresh import fix
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


def change(mount, after, before="mounted none, fstab none"):
    return ForeseenStates((ResourceState(f"mount:{mount}", before, after),))


@pytest.mark.parametrize("mount", ["/tmp", "/dev/shm", "/home", "/var/tmp", "/var/log/audit"])
def test_where_people_write_may_become_stricter(mount):
    assert judge_mounts(change(mount, "mounted nodev nosuid noexec, fstab nodev nosuid noexec")) is None


@pytest.mark.parametrize("mount", ["/", "/usr", "/proc", "/dev"])
def test_what_the_system_needs_stays_as_it_is(mount):
    assert judge_mounts(change(mount, "mounted nosuid, fstab nosuid")).clause == "destruction"


def test_programs_go_on_running_from_where_packages_keep_them():
    assert judge_mounts(change("/var", "mounted nodev, fstab nodev")) is None
    assert judge_mounts(change("/var", "mounted noexec, fstab noexec")).clause == "destruction"
    had = "mounted noexec, fstab noexec"
    assert judge_mounts(change("/var", "mounted noexec nodev, fstab noexec nodev", had)) is None
    assert judge_mounts(change("/var", had, "mounted none, fstab noexec")).clause == "destruction"
    assert judge_mounts(change("/var", had, "mounted noexec, fstab none")).clause == "destruction"


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


@pytest.mark.parametrize("stated", ["defaults", "defaults,noexec"])
def test_the_exported_script_changes_and_takes_back_these_options_alone(tmp_path, stated):
    """On a file system in memory that has nosuid and nodev, whatever its line in fstab says."""
    place, fstab, file = tmp_path / "place", tmp_path / "fstab", tmp_path / "harden.sh"
    place.mkdir()
    fstab.write_text(f"tmpfs {place} tmpfs {stated} 0 0\n")
    show = f"findmnt -n -o VFS-OPTIONS --mountpoint {place}"
    once = PlainCheck("x", "it is asked once", f"{show} >>{tmp_path}/seen; mkdir {tmp_path}/asked")
    deeds = build_shell_commands(AddMountOptions(mount=str(place), options=("nodev", "noexec")), ())
    file.write_bytes(
        render_script(fix(deeds=deeds, checks=(once,)), "r", "").replace(b"/etc/fstab", str(fstab).encode())
    )
    words = f"mount -t tmpfs -o nosuid,nodev tmpfs {place}; bash {file}; {show} >>{tmp_path}/seen"
    ran = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", words],
        env=os.environ | {"LIBMOUNT_FSTAB": str(fstab), "TEMPER_KEPT": str(tmp_path / "kept")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "after the change, not so" in ran.stderr
    seen = [set(line.split(",")) & {"nosuid", "nodev", "noexec"} for line in (tmp_path / "seen").read_text().split()]
    assert seen == [{"nosuid", "nodev"}, {"nosuid", "nodev", "noexec"}, {"nosuid", "nodev"}]
    assert fstab.read_text() == f"tmpfs {place} tmpfs {stated} 0 0\n"

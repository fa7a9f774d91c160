"""A Debian that boots by QEMU: what it is made of, how it comes back, and that nothing of it stays."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress

import pytest

from app.cli.debian_demo import register_machine
from app.config import Settings
from app.errors import TemperError
from app.events.event_field_types import SetOption, WriteFile
from app.targets.host_registry import open_target
from tests.hosts.conftest import Site
from tests.machines.conftest import ask_root, may_root_log_in

pytestmark = [pytest.mark.machines, pytest.mark.timeout(1800)]

SEPARATE = {"/", "/home", "/tmp", "/var", "/var/log", "/var/log/audit", "/var/tmp"}
DAEMONS = ("ssh", "auditd", "rsyslog", "cron", "chrony")
SKILL = "scap:ssg-debian12:anssi_bp28_enhanced"
TIED = """
import sys
from pathlib import Path
from app.targets.vm.virtual_machine import VirtualMachine
machine = VirtualMachine(Path(sys.argv[1]), sys.argv[2])
machine.start(is_tied=True)
print("up", flush=True)
sys.stdin.read()
"""


def test_it_boots_by_grub_into_a_system_of_its_own(machine):
    assert machine.read_record().state == "running", machine.read_console(2000)
    assert ask_root(machine, "cat /proc/1/comm") == "systemd"
    assert "BOOT_IMAGE=/boot/vmlinuz" in ask_root(machine, "cat /proc/cmdline")
    mounted = ask_root(machine, "findmnt -n -l -t ext4 -o TARGET,SOURCE").splitlines()
    assert {one.split()[0] for one in mounted} == SEPARATE
    assert len({one.split()[1] for one in mounted}) == len(SEPARATE)
    assert ask_root(machine, "stat -c %a /tmp /var/tmp").split() == ["1777", "1777"]
    assert ask_root(machine, f"systemctl is-active {' '.join(DAEMONS)} apparmor").split() == ["active"] * 6
    assert "enabled 1" in ask_root(machine, "auditctl -s")
    assert "login:" in machine.read_console(4000)


def test_an_administrator_can_change_what_it_boots_with(machine):
    ask_root(machine, "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&slab_nomerge /' /etc/default/grub && update-grub 2>&1 && sync")
    machine.reboot()
    assert " slab_nomerge " in ask_root(machine, "cat /proc/cmdline")
    machine.reset()
    assert "slab_nomerge" not in ask_root(machine, "cat /proc/cmdline /etc/default/grub")


def test_a_reset_restores_files_and_memory_but_not_the_time(machine):
    boot = ask_root(machine, "cat /proc/sys/kernel/random/boot_id")
    ask_root(machine, "echo mine > /var/tmp/mine; sysctl -q -w kernel.kptr_restrict=2")
    machine.take_snapshot("mine")
    machine.reset()
    assert ask_root(machine, "ls /var/tmp | grep -c mine || true") == "0"
    assert ask_root(machine, "sysctl -n kernel.kptr_restrict") == "0"
    assert ask_root(machine, "cat /proc/sys/kernel/random/boot_id") == boot
    assert abs(int(ask_root(machine, "date +%s")) - time.time()) < 120
    machine.reset("mine")
    assert ask_root(machine, "cat /var/tmp/mine; sysctl -n kernel.kptr_restrict") == "mine\n2"


def test_a_pulled_plug_loses_nothing_that_was_synced(machine):
    machine.reset()
    boot = ask_root(machine, "echo kept > /root/kept; sync; cat /proc/sys/kernel/random/boot_id")
    machine.reboot(at_once=True)
    assert ask_root(machine, "cat /root/kept") == "kept"
    assert ask_root(machine, "cat /proc/sys/kernel/random/boot_id") != boot
    assert may_root_log_in(machine)


def test_it_reaches_neither_this_machine_nor_the_network(machine):
    tried = 'for at in 10.0.2.2/22 10.0.2.3/53 192.0.2.1/80; do timeout 5 bash -c ": </dev/tcp/$at" && echo $at; done'
    assert ask_root(machine, f"{tried} 2>/dev/null; true") == ""


def test_a_tied_machine_ends_with_its_starter_however_that_ends(machine):
    machine.stop(at_once=True)
    machine.reset()
    words = [sys.executable, "-c", TIED, str(machine.folder.parent), machine.name]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout.readline() == "up\n"
        assert machine.is_up
        os.kill(starter.pid, signal.SIGKILL)
    until = time.monotonic() + 60
    while machine.is_up:
        assert time.monotonic() < until
        time.sleep(0.05)


def register(machine, tmp_path, monkeypatch):
    """The machine as the host that `temper machine start` makes it, in a data folder of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    machine.reset()
    machine.start()
    site = Site(tmp_path / "data", machine)
    register_machine(Settings(data=site.data), machine, machine.get_access(), "a disposable machine")
    assert (
        site.temper("scap", "add", str(machine.base_image_folder / "ssg-debian12-ds.xml"), data=False).returncode == 0
    )
    return site


def run_with_reboot(site, machine, *words):
    """The events of the run by kind; a kind that came several times has the last."""
    ways = ("--mode", "auto", "--speed", "0", "--skill", SKILL, "--reboot")
    command = site.command("run", "--host", machine.name, *ways, *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000)
    print(done.stdout)
    return done, {event["kind"]: event for event in site.events()}


@pytest.mark.timeout(3600)
def test_a_run_hardens_its_kernel_its_mounts_and_its_files_and_all_of_it_survives_the_reboot(
    machine, tmp_path, monkeypatch
):
    site = register(machine, tmp_path, monkeypatch)
    boot = ask_root(machine, "cat /proc/sys/kernel/random/boot_id")
    rules = ("sysctl_kernel_kptr_restrict", "mount_option_tmp_nosuid", "accounts_tmout")
    done, said = run_with_reboot(site, machine, "--rules", ",".join(rules))
    assert done.returncode == 0, done.stdout + done.stderr
    assert said["run.started"]["disposable"]
    assert (said["reboot.announced"]["boot"], said["reboot.announced"]["snapshot"]) == (boot, "before-reboot")
    assert said["reboot.returned"]["boot"] == ask_root(machine, "cat /proc/sys/kernel/random/boot_id") != boot
    assert not said["reboot.returned"]["undone"]
    assert (set(said["reboot.compared"]["held"]), said["reboot.compared"]["lost"]) == (set(rules), [])
    assert ask_root(machine, "sysctl -n kernel.kptr_restrict") == "2"
    assert "nosuid" in ask_root(machine, "findmnt -n -o OPTIONS /tmp")
    assert (
        ask_root(machine, "ls /var/lib/temper/journal/*/kept /etc/systemd/system/temper-undo-* 2>/dev/null; true") == ""
    )
    assert may_root_log_in(machine)


@pytest.mark.timeout(3600)
def test_a_machine_that_boots_no_more_is_put_back_and_the_runs_changes_are_rolled_back(machine, tmp_path, monkeypatch):
    site = register(machine, tmp_path, monkeypatch)
    panics = r"sed -i 's|\(linux.*\) ro|\1 ro init=/bin/false|' /boot/grub/grub.cfg; sync"
    ask_root(machine, f"{panics}; grep -c init=/bin/false /boot/grub/grub.cfg")
    as_it_is = f"cat /proc/sys/kernel/random/boot_id; {LOOKED_AT}"
    before = ask_root(machine, as_it_is)
    done, said = run_with_reboot(site, machine, "--rules", "accounts_tmout", "--reboot-minutes", "1")
    assert done.returncode == 2, done.stdout + done.stderr
    assert any("Kernel panic" in line for line in said["reboot.lost"]["console"])
    assert (said["reboot.undone"]["snapshot"], said["reboot.undone"]["differences"]) == ("before-reboot", [])
    assert (said["item.escalated"]["rule"], said["item.escalated"]["reopened"]) == ("accounts_tmout", True)
    assert said["item.escalated"]["reason"].startswith("does not survive a reboot: ")
    assert said["run.finished"]["escalated"] == 1
    assert ask_root(machine, as_it_is) == before
    assert may_root_log_in(machine)


NO_ROOT = SetOption(path="/etc/ssh/sshd_config", key="PermitRootLogin", value="no")
BANNER = WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n")
PATHS = frozenset({NO_ROOT.path, BANNER.path})
LOOKED_AT = (
    "find /etc/ssh /etc/modprobe.d /etc/passwd /etc/shadow /etc/profile /etc/profile.d /etc/bash.bashrc"
    " -type f -exec sha256sum {} + | sort"
)


def test_a_new_machine_fails_no_probe(machine, tmp_path):
    """A probe that fails from the start cannot tell what a change breaks."""
    machine.reset()
    with closing(open_target(machine.name, register_machine_in(tmp_path / "hosts", machine))) as target:
        target.prepare()
        assert [(one.name, one.detail) for one in target.check_health() if not one.ok] == []


@pytest.mark.timeout(12 * 3600)
def test_the_plug_is_pulled_at_random_moments_of_a_change_that_would_lock_somebody_out(machine, tmp_path, moments):
    """Nobody confirms the change: the boot hook takes it back, wherever the machine was."""
    machine.reset()
    machine.start()
    host = register_machine_in(tmp_path / "hosts", machine)
    with closing(open_target(machine.name, host)) as target:
        target.prepare()
        before = ask_root(machine, LOOKED_AT)
        began = time.monotonic()
        target.apply("whole", [NO_ROOT, BANNER], PATHS)
        whole = time.monotonic() - began
        assert not may_root_log_in(machine)
        assert target.roll_back("whole").differences == ()
    for number, share in enumerate(moments):
        with closing(open_target(machine.name, host)) as target:
            plug = threading.Timer(share * whole, machine.stop, kwargs={"at_once": True})
            plug.start()
            with suppress(TemperError):
                target.apply(f"pull-{number}", [NO_ROOT, BANNER], PATHS)
            plug.join()
        began = time.monotonic()
        try:
            machine.start()
        except TemperError:
            print(machine.read_console(40_000))  # the machine is discarded, and its console with it
            raise
        print(f"pulled after {share * whole:.1f} of {whole:.1f} s; up again in {time.monotonic() - began:.0f} s")
        assert may_root_log_in(machine)
        assert ask_root(machine, LOOKED_AT) == before
        with closing(open_target(machine.name, host)) as target:
            assert target.roll_back(f"pull-{number}").differences == ()
            assert target.list_pending() == []
            assert [one.name for one in target.check_health() if "login" in one.name and not one.ok] == []


def register_machine_in(hosts, machine):
    register_machine(Settings(data=hosts.parent), machine, machine.get_access(), "a disposable machine")
    return hosts

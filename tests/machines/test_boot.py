"""A Debian that boots by QEMU: what it is made of, how it comes back, and that nothing of it stays."""

import os
import signal
import subprocess
import sys
import time

import pytest

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


def test_a_run_hardens_its_kernel_its_mounts_and_its_files(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    machine.reset()
    machine.start()
    site = Site(tmp_path / "data", machine)
    site.add()
    assert site.temper("scap", "add", str(machine.image_folder / "ssg-debian12-ds.xml"), data=False).returncode == 0
    rules = ("sysctl_kernel_kptr_restrict", "mount_option_tmp_nosuid", "accounts_tmout")
    words = ("--mode", "auto", "--speed", "0", "--skill", SKILL, "--rules", ",".join(rules))
    done = site.temper("run", "--host", "deb", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ask_root(machine, "sysctl -n kernel.kptr_restrict") == "2"
    assert "nosuid" in ask_root(machine, "findmnt -n -o OPTIONS /tmp")
    machine.reboot()
    assert ask_root(machine, "sysctl -n kernel.kptr_restrict") == "2"
    assert "nosuid" in ask_root(machine, "findmnt -n -o OPTIONS /tmp")
    assert may_root_log_in(machine)

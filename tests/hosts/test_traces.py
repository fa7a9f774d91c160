"""On a real Debian: a restart in mid-change, odd names, second names, ages, and a host that is left clean."""

import subprocess

import pytest

from app.errors import ActionFailed
from app.events.event_field_types import SetOption, WriteFile
from app.targets.ssh.shell_script import load_script
from tests.hosts.conftest import Site, inside

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

DEFS = "/etc/login.defs"
UMASK = SetOption(path=DEFS, key="UMASK", value="077")
SCTP = WriteFile(path="/etc/modprobe.d/sctp.conf", content="install sctp /bin/false\n")
PATHS = frozenset({DEFS, SCTP.path})
CONTENT = "sha256sum /etc/login.defs; stat -c %Y /etc/login.defs; ls /etc/modprobe.d 2>&1 || true"
OURS = "ls -d /etc/rc*.d/*temper-undo* /etc/systemd/system/*temper* /etc/cron.d/*temper* 2>/dev/null; true"
ALL = "find / -xdev ! -path '/proc*' ! -path '/home/*' ! -path '/var/log/*' ! -path '/root*'"


def test_a_restart_in_mid_change_takes_it_back_and_nothing_is_left_of_what_did(opened, machine):
    opened.prepare()
    was, ours = inside(machine, CONTENT), inside(machine, OURS)
    opened.apply("one", [UMASK, SCTP], PATHS)
    assert inside(machine, CONTENT) != was
    assert inside(machine, OURS) == "/etc/rcS.d/S99temper-undo-one"
    machine.stop()  # the timer dies with all the others
    machine.start()
    assert (inside(machine, CONTENT), inside(machine, OURS)) == (was, ours)
    assert inside(machine, "cat /var/lib/temper/journal/one/undone") == "boot"
    with pytest.raises(ActionFailed, match="took the change one back by itself"):
        _on_a_line_that_was_cut(lambda: opened.commit("one"))
    assert opened.list_pending() == []


def test_what_is_kept_or_taken_back_leaves_nothing_that_runs_at_a_start(opened, machine):
    opened.prepare()
    opened.apply("one", [UMASK], PATHS)
    opened.commit("one")
    assert inside(machine, OURS) == ""
    opened.apply("two", [SCTP], PATHS)
    opened.roll_back("two")
    assert inside(machine, OURS) == ""
    _started_anew(machine)
    assert inside(machine, "grep -c '^UMASK.*077' /etc/login.defs; ls /etc/modprobe.d 2>&1 || true").startswith("1")


def test_the_unit_of_a_host_with_systemd_is_one_that_systemd_takes_and_does_what_it_says(opened, machine, tmp_path):
    """No systemd runs in the machine: its files are laid as for one, and what its unit starts is started by us."""
    opened.prepare()
    was = inside(machine, CONTENT)
    opened.apply("one", [UMASK, SCTP], PATHS)
    laid = "unhooked one; mkdir -p /run/systemd/system /etc/systemd/system; hooked one"
    assert opened.line.run_text(load_script("restore").partition("# restore NAME")[0] + laid).code == 0
    assert inside(machine, OURS) == "/etc/systemd/system/temper-undo-one.service"
    unit = inside(machine, "cat /etc/systemd/system/multi-user.target.wants/temper-undo-one.service")
    (tmp_path / "temper-undo-one.service").write_text(f"{unit}\n")
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "temper-undo-one.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (said.returncode, "temper-undo" in said.stderr) == (0, False), said.stderr
    (started,) = [line.removeprefix("ExecStart=") for line in unit.splitlines() if line.startswith("ExecStart=")]
    _started_anew(machine)
    assert inside(machine, CONTENT) != was  # the machine's own start knows no units
    inside(machine, f"mkdir -p /run/systemd/system; {started}; rm -r /run/systemd")
    assert (inside(machine, CONTENT), inside(machine, OURS)) == (was, "")
    assert inside(machine, "ls /etc/systemd/system/*.wants").count("temper") == 0


def test_a_name_that_is_no_text_ends_no_run_and_what_becomes_of_it_is_seen(site, opened, machine):
    inside(
        machine,
        r"cd /etc; touch $(printf 'caf\351') $(printf 'ssh/sshd_config.d/\377.conf'); ln -s $(printf 'caf\351') to",
    )
    opened.prepare()
    digest = opened.compute_digest()
    inside(machine, r"echo more >$(printf '/etc/caf\351')")
    assert opened.describe_drift(()) == ("the content of /etc/caf\ufffde9 changed, and no action did that",)
    assert opened.compute_digest() != digest
    done = site.temper("run", "--host", "deb", "--mode", "auto", "--rules", "V-258074", "--speed", "0")
    assert done.returncode in (0, 2), done.stdout + done.stderr
    (finished,) = [event for event in site.events() if event["kind"] == "run.finished"]
    assert "fault" not in str(finished)


def test_a_file_with_a_second_name_is_not_parted(opened, machine):
    inside(machine, f"cp -p {DEFS} /etc/own; mv /etc/own {DEFS}; ln {DEFS} /etc/login.second")
    opened.prepare()
    with pytest.raises(ActionFailed, match=r"login\.defs has other names \(hard links\): /etc/login\.second"):
        opened.apply("one", [UMASK], PATHS)
    assert (inside(machine, f"stat -c %h {DEFS}"), opened.list_pending()) == ("2", [])
    inside(machine, "rm /etc/login.second")
    opened.apply("one", [UMASK], PATHS)


def test_a_change_is_new_and_what_is_taken_back_is_as_old_as_it_was(opened, machine):
    inside(machine, f"touch -d '2021-03-04 05:06:07 UTC' {DEFS}")
    opened.prepare()
    opened.apply("one", [UMASK], PATHS)
    assert int(inside(machine, f"stat -c %Y {DEFS}")) > 1_700_000_000
    inside(machine, "rm -r /var/lib/temper/journal/one")  # so that what is kept here puts it back
    opened.roll_back("one")
    assert inside(machine, f"stat -c %Y {DEFS}") == "1614834367"
    opened.apply("two", [UMASK], PATHS)
    opened.roll_back("two")
    assert inside(machine, f"stat -c %Y {DEFS}") == "1614834367"


def test_a_host_is_left_without_anything_of_ours(site, opened, machine, tmp_path):
    before = {at for at in inside(machine, ALL).splitlines() if not at.startswith("/var/lib/temper")}
    opened.prepare()
    opened.apply("one", [UMASK], PATHS)
    elsewhere = Site(tmp_path / "elsewhere", machine)
    elsewhere.add()
    refused = elsewhere.temper("host", "remove", "deb", "--clean")
    assert (refused.returncode, "the change one is open" in refused.stderr) == (1, True), refused.stderr
    opened.roll_back("one")
    inside(machine, "mkdir -p /var/cache/temper/scap; echo x >/var/cache/temper/scap/content.xml")
    done = site.temper("host", "remove", "deb", "--clean")
    assert done.returncode == 0, done.stderr
    assert "deb: removed /var/lib/temper\n" in done.stdout
    assert "deb: removed /var/cache/temper/scap\n" in done.stdout
    assert set(inside(machine, ALL).splitlines()) == before
    assert "deb" not in site.temper("host", "list").stdout


def _started_anew(machine):
    machine.stop()
    machine.start()


def _on_a_line_that_was_cut(work):
    try:
        return work()
    except ActionFailed as exc:
        if "was cut" not in str(exc):
            raise
        return work()

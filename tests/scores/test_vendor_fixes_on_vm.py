"""A vendor's whole profile on a virtual machine: what root's shell is told, and what the console then says."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import EnvironmentUnusable
from app.scanners.openscap.oscap_command import SCAN_SCRIPT
from app.scores.openscap_playbook import prepare_whole_playbook
from app.scores.vendor_fixes_on_vm import (
    FixesOnMachine,
    MachineJudge,
    RootShell,
    build_judge_script,
    read_verdicts,
    run_fixes_and_reboot,
)
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess

STREAM = "ssg-debian12-ds.xml"
CONSOLE = """[  OK  ] Started ssh.service - OpenBSD Secure Shell server.
judged rule_a pass
[   71.2] audit: type=1400
judged rule_b fail
judged rule_c
judge: exit 2
observed root\tno
judge: ends
"""
SSH = """#!{python}
import sys
for line in sys.stdin:
    with open({told!r}, "a") as told:
        told.write(line)
    if line.endswith("echo ---done---\\n"):
        script = open({told!r}).read().rsplit("echo ---done---\\n", 2)[-2]
        if "oscap-breaks-the-shell" in script:
            sys.exit("lost")
        if "( sh /root/judge.sh" in script:
            print("judged rule_a fail\\njudged rule_b fail\\njudge: exit 2")
        if "reboot" in script and "at-boot" not in script:
            open({console!r}, "a").write({said!r})
        print("\\n---done---", flush=True)
"""


class Machine:
    """A machine whose ssh answers as SSH does; what it writes to its console stands in a file."""

    name = "boots"
    is_up = True

    def __init__(self, folder: Path, said: str = CONSOLE) -> None:
        self.told, self.console = folder / "told", folder / "console"
        self.console.write_text("the boot before\njudge: ends\n")
        ssh = folder / "ssh"
        ssh.write_text(SSH.format(python=sys.executable, told=str(self.told), console=str(self.console), said=said))
        ssh.chmod(0o700)
        self.folder = folder

    def get_access(self, account: str = "temper") -> SshAccess:
        return SshAccess(2222, account, self.folder / account, self.folder / "known_hosts")

    def read_console(self, characters: int) -> str:
        return self.console.read_text()[-characters:]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return Machine(tmp_path)


def fixes(tool):
    return FixesOnMachine(tool, STREAM, "enhanced", ("rule_a", "rule_b"))


@pytest.mark.parametrize(("tool", "fixed"), [("nothing", False), ("bash", True)])
def test_the_verdicts_of_before_and_of_after_the_reboot_are_read(machine, tmp_path, tool, fixed):
    found = run_fixes_and_reboot(machine, fixes(tool), MachineJudge(tmp_path / STREAM, "enhanced"))
    assert found.before == {"rule_a": "fail", "rule_b": "fail"}
    assert (found.after, found.seen) == ({"rule_a": "pass", "rule_b": "fail"}, {"root": "no"})
    told = machine.told.read_text()
    assert ("bash /root/fix >" in told) is fixed
    assert (f"--profile enhanced --fix-type bash /usr/share/xml/scap/ssg/content/{STREAM}" in told) is fixed
    assert told.index("( sh /root/judge.sh") < told.index("systemctl reboot")
    assert "/root/judge.xml" not in told  # the machine has this stream already


def test_another_judge_is_copied_to_the_machine_and_asked_instead(machine, tmp_path):
    (judge := tmp_path / "disa-ds.xml").write_text("<data-stream/>")
    run_fixes_and_reboot(machine, fixes("nothing"), MachineJudge(judge, "MAC-1_Public"))
    assert "base64 -d >/root/judge.xml <<'END'\nPGRhdGEtc3RyZWFtLz4=\nEND" in machine.told.read_text()


def test_only_the_rules_that_were_asked_for_are_scanned(machine, tmp_path):
    run_fixes_and_reboot(machine, fixes("nothing"), MachineJudge(tmp_path / STREAM, "enhanced", ("rule_a", "rule_b")))
    judge = machine.told.read_text().partition("base64 -d >/root/judge.sh <<'END'\n")[2].partition("END")[0]
    assert "--profile enhanced --rule rule_a --rule rule_b " in base64.b64decode(judge).decode()


@pytest.mark.usefixtures("machine")
def test_a_machine_that_ends_at_its_reboot_is_told(tmp_path):
    ended = Machine(tmp_path, said="")
    ended.is_up = False
    with pytest.raises(EnvironmentUnusable, match="boots ended at its reboot"):
        run_fixes_and_reboot(ended, fixes("nothing"), MachineJudge(tmp_path / STREAM, "enhanced"))


def test_a_shell_that_ends_is_told(machine):
    shell = RootShell(machine)
    with pytest.raises(EnvironmentUnusable, match="shell ended"):
        shell.run("oscap-breaks-the-shell")
    shell._ssh.wait(20)
    with pytest.raises(EnvironmentUnusable, match="shell ended"):
        shell.run("true")
    shell.close()


def test_a_line_that_the_console_cut_off_says_nothing():
    told = "judged rule_a pass\njudged rule_b\njudg\nx judged rule_c fail\njudge: exit 0\n"
    assert read_verdicts(told) == {"rule_a": "pass"}


@pytest.mark.parametrize("ending", ["", "judge: exit 139\n", "judge: exit 46\n"])
def test_a_scan_that_did_not_come_to_its_end_is_no_verdict(ending):
    with pytest.raises(EnvironmentUnusable, match=r"in mid-scan .* after 1 rules"):
        read_verdicts(f"judged rule_a pass\n{ending}")


@pytest.mark.parametrize(("crashes", "verdicts"), [(1, {"rule_a": "pass", "rule_b": "fail"}), (3, None)])
def test_the_judge_begins_again_when_oscap_crashes(tmp_path, crashes, verdicts):
    """The real script, with an oscap that judges one rule and crashes so many times."""
    oscap = tmp_path / "oscap"
    oscap.write_text(
        f"""#!/bin/sh
printf 'Title\tA\nRule\trule_a\n\nResult\t'
echo x >>{tmp_path}/starts
[ "$(wc -l <{tmp_path}/starts)" -gt {crashes} ] || {{ echo fail; kill -SEGV $$; }}
printf 'pass\nRule\trule_b\nResult\tfail\n'
exit 2
"""
    )
    oscap.chmod(0o700)
    (tmp_path / "scan.sh").write_bytes(SCAN_SCRIPT.read_bytes())
    (tmp_path / "judge.xml").write_text("<data-stream/>")
    script = build_judge_script("/root/judge.xml", MachineJudge(oscap, "MAC-1_Public")).replace("/root", str(tmp_path))
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=path, check=True).stdout
    if verdicts is None:
        with pytest.raises(EnvironmentUnusable, match="exit 139"):
            read_verdicts(told)
    else:
        assert read_verdicts(told) == verdicts


def test_a_whole_playbook_goes_on_after_a_failure_and_reads_packages_only_when_they_changed():
    tasks = ("package_facts:", "lineinfile:", "package_facts:", "ansible.builtin.package:", "package_facts:")
    text = "- hosts: all\n  tasks:\n" + "".join(f"    - name: {i}\n      {what}\n" for i, what in enumerate(tasks))
    made = prepare_whole_playbook(text)
    assert "- hosts: all\n  ignore_errors: true\n  ignore_unreachable: true\n  tasks:\n" in made
    assert [line for line in made.splitlines() if "- name" in line] == [f"    - name: {i}" for i in (0, 1, 3, 4)]

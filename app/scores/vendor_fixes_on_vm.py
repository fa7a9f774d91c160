"""Run a vendor's own fixes for a whole profile on a virtual machine, reboot it, and read what the judge says then.

The fixes run as root, as intended, without rollback. The scan after the reboot is started by the machine itself and
written to its serial console, so that it needs no login: vendors' fixes can end every way to become root.
"""

import base64
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.scanners.openscap.oscap_command import JUDGED, SCAN_SCRIPT
from app.scores import openscap_playbook
from app.scores.machine_second_check import build_observation_script, parse_observations
from app.scores.vendor_fixes import VendorOutcome
from app.targets.vm.virtual_machine import VirtualMachine
from app.text.clean import clean_text

PLACE = "/usr/share/xml/scap/ssg/content"
_SCAN_SECONDS, _FIX_SECONDS = 2 * 3600, 3 * 3600
_SEPARATOR, _ENDS = "---done---", "judge: ends"
_CONSOLE = 1 << 30
_IDLE_SECONDS = 120
_JUDGE = """#!/bin/sh
{{ sh /root/scan.sh /root/judging "$(sha256sum {content})" 0 {idle} timeout --kill-after=5 {seconds} \\
  oscap xccdf eval --profile {profile} {rules} {content} 2>&1; echo "Exit $?"; }} |
  awk '/^Rule/ {{ rule = $2 }} /^Result/ {{ print "judged", rule, $2; fflush() }} /^Exit/ {{ print "judge: exit", $2 }}'
"""
_AT_BOOT = f"""#!/bin/sh
dmesg -n 1 </dev/null >/dev/null 2>&1
sh /root/judge.sh
sh /root/observe.sh 2>/dev/null | sed 's/^/observed /'
systemctl disable judge-at-boot.service
systemctl unmask serial-getty@ttyS0.service
rm -rf /root/judging /root/scan.sh
rm -f /etc/systemd/system/judge-at-boot.service /root/judge.sh /root/judge.xml /root/observe.sh /root/at-boot.sh
systemctl daemon-reload
echo "{_ENDS}"
"""
_UNIT = """[Unit]
After=multi-user.target sshd.service ssh.service
[Service]
Type=exec
# As root is after a login. As a service, SELinux would deny what logins and programs do here, and record it.
SELinuxContext=-unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023
ExecStart=/bin/sh -c 'sh /root/at-boot.sh >/dev/ttyS0 2>&1'
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class MachineJudge:
    """The data stream and profile that judge the machine before the fixes and after the reboot."""

    data_stream: Path
    profile: str
    rules: Sequence[str] = ()
    """Only these rules are scanned, by their ids in the data stream; all of the profile if empty."""


@dataclass(frozen=True)
class FixesOnMachine:
    """What is run: nothing, the bash script or the playbook of a profile of the content on the machine."""

    tool: str
    content: str
    profile: str
    rules: Sequence[str]
    """By the names that the content uses. The reasons of rules that were not run are listed by them."""

    @property
    def generator(self) -> str:
        options = f"--profile {self.profile} --fix-type {self.tool}"
        return f"oscap xccdf generate fix {options} {PLACE}/{self.content} 2>/dev/null"


class RootShell:
    """One shell of root, opened before the fixes, so that it still works if they end every login."""

    def __init__(self, machine: VirtualMachine) -> None:
        at = machine.get_access("root")
        options = ["BatchMode=yes", "IdentitiesOnly=yes", "ServerAliveInterval=60", at.known_hosts_option]
        line = ["ssh", "-F", "none", "-p", str(at.port), "-i", str(at.key), *(f"-o{option}" for option in options)]
        self._ssh = subprocess.Popen([*line, "root@127.0.0.1", "sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, script: str) -> str:
        """Run a script and return its output up to a line that the shell writes after it."""
        assert self._ssh.stdin
        assert self._ssh.stdout
        try:
            self._ssh.stdin.write(f"( {script}\n) </dev/null 2>&1; echo; echo {_SEPARATOR}\n".encode())
            self._ssh.stdin.flush()
        except OSError as exc:
            raise EnvironmentUnusable("the machine's shell ended.") from exc
        lines: list[str] = []
        for line in self._ssh.stdout:
            if line.decode("utf-8", "replace").strip() == _SEPARATOR:
                return "".join(lines)
            lines.append(line.decode("utf-8", "replace"))
        raise EnvironmentUnusable(f"the machine's shell ended: {clean_text(''.join(lines)[-400:], 400)}")

    def write(self, path: str, content: bytes) -> None:
        self.run(f"base64 -d >{path} <<'END'\n{base64.encodebytes(content).decode()}END")

    def close(self) -> None:
        self._ssh.kill()
        self._ssh.communicate()


def run_fixes_and_reboot(machine: VirtualMachine, fixes: FixesOnMachine, judge: MachineJudge) -> VendorOutcome:
    """Scan, run the fixes, reboot and return the verdicts of before the fixes and after the reboot."""
    shell = RootShell(machine)
    try:
        _lay_out_judge(shell, fixes, judge)
        before = read_verdicts(shell.run("sh /root/judge.sh"))
        began, unrun = time.monotonic(), {}
        if fixes.tool == "bash":
            shell.run(f"{fixes.generator} >/root/fix")
            shell.run(f"timeout {_FIX_SECONDS} bash /root/fix >/root/fix.log 2>&1")
        elif fixes.tool == "ansible":
            bring_python(shell)
            unrun = _play_and_map_unrun_rules_to_reasons(shell, machine, fixes)
        seconds = time.monotonic() - began
        told = _reboot_and_read_console(shell, machine)
    finally:
        shell.close()
    observed = (line.removeprefix("observed ") for line in told.splitlines() if line.startswith("observed "))
    return VendorOutcome(before, read_verdicts(told), parse_observations("\n".join(observed)), seconds, unrun)


def read_verdicts(judge_output: str) -> dict[str, str]:
    """Parse the judge's words by rule; the machine's other words between them are left out.

    Raise EnvironmentUnusable if the judge did not come to an end: what it had said by then is no verdict on the rest.
    """
    lines = [line.split() for line in judge_output.splitlines() if line.startswith(("judged ", "judge: exit "))]
    verdicts = {words[1]: words[2] for words in lines if words[0] == "judged" and len(words) == 3}
    code = next((words[-1] for words in reversed(lines) if words[0] == "judge:"), "none")
    if code not in map(str, JUDGED):
        raise EnvironmentUnusable(
            f"OpenSCAP ended in mid-scan (exit {code}), after {len(verdicts)} rules: score again."
        )
    return verdicts


def build_judge_script(content: str, judge: MachineJudge) -> str:
    """Build the script that scans and prints a line for each rule. It begins again if OpenSCAP hangs or crashes."""
    rules = " ".join(f"--rule {shlex.quote(one)}" for one in judge.rules)
    return _JUDGE.format(content=content, profile=judge.profile, rules=rules, idle=_IDLE_SECONDS, seconds=_SCAN_SECONDS)


def _lay_out_judge(shell: RootShell, fixes: FixesOnMachine, judge: MachineJudge) -> None:
    content = f"{PLACE}/{judge.data_stream.name}"
    if judge.data_stream.name != fixes.content:
        content = "/root/judge.xml"
        shell.write(content, judge.data_stream.read_bytes())
    shell.write("/root/scan.sh", SCAN_SCRIPT.read_bytes())
    shell.write("/root/judge.sh", build_judge_script(content, judge).encode())
    shell.write("/root/observe.sh", build_observation_script())
    shell.write("/root/at-boot.sh", _AT_BOOT.encode())
    shell.write("/etc/systemd/system/judge-at-boot.service", _UNIT.encode())
    # A login prompt that starts on the console cuts off whoever else writes there. at-boot.sh takes all this back.
    shell.run("systemctl mask serial-getty@ttyS0.service; systemctl daemon-reload")
    shell.run("systemctl enable judge-at-boot.service")


def bring_python(shell: RootShell) -> None:
    """Install what Ansible needs on its host, with packages that are fetched here, since the machine has no network."""
    if not shell.run("command -v python3 >/dev/null || echo missing").strip():
        return
    with tempfile.TemporaryDirectory(prefix="temper-") as name:
        packages = Path(name)
        (packages / "partial").mkdir()
        (packages / "status").write_text(shell.run("cat /var/lib/dpkg/status"))
        places = [f"Dir::State::status={packages / 'status'}", f"Dir::Cache::archives={packages}"]
        options = [word for place in places for word in ("-o", place)]
        line = ["apt-get", *options, "install", "--download-only", "--no-install-recommends", "--yes"]
        fetched = subprocess.run([*line, "python3", "python3-apt"], capture_output=True, text=True, check=False)
        if fetched.returncode != 0:
            raise EnvironmentUnusable(f"apt-get fetches no python3 here: {clean_text(fetched.stderr[-300:], 300)}")
        shell.run("mkdir -p /root/packages")
        for package in packages.glob("*.deb"):
            shell.write(f"/root/packages/{package.name}", package.read_bytes())
    told = shell.run("apt-get install --yes /root/packages/*.deb && python3 -c 'import apt' && echo python-works")
    if told.split()[-1:] != ["python-works"]:
        raise EnvironmentUnusable(f"the machine installs no python3: {clean_text(told[-400:], 400)}")


def _play_and_map_unrun_rules_to_reasons(
    shell: RootShell, machine: VirtualMachine, fixes: FixesOnMachine
) -> dict[str, str]:
    text = openscap_playbook.prepare_whole_playbook(shell.run(fixes.generator))
    program = openscap_playbook.require_ansible_program()
    with tempfile.TemporaryDirectory(prefix="temper-") as folder:
        playbook = openscap_playbook.drop_unplayable_rules(program, text, fixes.rules, Path(folder))
        playbook = openscap_playbook.play_until_no_task_fails(
            program, playbook, fixes.rules, machine.get_access("root"), Path(folder), _FIX_SECONDS
        )
    return dict(openscap_playbook.map_unrun_rules_to_reasons(playbook, fixes.rules))


def _reboot_and_read_console(shell: RootShell, machine: VirtualMachine) -> str:
    """Boot again, and return what the machine itself writes of its scan."""
    before = len(machine.read_console(_CONSOLE))
    shell.run("(sleep 5; systemctl reboot) >/dev/null 2>&1 &")
    deadline = time.monotonic() + _SCAN_SECONDS
    while time.monotonic() < deadline:
        told = machine.read_console(_CONSOLE)[before:]
        if _ENDS in told:
            return told
        if not machine.is_up:
            raise EnvironmentUnusable(f"{machine.name} ended at its reboot.")
        time.sleep(5)
    raise EnvironmentUnusable(f"the scan after the reboot of {machine.name} did not end in time.")

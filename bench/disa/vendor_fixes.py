"""The vendor's own fixes on a machine that boots: what another benchmark says before, after, and after a reboot.

    python bench/disa/vendor_fixes.py bash|ansible|nothing --kind el9 --profile stig
        --judge FILE --judge-profile PROFILE [--before FILE] [--folder DIR] [--hours 2]

The fixes are those that OpenSCAP generates for a whole profile of the content on the machine, run as root and without
a rollback, as they are meant to be. Ansible's playbook is played once, as root, with the collections in
ANSIBLE_COLLECTIONS_PATH; it goes on after a task that fails, and reads the list of packages only when it changed. The
judge is a data stream such as DISA's own; the machine gets a copy. Nothing is simulated but the distribution of `el9`.
The scan after the reboot is started by the machine itself and written to its serial console, so that it needs no login.
The floor is `nothing`: the same scans, and no change. `--before` takes words.json of another run on the same image, and
saves the first scan.
"""

import argparse
import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from app.errors import EnvironmentUnusable
from app.scores import openscap_playbook
from app.scores.ssh_client import run_over_ssh
from app.scores.vendor_fixes import WAYS_TO_ROOT
from app.targets.vm.virtual_machine import VirtualMachine

CONTENT = {"el9": "ssg-rhel9-ds.xml", "debian12": "ssg-debian12-ds.xml"}
PLACE = "/usr/share/xml/scap/ssg/content"
HOSTS, GO_ON = "- hosts: all\n", "  ignore_errors: true\n  ignore_unreachable: true\n"
TASK = re.compile("^(?=    - name: )", re.MULTILINE)
PACKAGING = re.compile(r"^ +(ansible\.builtin\.)?(package|dnf|yum|apt):", re.MULTILINE)
SEPARATOR, ENDS = "---done---", "judge: ends"
JUDGE = """#!/bin/sh
oscap xccdf eval --profile {profile} /root/judge.xml 2>&1 |
  awk '/^Rule/ {{ rule = $2 }} /^Result/ {{ print "judged", rule, $2; fflush() }}'
"""
UNIT = f"""[Unit]
After=multi-user.target sshd.service ssh.service
[Service]
Type=exec
ExecStart=/bin/sh -c '{{ sh /root/judge.sh; echo "{ENDS}"; }} >/dev/ttyS0 2>&1'
[Install]
WantedBy=multi-user.target
"""


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
        self._ssh.stdin.write(f"( {script}\n) </dev/null 2>&1; echo; echo {SEPARATOR}\n".encode())
        self._ssh.stdin.flush()
        lines: list[str] = []
        for line in self._ssh.stdout:
            if line.decode("utf-8", "replace").strip() == SEPARATOR:
                return "".join(lines)
            lines.append(line.decode("utf-8", "replace"))
        raise SystemExit(f"the shell of root ended: {''.join(lines)[-400:]}")

    def write(self, path: str, content: bytes) -> None:
        self.run(f"base64 -d >{path} <<'END'\n{base64.encodebytes(content).decode()}END")


def run_bash(shell: RootShell, generate: str, hours: float) -> str:
    """Run the generated script, and return the end of what it wrote."""
    shell.run(f"{generate % 'bash'} >/root/fix")
    return shell.run(f"timeout {3600 * hours:.0f} bash /root/fix >/root/fix.log 2>&1; tail -c 1000 /root/fix.log")


def play_ansible(shell: RootShell, generate: str, machine: VirtualMachine, folder: Path, hours: float) -> str:
    """Play the generated playbook without what Ansible refuses, and return what was not run and what failed."""
    openscap_playbook.ANSIBLE_SECONDS = int(3600 * hours)
    os.environ["ANSIBLE_LOG_PATH"] = str(folder / "ansible.log")
    fixable = shell.run(f"{generate % 'bash'} | grep -o 'content_rule_[A-Za-z0-9_-]*' | sort -u").split()
    rules = [name.removeprefix("content_rule_") for name in fixable]
    text = gather_packages_when_they_changed(shell.run(generate % "ansible")).replace(HOSTS, f"{HOSTS}{GO_ON}", 1)
    program = str(Path(sys.executable).with_name("ansible-playbook"))
    playbook = openscap_playbook.drop_unplayable_rules(program, text, rules, folder)
    began = time.monotonic()
    with suppress(EnvironmentUnusable):  # it took too long; what it did until then is judged
        access = machine.get_access("root")
        playbook = openscap_playbook.play_until_no_task_fails(program, playbook, rules, access, folder)
    log = (folder / "ansible.log").read_text(errors="replace")
    (folder / "left_out.json").write_text(json.dumps(playbook.left_out, indent=1))
    told = [f"{count} not run, for want of {what}" for what, count in Counter(playbook.left_out.values()).items()]
    begun, failed, tasks = log.count(" TASK ["), log.count("fatal: "), len(TASK.split(playbook.text)) - 1
    told.append(f"{time.monotonic() - began:.0f} s, {begun} tasks begun, {failed} failed; {tasks} and blocks in all")
    return "\n".join([*told, log[-300:]])


def gather_packages_when_they_changed(playbook: str) -> str:
    """Drop the tasks that read all packages again although no task since the last reading installs or removes any."""
    kept, known = [], False
    for task in TASK.split(playbook):
        if "package_facts:" in task:
            if not known:
                kept.append(task)
            known = True
        else:
            kept.append(task)
            known = known and not PACKAGING.search(task)
    return "".join(kept)


def list_ways_to_root(machine: VirtualMachine) -> str:
    found = []
    for name, account, command in WAYS_TO_ROOT:
        at = machine.get_access("root" if account == "root" else "temper")
        works = asyncio.run(run_over_ssh(at, command, 120, account=account)).code == 0
        found.append(f"{name} {'works' if works else 'FAILS'}")
    return ", ".join(found)


def lay_out_judge(shell: RootShell, data_stream: Path, profile: str) -> None:
    shell.write("/root/judge.xml", data_stream.read_bytes())
    shell.write("/root/judge.sh", JUDGE.format(profile=profile).encode())
    shell.write("/etc/systemd/system/judge-at-boot.service", UNIT.encode())
    # A login prompt that starts on the console cuts off whoever else writes there.
    shell.run("systemctl mask serial-getty@ttyS0.service; systemctl daemon-reload")
    shell.run("systemctl enable judge-at-boot.service")


def reboot_and_read_judge(shell: RootShell, machine: VirtualMachine, hours: float) -> str:
    """Boot again, and return what the machine itself writes of its scan."""
    before = len(machine.read_console(1 << 30))
    shell.run("(sleep 5; systemctl reboot) >/dev/null 2>&1 &")
    deadline = time.monotonic() + 3600 * hours
    while time.monotonic() < deadline:
        told = machine.read_console(1 << 30)[before:]
        if ENDS in told:
            return told
        time.sleep(5)
    print("the scan after the reboot did not end in time", flush=True)
    return machine.read_console(1 << 30)[before:]


def read_words(text: str) -> dict[str, str]:
    lines = (line.split() for line in text.splitlines() if line.startswith("judged "))
    return {words[1]: words[2] for words in lines if len(words) == 3}


def report(title: str, was: Mapping[str, str], now: Mapping[str, str], began: float, machine: VirtualMachine) -> None:
    broken = {rule for rule, word in was.items() if word == "fail"}
    fixed = {rule for rule in broken if now.get(rule) == "pass"}
    worse = sorted(rule for rule, word in was.items() if word == "pass" and now.get(rule) == "fail")
    print(f"{title}: {dict(Counter(now.values()))}, in {time.monotonic() - began:.0f} s", flush=True)
    print(f"  fixed {len(fixed)} of {len(broken)}", flush=True)
    print(f"  passed before and fail now: {len(worse)} {' '.join(worse)}", flush=True)
    print(f"  {list_ways_to_root(machine)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("fix", choices=("bash", "ansible", "nothing"))
    parser.add_argument("--kind", choices=tuple(CONTENT), default="el9")
    parser.add_argument("--profile", default="stig")
    parser.add_argument("--judge", type=Path, required=True)
    parser.add_argument("--judge-profile", required=True)
    parser.add_argument("--before", type=Path, help="words.json of another run on the same image")
    parser.add_argument("--reboot-at-once", action="store_true", help="without a scan between the fixes and the reboot")
    parser.add_argument("--folder", type=Path, default=Path("build/vendor"), help="for the results")
    parser.add_argument("--machines", type=Path, default=Path("build/vendor/machines"), help="for machine and image")
    parser.add_argument("--memory", type=int, default=2048)
    parser.add_argument("--hours", type=float, default=2)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    machine = VirtualMachine(options.machines.resolve(), f"vendor-{options.fix}", lambda text: print(text, flush=True))
    if not machine.is_built:
        machine.build(options.kind, options.memory)
    try:
        machine.start(is_tied=True)
        shell = RootShell(machine)
        lay_out_judge(shell, options.judge, options.judge_profile)
        began = time.monotonic()
        was = (
            json.loads(options.before.read_text())["was"]
            if options.before
            else read_words(shell.run("sh /root/judge.sh"))
        )
        words = options.folder / "words.json"
        words.write_text(json.dumps({"was": was}))
        report("before", was, was, began, machine)
        began = time.monotonic()
        content = f"{PLACE}/{CONTENT[options.kind]}"
        generate = f"oscap xccdf generate fix --profile {options.profile} --fix-type %s {content} 2>/dev/null"
        if options.fix == "bash":
            print(run_bash(shell, generate, options.hours), flush=True)
        elif options.fix == "ansible":
            print(play_ansible(shell, generate, machine, options.folder, options.hours), flush=True)
        print(f"the fixes took {time.monotonic() - began:.0f} s; {list_ways_to_root(machine)}", flush=True)
        after: dict[str, str] = {}
        if not options.reboot_at_once:
            began = time.monotonic()
            after = read_words(shell.run("sh /root/judge.sh"))
            report("after the fixes", was, after, began, machine)
        began = time.monotonic()
        rebooted = read_words(reboot_and_read_judge(shell, machine, options.hours))
        report("after the reboot", was, rebooted, began, machine)
        words.write_text(json.dumps({"was": was, "after": after, "rebooted": rebooted}))
    finally:
        machine.stop(at_once=True)
        shutil.copyfile(machine.folder / "console.log", options.folder / "console.log")
        machine.discard()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run OpenSCAP's generated Ansible playbook on a disposable Debian with ansible-core.

ansible-core refuses a whole playbook if one task's collection is missing, and it ends a playbook at the first task
that fails. Rules with such tasks are left out and counted as not run, with the collection or what the task failed
with; the other tasks run as generated. The playbook is run from its beginning after each failed task.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.scores.ssh_client import SshResult, start_ssh_process
from app.scores.vendor_fixes import SECONDS, VendorOutcome, load_script_filled_with_rules, parse_outcome
from app.targets.rootfs.base_image_definition import PACKAGES, BaseImage
from app.targets.rootfs.loopback_sshd_port_and_known_hosts import SshAccess
from app.text.clean import clean_line, clean_text

BASE = BaseImage(packages=(*PACKAGES, "python3", "python3-apt"))
"""Host packages including those that Ansible needs."""
ANSIBLE_SECONDS = 1800
NO_FIX = "a fix for Ansible, which the content does not have"
_MOST = 64 * 1024 * 1024
_ENDS = b"<<playbook ends>>\n"
_TASK = re.compile(r"(?m)^(?=    - )")
_LACKS = re.compile(r"couldn't resolve module/action '([\w.]+)'")
_FAILED = re.compile(r"(?m)^task path: .*playbook\.yml:(\d+)\nfatal: \[.*?\]: FAILED! => (.*)$")
_PACKAGING = re.compile(r"^ +(ansible\.builtin\.)?(package|dnf|yum|apt):", re.MULTILINE)
_HOSTS, _GO_ON = "- hosts: all\n", "  ignore_errors: true\n  ignore_unreachable: true\n"
_MOVED = re.compile(r"Error loading plugin '(\w+\.\w+)\.\w+'")


@dataclass(frozen=True)
class Playbook:
    text: str
    left_out: dict[str, str]
    """The missing collection or the failed task's error, by rule."""

    def leave_out(self, rules: Sequence[str], reason: str) -> "Playbook":
        return Playbook(remove_rules(self.text, rules), self.left_out | dict.fromkeys(rules, reason))


async def run_ansible_fixes_between_scans(
    access: SshAccess, rule_arguments: str, rule_names: Sequence[str], content: str, profile: str
) -> VendorOutcome:
    """Scan, run the playbook and scan again. Both scans use one root shell that was opened before the playbook ran."""
    program = require_ansible_program()
    script = load_script_filled_with_rules("fix_by_ansible.sh", rule_arguments)
    line = shlex.join(["sudo", "-n", "bash", "-c", script, "bash", content, profile])
    process = await start_ssh_process(access, line, most_bytes_per_read=_MOST)
    assert process.stdout
    try:
        async with asyncio.timeout(SECONDS):
            try:
                made = (await process.stdout.readuntil(_ENDS)).removesuffix(_ENDS).decode()
            except asyncio.IncompleteReadError as exc:
                _, told = await process.communicate()
                raise EnvironmentUnusable(
                    f"oscap generated no playbook: {clean_text(told[-400:].decode(errors='replace'), 400)}"
                ) from exc
            with tempfile.TemporaryDirectory(prefix="temper-") as folder:
                playbook = await asyncio.to_thread(drop_unplayable_rules, program, made, rule_names, Path(folder))
                began = time.time()
                playbook = await asyncio.to_thread(
                    play_until_no_task_fails, program, playbook, rule_names, access, Path(folder)
                )
            out, told = await process.communicate(f"{began} {time.time()}\n".encode())
    except TimeoutError as exc:
        late = f"the scans and the playbook took longer than {SECONDS:.0f} s and were ended."
        raise EnvironmentUnusable(late) from exc
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return parse_outcome(
        SshResult(process.returncode or 0, out, told.decode(errors="replace")),
        map_unrun_rules_to_reasons(playbook, rule_names),
    )


def drop_unplayable_rules(program: str, playbook_text: str, rules: Sequence[str], folder: Path) -> Playbook:
    """Return the playbook without the rules that make ansible-core refuse it. Raise if another error remains."""
    playbook = Playbook(playbook_text, {})
    while True:
        (folder / "playbook.yml").write_text(playbook.text)
        ran = _run_ansible([program, "-i", "localhost,", "--syntax-check", "playbook.yml"], folder)
        if ran.returncode == 0:
            return playbook
        lacks = _LACKS.search(ran.stderr)
        hit = [rule for rule in rules if lacks and uses_module(playbook.text, rule, lacks[1])]
        if not lacks or not hit:
            raise EnvironmentUnusable(f"ansible-core refuses the playbook: {clean_text(ran.stderr[-400:], 400)}")
        moved = _MOVED.search(ran.stderr)
        playbook = playbook.leave_out(
            hit, f"collection {moved[1] if moved else lacks[1].rpartition('.')[0] or lacks[1]}"
        )


def uses_module(playbook_text: str, rule: str, module: str) -> bool:
    return any(f"\n      {module}:" in task and _belongs_to_rule(task, rule) for task in _TASK.split(playbook_text)[1:])


def remove_rules(playbook_text: str, rules: Sequence[str]) -> str:
    head, *tasks = _TASK.split(playbook_text)
    return head + "".join(task for task in tasks if not any(_belongs_to_rule(task, rule) for rule in rules))


def map_unrun_rules_to_reasons(playbook: Playbook, rules: Sequence[str]) -> Mapping[str, str]:
    """Return the reason by rule for rules that were not run."""
    tasks = _TASK.split(playbook.text)[1:]
    none = {rule: NO_FIX for rule in rules if not any(_belongs_to_rule(task, rule) for task in tasks)}
    return none | playbook.left_out


def _belongs_to_rule(task: str, rule: str) -> bool:
    return f"\n      - {rule}\n" in f"{task}\n"


def prepare_whole_playbook(playbook_text: str) -> str:
    """Return the playbook so that it goes on after a task that fails, and reads all packages only when they changed.

    It drops the tasks that read the packages again although no task since the last reading installs or removes any.
    """
    kept, is_known = [], False
    for task in _TASK.split(playbook_text):
        if "package_facts:" in task:
            if not is_known:
                kept.append(task)
            is_known = True
        else:
            kept.append(task)
            is_known = is_known and not _PACKAGING.search(task)
    return "".join(kept).replace(_HOSTS, f"{_HOSTS}{_GO_ON}", 1)


def play_until_no_task_fails(
    program: str, playbook: Playbook, rules: Sequence[str], access: SshAccess, folder: Path, seconds: int = 0
) -> Playbook:
    """Run the playbook on the machine, again without the rule of each task that fails. Return what ran to its end.

    `seconds` is the longest time of a run; 0 stands for ANSIBLE_SECONDS.

    If its own changes keep Ansible from starting again, the rules that it had not reached are left out, too. Raises
    EnvironmentUnusable if the playbook stops for another reason.
    """
    unreached: list[str] | None = None
    while True:
        (folder / "playbook.yml").write_text(playbook.text)
        ran = _run_ansible([program, *_list_connection_options(access), "playbook.yml"], folder, seconds)
        if ran.returncode == 0:
            return playbook
        failed = _FAILED.search(ran.stdout)
        error = _read_failure(failed[2]) if failed else clean_text((ran.stdout.strip() or ran.stderr)[-400:], 400)
        before, task, after = split_at_task_of_line(playbook.text, int(failed[1]) if failed else 0)
        if hit := [rule for rule in rules if _belongs_to_rule(task, rule)]:
            unreached = [r for r in rules if _belongs_to_rule(after, r) and not _belongs_to_rule(before + task, r)]
            playbook = playbook.leave_out(hit, f"a task that runs without an error: {error}")
        elif unreached is not None:
            return playbook.leave_out(unreached, f"a host that Ansible can work on after its own changes: {error}")
        else:
            raise EnvironmentUnusable(f"the playbook stopped: {error}")


def split_at_task_of_line(playbook_text: str, line: int) -> tuple[str, str, str]:
    """Return the tasks before, the task that the line stands in, and those after. What is before all tasks is one."""
    parts = _TASK.split(playbook_text)
    ends = list(accumulate(part.count("\n") for part in parts))
    at = min(bisect_left(ends, line), len(parts) - 1)
    return "".join(parts[:at]), parts[at], "".join(parts[at + 1 :])


def _read_failure(result: str) -> str:
    """Return the message of a failed task's result, which the machine may have written."""
    try:
        message = json.loads(result)["msg"]
    except (ValueError, KeyError, TypeError):
        message = result
    return clean_line(str(message).removeprefix("Task failed: ").rstrip("."), 160)


def _list_connection_options(access: SshAccess) -> list[str]:
    options = ["IdentitiesOnly=yes", "StrictHostKeyChecking=yes", access.known_hosts_option]
    given = {
        "ansible_port": access.port,
        "ansible_user": access.account,
        "ansible_ssh_private_key_file": str(access.key),
        "ansible_ssh_common_args": shlex.join(["-F", "none", *(word for one in options for word in ("-o", one))]),
        "ansible_python_interpreter": "/usr/bin/python3",
    }
    return ["-i", "127.0.0.1,", "--become", "-e", json.dumps(given)]


def _run_ansible(command: list[str], folder: Path, seconds: int = 0) -> subprocess.CompletedProcess[str]:
    calm = {
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),  # does not exist: the user's own settings must not apply
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_SHOW_TASK_PATH_ON_FAILURE": "1",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(folder),
        "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=10s",
        "LC_ALL": "C.UTF-8",
    }
    seconds = seconds or ANSIBLE_SECONDS
    try:
        return subprocess.run(
            command, cwd=folder, env=os.environ | calm, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as exc:
        raise EnvironmentUnusable(f"ansible-playbook took longer than {seconds} s and was ended.") from exc


def require_ansible_program() -> str:
    beside = Path(sys.executable).with_name("ansible-playbook")
    found = str(beside) if beside.exists() else shutil.which("ansible-playbook")
    if not found:
        raise EnvironmentUnusable("there is no ansible-playbook here: install ansible-core.")
    return found

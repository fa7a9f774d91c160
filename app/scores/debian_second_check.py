"""The second check on a disposable Debian: perform what each rule is about and observe the effect.

It changes a password and reads its digest, offers a short one, logs in and asks sshd for its settings. It shares no
code with OpenSCAP, which is the scanner of the same rules, or with the loop.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from app.scores.score_structures import TrialOutcome
from app.scores.ssh_client import run_over_ssh
from app.syntax.host_text import create_range_predicate
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.vm.virtual_machine import VirtualMachine

Observations = Mapping[str, str]
_SECONDS = 1500.0
_REFUSED = "10"
"""Exit code of passwd for a refused password."""
SCRIPT = Path(__file__).parent / "scripts" / "observe_effects.sh"


def parse_observations(out: str) -> Observations:
    return dict(line.split("\t", 1) for line in out.splitlines() if "\t" in line)


async def observe_effects(machine: Rootfs | VirtualMachine) -> Observations | None:
    """Run the observation script over SSH; return None if it fails, so that no rule is judged."""
    ran = await run_over_ssh(machine.get_access(), "sudo -n sh -s", _SECONDS, SCRIPT.read_bytes())
    return parse_observations(ran.out.decode("utf-8", "replace")) if ran.code == 0 else None


def find_whether_in_effect(rule: str, seen: Observations | None) -> bool | None:
    """Return True if the rule is in effect, or None if there is no check or no observation."""
    question = QUESTIONS.get(rule)
    return None if question is None or seen is None else question(seen)


def copy_with_effects(fates: Iterable[TrialOutcome], observations: Observations | None) -> tuple[TrialOutcome, ...]:
    return tuple(msgspec.structs.replace(fate, met=find_whether_in_effect(fate.rule, observations)) for fate in fates)


def _create_password_refusal_check(refused_change: str) -> Callable[[Observations], bool]:
    """Create a check that passwd refused this change but accepted the two before, which proves that changes work."""
    return lambda seen: seen.get("second") == seen.get("third") == "0" and seen.get(refused_change) == _REFUSED


def _create_kernel_check(key: str, value: str) -> Callable[[Observations], bool]:
    """Create a check of a kernel parameter's value now and at the next boot."""
    return lambda seen: seen.get(f"now {key}") == value == seen.get(f"boot {key}")


def _has_locked_idle_timeout(seen: Observations) -> bool:
    """Return True if TMOUT is at most ten minutes, exported and read-only."""
    return (
        create_range_predicate(1, 600)(seen.get("idle", "")) and seen.get("exported") == "1" and not seen.get("changed")
    )


def _is_sshd_config_private_to_root(seen: Observations) -> bool:
    mode, _, owners = seen.get("mode", "").partition(" ")
    return mode in ("600", "400", "0") and owners == "root root"


QUESTIONS: Mapping[str, Callable[[Observations], bool]] = {
    "set_password_hashing_algorithm_logindefs": lambda seen: seen.get("group") == "$y",
    "sshd_disable_root_login": lambda seen: seen.get("root") == "no",
    "accounts_password_pam_unix_remember": _create_password_refusal_check("again"),
    "accounts_tmout": _has_locked_idle_timeout,
    "file_permissions_sshd_config": _is_sshd_config_private_to_root,
    "accounts_password_pam_minlen": _create_password_refusal_check("short"),
    "accounts_umask_etc_login_defs": lambda seen: seen.get("home") == "700",
    "accounts_password_pam_unix_rounds_password_auth": lambda seen: seen.get("digest") == "$y$jFT",
    "sysctl_kernel_randomize_va_space": _create_kernel_check("kernel.randomize_va_space", "2"),
    "sysctl_net_ipv4_tcp_syncookies": _create_kernel_check("net.ipv4.tcp_syncookies", "1"),
    "sysctl_net_ipv4_icmp_ignore_bogus_error_responses": _create_kernel_check(
        "net.ipv4.icmp_ignore_bogus_error_responses", "1"
    ),
    "package_pam_pwquality_installed": lambda seen: seen.get("pwquality") == "installed",
}

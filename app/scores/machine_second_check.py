"""The second check on machines that OpenSCAP scans: perform what each rule is about and observe the effect.

It changes a password and reads its digest, offers weak ones, logs in, asks sshd and the running kernel for their
settings, does what the audit has to record, and looks into its log. It shares no code with OpenSCAP, which is the
scanner of the same rules, or with the loop.
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
Question = Callable[[Observations], bool | None]
"""Returns None if what the machine did says nothing about the rule."""
_SECONDS = 1500.0
_REFUSED = "10"
"""Exit code of passwd for a refused password."""
SCRIPTS = Path(__file__).parent / "scripts"
_TABLES = Path(__file__).parent / "effects"


class _Effects(msgspec.Struct, forbid_unknown_fields=True):
    """What a machine does where the rules of one skill are in effect. The tables say what their values mean."""

    skill: str
    kernel_values: dict[str, str]
    boot_arguments: dict[str, str]
    mount_options: dict[str, str]
    audited_actions: dict[str, list[str]]
    packages: dict[str, str]
    refused_passwords: dict[str, list[str]]
    answers: dict[str, dict[str, str]]
    functions: dict[str, str]


_EFFECTS = [msgspec.toml.decode(file.read_bytes(), type=_Effects) for file in sorted(_TABLES.glob("*.toml"))]


def build_observation_script() -> bytes:
    """Return the script for a root shell that performs everything and prints what happened."""
    asked = {
        "KEYS": [told.partition(" = ")[0] for one in _EFFECTS for told in one.kernel_values.values()],
        "PLACES": [told.partition(" ")[0] for one in _EFFECTS for told in one.mount_options.values()],
        "PACKAGES": [package for one in _EFFECTS for package in one.packages.values()],
        "PROGRAMS": [
            action.removeprefix("start ")
            for one in _EFFECTS
            for actions in one.audited_actions.values()
            for action in actions
            if action.startswith("start ")
        ],
    }
    head = "".join(f"{name}='{' '.join(sorted({*words}))}'\n" for name, words in asked.items())
    text = (SCRIPTS / "observe_effects.sh").read_text()
    audit = (SCRIPTS / "observe_audit.pl").read_text()
    # A shell reads a group in braces to its end before it runs it, so no command can read the script as its input.
    return (
        f"{{\n{head}observe_audit() {{\nperl - \"$@\" <<'END_OF_PERL'\n{audit}END_OF_PERL\n}}\n{text}}} </dev/null\n"
    ).encode()


def parse_observations(out: str) -> Observations:
    return dict(line.split("\t", 1) for line in out.splitlines() if "\t" in line)


async def observe_effects(machine: Rootfs | VirtualMachine) -> Observations | None:
    """Run the observation script over SSH; return None if it fails, so that no rule is judged."""
    ran = await run_over_ssh(machine.get_access(), "sudo -n sh -s", _SECONDS, build_observation_script())
    return parse_observations(ran.out.decode("utf-8", "replace")) if ran.code == 0 else None


def find_whether_in_effect(skill: str, rule: str, seen: Observations | None) -> bool | None:
    """Return True if the rule is in effect, or None if there is no check or no observation."""
    question = QUESTIONS.get(skill, {}).get(rule)
    return None if question is None or seen is None else question(seen)


def copy_with_effects(
    skill: str, fates: Iterable[TrialOutcome], observations: Observations | None
) -> tuple[TrialOutcome, ...]:
    return tuple(
        msgspec.structs.replace(fate, met=find_whether_in_effect(skill, fate.rule, observations)) for fate in fates
    )


def _create_password_refusal_check(refused_changes: Iterable[str]) -> Question:
    """Create a check that passwd refused these changes but accepted the two before, which proves that changes work."""
    return lambda seen: (
        seen.get("second") == seen.get("third") == "0"
        and all(seen.get(change) == _REFUSED for change in refused_changes)
    )


def _create_kernel_check(told: str) -> Question:
    """Create a check of a kernel parameter's value now and at the next boot."""
    key, _, value = told.partition(" = ")
    return lambda seen: seen.get(f"now {key}", "").split() == value.split() == seen.get(f"boot {key}", "").split()


def _create_boot_argument_check(argument: str) -> Question:
    return lambda seen: argument in seen.get("arguments", "").split()


def _create_mount_check(told: str) -> Question:
    """Create a check of an option, which says nothing of a place where nothing is mounted."""
    place, _, option = told.partition(" ")
    return lambda seen: option in options.split(",") if (options := seen.get(f"mounted {place}")) else None


def _create_audit_check(actions: Iterable[str]) -> Question:
    """Create a check that the audit recorded each action. It says nothing if the actions could not be performed."""
    names = [f"audited {action}" for action in actions]
    return lambda seen: all(seen[name] == "yes" for name in names) if seen.keys() >= {*names} else None


def _create_answer_check(answers: Mapping[str, str]) -> Question:
    return lambda seen: all(seen.get(name) == answer for name, answer in answers.items())


def _has_locked_idle_timeout(seen: Observations) -> bool:
    """Return True if TMOUT is at most ten minutes, exported and read-only."""
    return (
        create_range_predicate(1, 600)(seen.get("idle", "")) and seen.get("exported") == "1" and not seen.get("changed")
    )


def _is_sshd_config_private_to_root(seen: Observations) -> bool:
    mode, _, owners = seen.get("mode", "").partition(" ")
    return mode in ("600", "400", "0") and owners == "root root"


def _is_account_locked_after_wrong_passwords(seen: Observations) -> bool | None:
    return seen.get("locked", "0") != "0" if seen.get("knocked") == "0" else None


def _does_sudo_set_umask(seen: Observations) -> bool | None:
    """Return None if sudo runs nothing, for instance without a terminal."""
    return seen["umask"] == "0077" if seen.get("umask") else None


def _create_denial_check(reading: str) -> Question:
    """Create a check that an account without rights could not read something."""
    return lambda seen: seen.get(reading, "0") != "0"


def _create_installation_check(package: str) -> Question:
    return _create_answer_check({f"package {package}": "installed"})


_FUNCTIONS: Mapping[str, Question] = {
    "idle timeout": _has_locked_idle_timeout,
    "lockout": _is_account_locked_after_wrong_passwords,
    "private sshd_config": _is_sshd_config_private_to_root,
    "umask of sudo": _does_sudo_set_umask,
    "unreadable maps": _create_denial_check("maps"),
    "unreadable sudoers": _create_denial_check("sudoers"),
}


def _create_questions(effects: _Effects) -> Mapping[str, Question]:
    return {
        **{rule: _create_kernel_check(told) for rule, told in effects.kernel_values.items()},
        **{rule: _create_boot_argument_check(argument) for rule, argument in effects.boot_arguments.items()},
        **{rule: _create_mount_check(told) for rule, told in effects.mount_options.items()},
        **{rule: _create_audit_check(actions) for rule, actions in effects.audited_actions.items()},
        **{rule: _create_installation_check(package) for rule, package in effects.packages.items()},
        **{rule: _create_password_refusal_check(names) for rule, names in effects.refused_passwords.items()},
        **{rule: _create_answer_check(answers) for rule, answers in effects.answers.items()},
        **{rule: _FUNCTIONS[name] for rule, name in effects.functions.items()},
    }


QUESTIONS = {one.skill: _create_questions(one) for one in _EFFECTS}
"""The checks of a skill by rule. Another profile can ask for other values by the same names."""

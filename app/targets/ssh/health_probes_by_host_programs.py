"""Probes that run the host's own programs in one call: sshd, sudo, libpam, systemd, SELinux, audit and disk usage."""

import re
from collections.abc import Iterator, Mapping

from app.events.event_field_types import Probe
from app.syntax import sudoers
from app.syntax.host_files_protocol import Files
from app.targets.health_probes import to_probe
from app.targets.host_accounts import HostAccounts, read_host_accounts
from app.targets.questions.login_probes import list_password_accounts
from app.targets.questions.next_boot_probes import NEEDED, NO_WORK
from app.targets.questions.password_change import STEPS, build_success_answer_weak_if_short_accepted
from app.targets.questions.probe_answer import DiskUsage, ProbeAnswer
from app.targets.questions.sudo_grants import build_sudo_rights_answer, list_usable_and_passwordless_rights
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.host_script_output import HostReport
from app.targets.ssh.sudo_listing_parser import parse_password_needed_by_sudo_right
from app.targets.sshd_login_prediction import NO_SHELL

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", re.ASCII)
_SECONDS = 120.0
_MOST, _FEW = 64, 8
_STATES = 4
"""Kept states: before a change, after it, and as many again."""
_NOBODY = "nobody"
_ABSENT, _IN = "127", "in"
_SHORT = "short"
_TOOK_TOO_LONG = "it took too long"
_OWN_UNITS = "temper-undo-"
_LISTS, _CUT_SHORT = ("masked", "failed", "doors", "denied"), (124, 137)
"""Lists whose missing entries would count as new, or as lost, on the next probe; and the exit codes of `timeout`."""
_KIB = 1024
_BROKEN = (
    *("Module is unknown", "Failed to load module", "Symbol not found", "Error in service module", "System error"),
    *("Critical error", "Memory buffer error", "Bad item passed"),
)
"""Messages of libpam that mean a stack fails for every user."""


class AnswersByState:
    """What a host's programs answered in its last states. A state covers all that the answers depend on: state.sh."""

    def __init__(self) -> None:
        self._by_state: dict[str, HostReport] = {}
        """The state that was met last stands last."""

    @property
    def space_separated_states(self) -> str:
        return " ".join(self._by_state)

    def find(self, state: str) -> HostReport | None:
        if answers := self._by_state.pop(state, None):
            self._by_state[state] = answers
        return answers

    def keep(self, state: str, answers: HostReport) -> None:
        self._by_state = dict(list({**self._by_state, state: answers}.items())[-_STATES:])

    def forget(self) -> None:
        self._by_state.clear()


class KnownAnswers:
    """What a host answered about logins and sudo, and about passwords, which depend on fewer files."""

    def __init__(self) -> None:
        self.logins = AnswersByState()
        self.passwords = AnswersByState()

    def forget(self) -> None:
        self.logins.forget()
        self.passwords.forget()


def probe_programs_and_disk(
    connection: SshConnection, files: Files, known: KnownAnswers
) -> tuple[tuple[Probe, ...], DiskUsage | None]:
    """Ask the host's programs, and in a state in which the host has answered before only what can change by itself."""
    who = read_host_accounts(files)
    user = connection.end.user
    watched = [user, *(one.user for one in connection.end.watched)]
    names = (
        _list_names_for_sudo_query(files, who, watched),
        _list_administrators_and_others_for_login_trial(who, watched),
        _keep_shell_safe(["root", *watched])[:_FEW],
    )
    said = _run_examine_script(connection, known.logins.space_separated_states, *map(" ".join, names))
    state, password_state = said.find_row("state") or ("", "")
    if before := known.logins.find(state):
        said = HostReport((*said.rows, *before.rows))
    elif state and not _is_any_list_cut_short_by_timeout(said):
        after = [word for word, *_ in said.rows].index("state") + 1
        known.logins.keep(state, HostReport(said.rows[after:]))
    tried = known.passwords.find(password_state)
    if tried is None:
        tried = _try_password_changes_of_throwaway_account(connection)
        if password_state and not _is_password_trial_timed_out(tried):
            known.passwords.keep(password_state, tried)
    return (*build_probes(said, who, names[0]), read_password_change_result(tried)), _find_disk_usage(said)


def _try_password_changes_of_throwaway_account(connection: SshConnection) -> HostReport:
    tried = connection.run("password", seconds=_SECONDS).report
    return connection.run("password", seconds=_SECONDS).report if _is_password_trial_timed_out(tried) else tried


def _is_password_trial_timed_out(password_trial_report: HostReport) -> bool:
    return (password_trial_report.find_row("password") or ("", ""))[1] == _TOOK_TOO_LONG


def _is_any_list_cut_short_by_timeout(report: HostReport) -> bool:
    return any(report.find_exit_code(word, "all") in _CUT_SHORT for word in _LISTS)


def _run_examine_script(connection: SshConnection, *names: str) -> HostReport:
    """Run `examine`; repeat it if a busy host cut a list short, since a missing entry would look new next time."""
    said = connection.run("examine", *names, seconds=_SECONDS).report
    return (
        connection.run("examine", *names, seconds=_SECONDS).report if _is_any_list_cut_short_by_timeout(said) else said
    )


def build_probes(report: HostReport, accounts: HostAccounts, sudo_account_names: list[str]) -> tuple[Probe, ...]:
    """Build the probes from a host report. `sudo_account_names` are the accounts that sudo was asked about."""
    return tuple(to_probe(name, answer) for name, answer in _iter_answers(report, accounts, sudo_account_names))


def _list_names_for_sudo_query(files: Files, accounts: HostAccounts, watched: list[str]) -> list[str]:
    """Return the accounts to ask sudo about: logins, watched accounts, accounts with grants, and `nobody`."""
    read = sudoers.read_sudoers(files)
    named = [user for grant in read.grants for user in grant.users]
    there = [
        one.name
        for one in accounts.accounts
        if one.shell not in NO_SHELL or read.list_grants(one.name, accounts.list_groups(one.name))
    ]
    known = {one.name for one in accounts.accounts}
    names = [*watched, *there, *(one for one in named if one in known), _NOBODY]
    return _keep_shell_safe(names, excluded_name="root")[:_MOST]


def _list_administrators_and_others_for_login_trial(accounts: HostAccounts, watched: list[str]) -> list[str]:
    administrators = [one.name for one in accounts.list_other_administrators()]
    return _keep_shell_safe([*administrators, *watched, *(one.name for one in list_password_accounts(accounts))])[:_FEW]


def _keep_shell_safe(names: list[str], excluded_name: str = "") -> list[str]:
    """Keep only names that are safe as words of a shell command, each once."""
    return [name for name in dict.fromkeys(names) if _NAME.fullmatch(name) and name != excluded_name]


def _iter_answers(
    report: HostReport, accounts: HostAccounts, sudo_account_names: list[str]
) -> Iterator[tuple[str, ProbeAnswer]]:
    for word, name in (("sshd", "sshd-starts"), ("visudo", "visudo")):
        yield name, _read_program_answer(word, report.find_row(word))
    yield "pam-modules", _read_pam_modules(report.find_row("pam"))
    yield "sudo-rights", _parse_sudo_answers(report, accounts, sudo_account_names)
    if report.find_row("boot"):
        yield "next-boot", _read_boot_target_and_masked_units(report)
    yield "failed-units", _read_failed_units(report)
    if report.find_row("policy"):
        yield "selinux-boot", _check_next_boot_selinux_policy_exists(report)
    yield "selinux", _read_selinux_mode(report.find_row("selinux"))
    if report.find_row("denied"):
        yield "selinux-denials", _read_selinux_denials(report)
    yield "audit", _read_kernel_audit_status(report)
    yield "become", _read_su_from_root_answers(report)
    if any(" " in door for door, _ in report.get_rows("success")):
        yield "password-login", _read_login_answers(report)
    else:
        why = (report.find_row("doors") or ("", "there is nobody to try it as"))[1]
        yield "password-login", ProbeAnswer(True, f"not asked: {why}", asked=False)


def _read_program_answer(word: str, row: tuple[str, str] | None) -> ProbeAnswer:
    code, why = row or (_ABSENT, "")
    if code == _ABSENT:
        return ProbeAnswer(True, f"{word} is not there to be asked", asked=False)
    fine = code == "0"
    return ProbeAnswer(fine, f"{word} finds nothing wrong" if fine else f"{word} refuses its files: {why}")


def _read_pam_modules(row: tuple[str, str] | None) -> ProbeAnswer:
    """Report modules that /etc/pam.d names and that are not installed; they break or skip checks at the next login."""
    missing, which = row or ("0", "")
    if missing == "0":
        return ProbeAnswer(True, "what /etc/pam.d names is installed")
    return ProbeAnswer(False, f"/etc/pam.d names what is not installed: {which.strip()}")


def _parse_sudo_answers(report: HostReport, accounts: HostAccounts, names: list[str]) -> ProbeAnswer:
    found = []
    for name in names:
        lines, code = report.get_lines("sudo", name), report.find_exit_code("sudo", name)
        if code == int(_ABSENT):
            return ProbeAnswer(True, "sudo is not there to be asked", asked=False)
        rights = parse_password_needed_by_sudo_right(lines)
        if rights is None:
            told = " ".join(lines).strip() or "it said nothing"
            return ProbeAnswer(False, f"sudo does not say what {name} may do: {told}")
        secret = accounts.find_shadow_entry(name)
        typed = secret is None or secret.has_password
        found.append((name, *list_usable_and_passwordless_rights(rights, can_type_password=typed)))
    return build_sudo_rights_answer([one for one in found if one[1] or one[2]])


def _read_boot_target_and_masked_units(report: HostReport) -> ProbeAnswer:
    code, target = report.find_row("boot") or ("1", "")
    masked = report.get_lines("masked", "all")
    weak = tuple(f"{unit} masked" for unit in masked)
    goal = target.removesuffix(".target")
    if code != "0" or goal in NO_WORK:
        return ProbeAnswer(False, f"the next boot goes to {target or 'nothing at all'}", weak=weak)
    if shut := [unit for unit in NEEDED if unit in masked]:
        return ProbeAnswer(False, f"the next boot leaves out {', '.join(shut)}, which are masked", weak=weak)
    table = tuple(f"/etc/fstab is {digest}" for _, digest in report.get_rows("fstab"))
    return ProbeAnswer(True, f"the next boot goes to {target}, and nothing that a login needs is masked", table, weak)


def _read_failed_units(report: HostReport) -> ProbeAnswer:
    """Read what systemd says failed. A rollback unit of ours is no harm that a change did."""
    if report.find_exit_code("failed", "all") != 0:
        detail = "systemd does not run there or does not answer, so no failed unit is known"
        return ProbeAnswer(True, detail, asked=False)
    units = (line.split()[0] for line in report.get_lines("failed", "all") if line.strip())
    failed = [unit for unit in units if not unit.startswith(_OWN_UNITS)]
    weak = tuple(f"{unit} failed" for unit in failed)
    return ProbeAnswer(True, f"failed units: {', '.join(failed) or 'none'}", weak=weak)


def _check_next_boot_selinux_policy_exists(report: HostReport) -> ProbeAnswer:
    there, policy = report.find_row("policy") or ("", "")
    loads = f"the next boot loads the SELinux policy {policy}"
    if there == "there":
        return ProbeAnswer(True, f"{loads}, which is there")
    return ProbeAnswer(False, f"{loads}, and /etc/selinux/{policy}/policy is empty")


def _read_selinux_mode(row: tuple[str, str] | None) -> ProbeAnswer:
    if row is None or row[0] != "0":
        return ProbeAnswer(True, "SELinux is not there to be asked", asked=False)
    return ProbeAnswer(True, f"SELinux is {row[1]}", (f"SELinux is {row[1]}",))


def _read_selinux_denials(report: HostReport) -> ProbeAnswer:
    """Return what SELinux denied since the boot; a kind of access that is new since the run began counts as worse."""
    if report.find_exit_code("denied", "all") != 0:
        return ProbeAnswer(True, "the records of the audit system cannot be searched for denials", asked=False)
    denied, permitted = report.get_lines("denied", "all"), [text for _, text in report.get_rows("permitted")]
    would = f"; in permissive mode it would have denied: {'; '.join(permitted)}" if permitted else ""
    weak = tuple(f"denied {one}" for one in denied)
    return ProbeAnswer(True, f"SELinux denied since the boot: {'; '.join(denied) or 'nothing'}{would}", weak=weak)


def _read_kernel_audit_status(report: HostReport) -> ProbeAnswer:
    status = dict(line.split()[:2] for line in report.get_lines("audit", "all") if len(line.split()) > 1)
    if report.find_exit_code("audit", "all") != 0 or "enabled" not in status:
        return ProbeAnswer(True, "the kernel's audit is not there to be asked", asked=False)
    told_of = ", ".join(f"{key} {status[key]}" for key in ("enabled", "failure", "lost", "backlog") if key in status)
    holds = ("the kernel records",) if status["enabled"] != "0" else ()
    if status.get("failure") == "2" and status.get("backlog_wait_time", "1") == "0":
        return ProbeAnswer(False, f"the kernel stops at the first record that it loses: {told_of}", holds)
    return ProbeAnswer(True, f"the kernel's audit: {told_of}", holds)


def read_password_change_result(trial_report: HostReport) -> Probe:
    """Build the probe from what a throwaway account met on a copy of the host's stacks."""
    return to_probe("password-change", _read_password_change_trial(dict(trial_report.get_rows("password"))))


def _read_password_change_trial(results_by_step: Mapping[str, str]) -> ProbeAnswer:
    for step, (_done, failed) in STEPS.items():
        if results_by_step.get(step, _IN) != _IN:
            return ProbeAnswer(False, f"{failed}: {results_by_step[step].partition(' ')[2].strip()}")
    if missing := [step for step in (*STEPS, _SHORT) if step not in results_by_step]:
        reason = results_by_step.get("none") or f"the host reports nothing about {', '.join(missing)}"
        return ProbeAnswer(True, f"not asked: {reason}", asked=False)
    return build_success_answer_weak_if_short_accepted(is_short_password_refused=results_by_step[_SHORT] != _IN)


def _read_su_from_root_answers(report: HostReport) -> ProbeAnswer:
    """Report which accounts root can become with su, which runs the account and session rules of a console login."""
    tried = report.get_rows("become")
    if broken := next((found for _, text in tried if (found := _find_stack_wide_pam_fault(text))), ""):
        return ProbeAnswer(False, f"su from root fails for everybody: {broken}")
    names = [name for name, text in tried if text == _IN]
    if not names:
        return ProbeAnswer(True, "su from root could not be tried", asked=False)
    return ProbeAnswer(True, f"su from root: to {', '.join(names)}", tuple(f"su from root to {name}" for name in names))


def _read_login_answers(report: HostReport) -> ProbeAnswer:
    """Report logins that libpam simulates on the host's stacks, with a right and then a wrong password."""
    right, wrong = ([row for row in report.get_rows(word) if " " in row[0]] for word in ("success", "auth_err"))
    if broken := next((f"{door}: {found}" for door, text in right if (found := _find_stack_wide_pam_fault(text))), ""):
        return ProbeAnswer(False, f"a stack cannot be gone through, {broken}")
    if loose := [door.split(" ")[0] for door, text in wrong if text == _IN]:
        return ProbeAnswer(False, f"with a wrong password everybody is let in: {', '.join(loose)}")
    accepted = [door.split(" ", 1) for door, text in right if text == _IN]
    opened = tuple(f"{service} lets {name} in, the right password being given" for service, name in accepted)
    if not opened:
        return ProbeAnswer(False, f"nobody is let in with the right password: {': '.join(right[0])}")
    logins = _describe_logins_with_right_password(accepted)
    return ProbeAnswer(True, f"the right password being given, libpam lets in {logins}; a wrong one nobody", opened)


def _describe_logins_with_right_password(accepted: list[list[str]]) -> str:
    doors: dict[str, list[str]] = {}
    for service, name in accepted:
        doors.setdefault(service, []).append(name)
    return "; ".join(f"{', '.join(names)} through {service}" for service, names in doors.items())


def _find_stack_wide_pam_fault(text: str) -> str:
    return next((words for words in _BROKEN if words in text), "")


def _find_disk_usage(report: HostReport) -> DiskUsage | None:
    size, free = report.find_row("fill") or ("", "")
    if not (size.isascii() and size.isdecimal() and free.isascii() and free.isdecimal()):
        return None
    return DiskUsage(int(size) * _KIB, int(free) * _KIB)

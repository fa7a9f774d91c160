"""Health probes over a host's files: does everyone who depends on the host still have access?"""

from collections.abc import Callable
from dataclasses import dataclass

from app.events.event_field_types import Probe
from app.syntax import pam
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.targets import account_sudo_rights, host_accounts, pam_outcome, uploaded_file_mode_and_backup_account
from app.targets.files_read_once_and_recorded import CachedFiles
from app.targets.host_accounts import AGENT
from app.targets.questions import audit_halt_probes, login_probes, next_boot_probes, password_change, sudo_grants
from app.targets.questions.probe_answer import DiskUsage, ProbeAnswer, ProbedHost, answer_from_first_problem_or_success
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.uploaded_file_mode_and_backup_account import BACKUP_CONFIG, MISSION_CONFIG, READER, UPLOADER
from app.text.clean import clean_text

_STACKS = ("system-auth", "password-auth")
_DEBIANS = ("common-auth", "common-account")
_LONGEST = 300


@dataclass(frozen=True)
class HealthProbe:
    ask: Callable[[ProbedHost], ProbeAnswer]
    harm: str
    """What the page says that the Sentry found if the probe fails after a change."""
    clause: str = ""
    """The policy's clause against a change after which the probe would fail; empty if the policy does not ask it."""
    is_syntax: bool = False
    """The probe only finds files that cannot be read. The validators report those, and the policy leaves it to them."""


def run_health_probes(
    files: Files, today: int, audit_disk: DiskUsage | None = None, cache: ReadTrackingCache | None = None
) -> tuple[Probe, ...]:
    """Run all health probes. `today` is in days since 1970; `cache` is the cache of this host."""
    now, known = CachedFiles(files), cache or ReadTrackingCache()

    def run_probe(name: str) -> Probe:
        def answer_probe(files: Files) -> Probe:
            return to_probe(name, HEALTH_PROBES[name].ask(ProbedHost(files, known, today, audit_disk)))

        return known.get_or_compute((name, today, audit_disk), now, answer_probe)

    return tuple(map(run_probe, HEALTH_PROBES))


def to_probe(name: str, answer: ProbeAnswer) -> Probe:
    """Return the answer as a probe event, cleaned and bounded: it quotes the host."""
    holds, weak = (tuple(clean_text(one, _LONGEST) for one in ones) for ones in (answer.holds, answer.weak))
    return Probe(name, answer.ok, clean_text(answer.detail, _LONGEST), holds, weak, answer.asked)


def _probe_login(host: ProbedHost, name: str, purpose: str) -> ProbeAnswer:
    reason = host.ssh_login_predictor.explain_refusal(name, host.today)
    return ProbeAnswer(not reason, f"new login as {name} {purpose}: {reason or 'let in with its key'}")


def _probe_agent_sudo(host: ProbedHost) -> ProbeAnswer:
    reason = account_sudo_rights.explain_root_refusal(host.sudoers, host.accounts_and_groups, AGENT)
    reason = reason or account_sudo_rights.explain_blocking_sudo_options(host.sudoers, host.accounts_and_groups, AGENT)
    return ProbeAnswer(not reason, f"sudo for {AGENT}: {reason or 'granted without a password'}")


def _probe_administrator(host: ProbedHost) -> ProbeAnswer:
    """Check that an administrator can still log in and act as root to repair the host."""
    reasons = []
    for account in host.accounts_and_groups.list_other_administrators():
        reason = host.ssh_login_predictor.explain_refusal(account.name, host.today)
        reason = reason or account_sudo_rights.explain_root_refusal(
            host.sudoers, host.accounts_and_groups, account.name
        )
        if not reason:
            return ProbeAnswer(True, f"{account.name} can log in over SSH and act as root")
        reasons.append(f"{account.name}: {reason}")
    why = "; ".join(reasons) or "nobody is in the group wheel or sudo"
    return ProbeAnswer(False, f"no administrator is left: {why}")


def _probe_backup_login(host: ProbedHost) -> ProbeAnswer:
    login = uploaded_file_mode_and_backup_account.find_nightly_backup_account_setting(host.files)
    if login is None:
        return ProbeAnswer(False, f"{BACKUP_CONFIG} does not say which account the nightly backup logs in as")
    return _probe_login(host, login.value, "for the nightly backup")


def _probe_mission_service_config_readability(host: ProbedHost) -> ProbeAnswer:
    reason = host_accounts.explain_read_refusal(host.files, host.accounts_and_groups, READER, MISSION_CONFIG)
    if not reason and not uploaded_file_mode_and_backup_account.read_mission_conf(host.files):
        reason = f"{MISSION_CONFIG} says nothing"
    return ProbeAnswer(not reason, reason or f"{READER} can read {MISSION_CONFIG}")


def _probe_mission_inbox(host: ProbedHost) -> ProbeAnswer:
    path, umask = (
        uploaded_file_mode_and_backup_account.find_inbox(host.files),
        uploaded_file_mode_and_backup_account.find_upload_umask_defaulting_if_unset(host.files),
    )
    folder = host.files.state(path) if path else None
    if path is None or folder is None:
        return ProbeAnswer(False, f"the inbox {path or ''} of the mission application is not there".replace("  ", " "))
    if umask is None:
        return ProbeAnswer(False, "the umask for uploads is not a number")
    accounts = host.accounts_and_groups
    if not host_accounts.is_access_granted(folder, accounts, UPLOADER, host_accounts.WRITE):
        return ProbeAnswer(False, f"{UPLOADER} may not put files into {path} (mode {folder.mode:04o})")
    if not host_accounts.is_access_granted(folder, accounts, READER, host_accounts.ENTER):
        return ProbeAnswer(False, f"{READER} may not enter {path} (mode {folder.mode:04o})")
    new = uploaded_file_mode_and_backup_account.predict_upload(folder, umask)
    upload = f"a new upload gets mode {new.mode:04o} and owner {new.owner} under {umask.description}"
    can_read = host_accounts.is_access_granted(new, accounts, READER, host_accounts.READ)
    return ProbeAnswer(can_read, f"{upload}: {READER} {'can' if can_read else 'cannot'} read it")


def _probe_pam(host: ProbedHost) -> ProbeAnswer:
    """Check the PAM stacks of the host's family. A missing file does not turn RHEL into Debian."""
    paths = {name: f"{pam.FOLDER}/{name}" for name in (*_STACKS, *_DEBIANS)}
    there = {name for name, path in paths.items() if host.files.state(path) is not None}
    return (
        _probe_debian_pam_stacks(host)
        if there & {*_DEBIANS} and not there & {*_STACKS}
        else _probe_rhel_pam_stacks(host)
    )


def _probe_debian_pam_stacks(host: ProbedHost) -> ProbeAnswer:
    """Check Debian's common stacks by their outcome, since their rules jump over pam_deny."""
    for service, kind in zip(_DEBIANS, ("auth", "account"), strict=True):
        found = pam.read_stack_with_includes(host.files, f"{pam.FOLDER}/{service}")
        if found.problems:
            return answer_from_first_problem_or_success(found.problems, "")
        if not pam_outcome.is_user_admitted(found.list_rules_of_kind(kind), has_right_password=True):
            return ProbeAnswer(False, f"{pam.FOLDER}/{service} refuses everybody")
        if kind == "auth" and pam_outcome.is_user_admitted(found.list_rules_of_kind(kind), has_right_password=False):
            return ProbeAnswer(False, f"{pam.FOLDER}/{service} lets everybody in without asking")
    return ProbeAnswer(True, "common-auth and common-account let in who has a password, and nobody without")


def _probe_rhel_pam_stacks(host: ProbedHost) -> ProbeAnswer:
    for service in _STACKS:
        found = pam.read_stack_with_includes(host.files, f"{pam.FOLDER}/{service}")
        if found.problems:
            return answer_from_first_problem_or_success(found.problems, "")
        reason = _explain_stack_fault(found.list_rules_of_kind("auth"))
        if reason or not found.list_rules_of_kind("account"):
            return ProbeAnswer(False, f"{pam.FOLDER}/{service}: {reason or 'no account rule is left'}")
    return ProbeAnswer(True, "system-auth and password-auth ask pam_unix, and deny at the end")


def _explain_stack_fault(rules: tuple[pam.PamRule, ...]) -> str:
    """Return the fault of an auth stack: it must ask pam_unix, permit no user before that, and end with a deny."""
    modules = [rule.module for rule in rules]
    if "pam_unix.so" not in modules:
        return "no auth rule asks pam_unix"
    ahead = rules[: modules.index("pam_unix.so")]
    for rule in ahead:
        if rule.module == "pam_permit.so" and fold_case(rule.control) != "required":
            return f"line {rule.line} lets everybody in without asking"
        if rule.module == "pam_deny.so" or "authfail" in rule.arguments:
            return f"line {rule.line} refuses everybody"
    if modules[-1] != "pam_deny.so" or fold_case(rules[-1].control) not in ("required", "requisite"):
        return f"the auth rules end with {modules[-1]} instead of pam_deny"
    return ""


def _probe_accounts(host: ProbedHost) -> ProbeAnswer:
    known = host.accounts_and_groups
    if known.problems:
        return answer_from_first_problem_or_success(known.problems, "")
    names = [account.name for account in known.accounts]
    twice = sorted({name for name in names if names.count(name) > 1})
    roots = [account.name for account in known.accounts if account.uid == 0 and account.name != "root"]
    bare = [name for name in names if known.find_shadow_entry(name) is None]
    if roots:
        return ProbeAnswer(False, f"uid 0 belongs to {', '.join(roots)} besides root")
    if twice or bare or "root" not in names:
        faults = f"accounts named twice: {twice}, without a shadow entry: {bare}, root present: {'root' in names}"
        return ProbeAnswer(False, faults)
    return ProbeAnswer(True, "passwd, shadow and group can be read, and only root has uid 0")


HEALTH_PROBES: dict[str, HealthProbe] = {
    "agent-login": HealthProbe(
        lambda host: _probe_login(host, AGENT, "for the agent itself"),
        "Temper's own login refused",
        "protected identity",
    ),
    "agent-sudo": HealthProbe(_probe_agent_sudo, "Temper's own sudo refused", "protected identity"),
    "sshd-config": HealthProbe(
        lambda host: answer_from_first_problem_or_success(
            host.ssh_login_predictor.config.problems, "sshd_config and what it includes can be read"
        ),
        "SSH's configuration broken",
        is_syntax=True,
    ),
    "administrator": HealthProbe(_probe_administrator, "the administrator locked out", "lockout"),
    "backup-login": HealthProbe(_probe_backup_login, "the nightly backup locked out"),
    "mission-config": HealthProbe(
        _probe_mission_service_config_readability,
        "the mission application cut off from its configuration",
        "destruction",
    ),
    "mission-inbox": HealthProbe(_probe_mission_inbox, "the mission application cut off from its inbox"),
    "sudoers": HealthProbe(
        lambda host: answer_from_first_problem_or_success(
            host.sudoers.problems, "sudoers and what it includes can be read"
        ),
        "the sudo rules broken",
        is_syntax=True,
    ),
    "pam": HealthProbe(_probe_pam, "the login stack broken", "lockout"),
    "accounts": HealthProbe(_probe_accounts, "the accounts broken", is_syntax=True),
    "password-login": HealthProbe(login_probes.probe_password_login, "password logins broken", "lockout"),
    "console-login": HealthProbe(login_probes.probe_console_login, "the console locked", "lockout"),
    "password-change": HealthProbe(password_change.probe_password_change, "password changes refused", "lockout"),
    "sudo-rights": HealthProbe(sudo_grants.probe_sudo_rights_of_all_accounts, "a user's sudo rights gone"),
    "login-shells": HealthProbe(login_probes.probe_login_file_access, "a user's shell gone", "destruction"),
    "next-boot": HealthProbe(next_boot_probes.probe_next_boot, "a host that would not boot", "destruction"),
    "selinux-boot": HealthProbe(
        next_boot_probes.probe_selinux_policy_presence_at_boot,
        "a host that would halt at its next boot: its SELinux policy is missing",
        "destruction",
    ),
    "audit-disk": HealthProbe(audit_halt_probes.probe_audit_disk, "a host that its audit log is about to stop"),
    "audit-panic": HealthProbe(
        audit_halt_probes.probe_audit_panic, "a host that would stop when it loses audit records", "destruction"
    ),
}
"""In the order in which they are reported."""

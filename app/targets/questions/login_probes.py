"""Probes password logins over SSH, at the console and for sudo, by our reading of the PAM stacks."""

from app.syntax import pam
from app.syntax.account_files import Account
from app.targets import pam_outcome
from app.targets.host_accounts import HostAccounts, explain_read_refusal
from app.targets.questions.probe_answer import ProbeAnswer, ProbedHost
from app.targets.sshd_login_prediction import NO_SHELL

_OVER_SSH = ("sshd", "sudo")
_CONSOLE = ("login", "su")
_FALLBACK = "other"


def probe_password_login(host: ProbedHost) -> ProbeAnswer:
    return _probe_login_services(host, _OVER_SSH, "nobody has a password, so no login by one can be lost")


def probe_console_login(host: ProbedHost) -> ProbeAnswer:
    """Probe console logins, the last way in if network or keys fail."""
    return _probe_login_services(host, _CONSOLE, "nobody has a password, so nobody logs in at the console")


def _probe_login_services(host: ProbedHost, services: tuple[str, ...], no_account_text: str) -> ProbeAnswer:
    people = list_password_accounts(host.accounts_and_groups)
    opened: list[str] = []
    for service in services:
        found = pam.read_stack_with_includes(host.files, _get_stack_path(host, service))
        if found.problems:
            return ProbeAnswer(False, f"{service}: {found.problems[0]}")
        auth = tuple(rule for rule in found.list_rules_of_kind("auth") if rule.module != "pam_rootok.so")
        if pam_outcome.is_user_admitted(auth, has_right_password=False):
            return ProbeAnswer(False, f"{service}: its auth rules let everybody in, whatever is typed")
        if people and not pam_outcome.is_user_admitted(auth, has_right_password=True):
            return ProbeAnswer(False, f"{service}: its auth rules refuse everybody, the right password too")
        if people and not pam_outcome.is_user_admitted(found.list_rules_of_kind("account"), has_right_password=True):
            return ProbeAnswer(False, f"{service}: its account rules refuse everybody")
        opened += [
            f"{account.name} by password through {service}"
            for account in people
            if not _is_barred_by_nologin_file_or_expiry(host, account)
        ]
    if not people:
        return ProbeAnswer(True, no_account_text)
    names = ", ".join(account.name for account in people)
    return ProbeAnswer(True, f"{' and '.join(services)} let {names} in by password", tuple(opened))


def _get_stack_path(host: ProbedHost, service: str) -> str:
    own = f"{pam.FOLDER}/{service}"
    return own if host.files.state(own) is not None else f"{pam.FOLDER}/{_FALLBACK}"


def list_password_accounts(accounts: HostAccounts) -> list[Account]:
    """Return accounts with a usable password and a shell."""
    found = []
    for account in accounts.accounts:
        secret = accounts.find_shadow_entry(account.name)
        if secret and secret.has_password and account.shell not in NO_SHELL:
            found.append(account)
    return found


def _is_barred_by_nologin_file_or_expiry(host: ProbedHost, account: Account) -> bool:
    secret = host.accounts_and_groups.find_shadow_entry(account.name)
    closed = account.uid != 0 and host.files.state("/etc/nologin") is not None
    return closed or (secret is not None and secret.is_expired(host.today))


_NEEDED = (
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts", "/etc/resolv.conf", "/etc/ld.so.cache"),
    *("/etc/login.defs", "/etc/profile", "/etc/bashrc", "/etc/bash.bashrc", "/etc/crypto-policies/back-ends/*.config"),
)
_PASSED_OVER = ("/etc/profile.d/*.sh",)
"""A shell skips unreadable ones silently; but none may become unreadable."""


def probe_login_file_access(host: ProbedHost) -> ProbeAnswer:
    known = host.accounts_and_groups
    names = [account.name for account in known.accounts if account.uid and account.shell not in NO_SHELL]
    if not names:
        return ProbeAnswer(True, "nobody but root has a shell")
    needed, others = (_list_existing_files(host, patterns) for patterns in (_NEEDED, _PASSED_OVER))
    all_files = needed + others
    closed = [path for path in all_files if any(explain_read_refusal(host.files, known, name, path) for name in names)]
    weak = tuple(f"{path} closed to those who log in" for path in closed)
    if missed := [path for path in needed if path in closed]:
        return ProbeAnswer(False, f"not everybody with a shell may read {', '.join(missed)}", weak=weak)
    return ProbeAnswer(True, f"everybody with a shell may read the {len(needed)} files that a login needs", weak=weak)


def _list_existing_files(host: ProbedHost, patterns: tuple[str, ...]) -> list[str]:
    found = (path for pattern in patterns for path in host.files.glob(pattern))
    return sorted(path for path in found if host.files.state(path) is not None)

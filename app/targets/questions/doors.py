"""Probes password logins over SSH, at the console and for sudo, by our reading of the PAM stacks."""

from app.syntax import pam
from app.syntax.accounts import Account
from app.targets import stack
from app.targets.accounts import People
from app.targets.login import NO_SHELL
from app.targets.questions.asked import Heard, Host

_OVER_SSH = ("sshd", "sudo")
_CONSOLE = ("login", "su")
_FALLBACK = "other"
_ROOT = 0


def password_login(host: Host) -> Heard:
    return _doors(host, _OVER_SSH, "nobody has a password, so no login by one can be lost")


def console_login(host: Host) -> Heard:
    """Probe console logins, the last way in if network or keys fail."""
    return _doors(host, _CONSOLE, "nobody has a password, so nobody logs in at the console")


def _doors(host: Host, services: tuple[str, ...], nobody: str) -> Heard:
    people = with_passwords(host.people)
    opened: list[str] = []
    for service in services:
        found = pam.stack(host.files, _path(host, service))
        if found.problems:
            problem = found.problems[0]
            return Heard(False, f"{service}: {problem.text} ({problem.path} line {problem.line})")
        auth = tuple(rule for rule in found.of("auth") if rule.module != "pam_rootok.so")
        if stack.lets_in(auth, known=False):
            return Heard(False, f"{service}: its auth rules let everybody in, whatever is typed")
        if people and not stack.lets_in(auth, known=True):
            return Heard(False, f"{service}: its auth rules refuse everybody, the right password too")
        if people and not stack.lets_in(found.of("account"), known=True):
            return Heard(False, f"{service}: its account rules refuse everybody")
        opened += [
            f"{account.name} by password through {service}" for account in people if not _kept_out(host, account)
        ]
    if not people:
        return Heard(True, nobody)
    names = ", ".join(account.name for account in people)
    return Heard(True, f"{' and '.join(services)} let in by password: {names}", tuple(opened))


def _path(host: Host, service: str) -> str:
    """Return the service's PAM file, or `other` if it has none."""
    own = f"{pam.FOLDER}/{service}"
    return own if host.files.state(own) is not None else f"{pam.FOLDER}/{_FALLBACK}"


def with_passwords(people: People) -> list[Account]:
    """Return accounts with a usable password and a shell."""
    found = []
    for account in people.accounts:
        secret = people.secret(account.name)
        if secret and secret.password and not secret.locked and account.shell not in NO_SHELL:
            found.append(account)
    return found


def _kept_out(host: Host, account: Account) -> bool:
    secret = host.people.secret(account.name)
    expired = secret is not None and secret.expires is not None and secret.expires <= host.today
    closed = account.uid != _ROOT and host.files.state("/etc/nologin") is not None
    return expired or closed

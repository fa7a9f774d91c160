"""Health probes over a host's files: does everyone who depends on the host still have access?"""

from collections.abc import Callable

from app.events.words import Probe
from app.syntax import pam
from app.syntax.files import Files
from app.syntax.source import fold
from app.targets import access, privilege, stack, uploads
from app.targets.accounts import AGENT
from app.targets.glance import Glance
from app.targets.questions import auditing, boot, doors, rights, shells
from app.targets.questions.asked import Fill, Heard, Host, parsed
from app.targets.recall import Recall
from app.text.clean import clean

_STACKS = ("system-auth", "password-auth")
_DEBIANS = ("common-auth", "common-account")
_LONGEST = 300


def health(files: Files, today: int, fill: Fill | None = None, recall: Recall | None = None) -> tuple[Probe, ...]:
    """Run all health probes. `today` is in days since 1970; `recall` is the cache of this host."""
    now, known = Glance(files), recall or Recall()

    def probe(name: str) -> Probe:
        def answered(files: Files) -> Probe:
            return probed(name, _PROBES[name](Host(files, known, today, fill)))

        return known.ask((name, today, fill), now, answered)

    return tuple(map(probe, _PROBES))


def probed(name: str, answer: Heard) -> Probe:
    """Return the answer as a probe event, cleaned and bounded: it quotes the host."""
    holds, weak = (tuple(clean(one, _LONGEST) for one in ones) for ones in (answer.holds, answer.weak))
    return Probe(name, answer.ok, clean(answer.detail, _LONGEST), holds, weak)


def _login(host: Host, name: str, purpose: str) -> Heard:
    reason = host.sshd.refusal(name, host.today)
    return Heard(not reason, f"new login as {name} {purpose}: {reason or 'let in with its key'}")


def _agent_login(host: Host) -> Heard:
    return _login(host, AGENT, "for the agent itself")


def _agent_sudo(host: Host) -> Heard:
    reason = privilege.refusal(host.sudoers, host.people, AGENT)
    return Heard(not reason, f"sudo for {AGENT}: {reason or 'granted without a password'}")


def _administrator(host: Host) -> Heard:
    """Check that an administrator can still log in and act as root to repair the host."""
    reasons = []
    for account in host.people.administrators():
        reason = host.sshd.refusal(account.name, host.today)
        reason = reason or privilege.refusal(host.sudoers, host.people, account.name)
        if not reason:
            return Heard(True, f"{account.name} can log in over SSH and act as root")
        reasons.append(f"{account.name}: {reason}")
    return Heard(False, f"no administrator is left: {'; '.join(reasons) or 'nobody is in the group wheel or sudo'}")


def _backup_login(host: Host) -> Heard:
    login = uploads.backup_login(host.files)
    if login is None:
        return Heard(False, f"{uploads.BACKUP_CONFIG} does not say which account the nightly backup logs in as")
    return _login(host, login.value, "for the nightly backup")


def _mission_config(host: Host) -> Heard:
    reason = access.refusal(host.files, host.people, uploads.READER, uploads.MISSION_CONFIG)
    if not reason and not uploads.mission_settings(host.files):
        reason = f"{uploads.MISSION_CONFIG} says nothing"
    return Heard(not reason, reason or f"{uploads.READER} can read {uploads.MISSION_CONFIG}")


def _mission_inbox(host: Host) -> Heard:
    path, umask = uploads.inbox(host.files), uploads.upload_umask(host.files)
    folder = host.files.state(path) if path else None
    if path is None or folder is None:
        return Heard(False, f"the inbox {path or ''} of the mission application is not there".replace("  ", " "))
    if umask is None:
        return Heard(False, "the umask for uploads is not a number")
    if not access.allows(folder, host.people, uploads.UPLOADER, access.WRITE):
        return Heard(False, f"{uploads.UPLOADER} may not put files into {path} (mode {folder.mode:04o})")
    if not access.allows(folder, host.people, uploads.READER, access.ENTER):
        return Heard(False, f"{uploads.READER} may not enter {path} (mode {folder.mode:04o})")
    new = uploads.new_upload(folder, umask)
    upload = f"a new upload gets mode {new.mode:04o} and owner {new.owner} under {umask.said}"
    if access.allows(new, host.people, uploads.READER, access.READ):
        return Heard(True, f"{upload}: {uploads.READER} can read it")
    return Heard(False, f"{upload}: {uploads.READER} cannot read it")


def _sshd_config(host: Host) -> Heard:
    return parsed(host.sshd.config.problems, "sshd_config and what it includes can be read")


def _sudoers(host: Host) -> Heard:
    return parsed(host.sudoers.problems, "sudoers and what it includes can be read")


def _pam(host: Host) -> Heard:
    """Check the PAM stacks of the host's family. A missing file does not turn RHEL into Debian."""
    paths = {name: f"{pam.FOLDER}/{name}" for name in (*_STACKS, *_DEBIANS)}
    there = {name for name, path in paths.items() if host.files.state(path) is not None}
    return _common_stacks(host) if there & {*_DEBIANS} and not there & {*_STACKS} else _rhel_stacks(host)


def _common_stacks(host: Host) -> Heard:
    """Check Debian's common stacks by their outcome, since their rules jump over pam_deny."""
    for service, kind in zip(_DEBIANS, ("auth", "account"), strict=True):
        found = pam.stack(host.files, f"{pam.FOLDER}/{service}")
        if found.problems:
            return parsed(found.problems, "")
        if not stack.lets_in(found.of(kind), known=True):
            return Heard(False, f"{pam.FOLDER}/{service} refuses everybody")
        if kind == "auth" and stack.lets_in(found.of(kind), known=False):
            return Heard(False, f"{pam.FOLDER}/{service} lets everybody in without asking")
    return Heard(True, "common-auth and common-account let in who has a password, and nobody without")


def _rhel_stacks(host: Host) -> Heard:
    for service in _STACKS:
        found = pam.stack(host.files, f"{pam.FOLDER}/{service}")
        if found.problems:
            return parsed(found.problems, "")
        reason = _senseless(found.of("auth"))
        if reason or not found.of("account"):
            return Heard(False, f"{pam.FOLDER}/{service}: {reason or 'no account rule is left'}")
    return Heard(True, "system-auth and password-auth ask pam_unix, and deny at the end")


def _senseless(rules: tuple[pam.PamRule, ...]) -> str:
    """Return the fault of an auth stack: it must ask pam_unix, permit no user before that, and end with a deny."""
    modules = [rule.module for rule in rules]
    if "pam_unix.so" not in modules:
        return "no auth rule asks pam_unix"
    ahead = rules[: modules.index("pam_unix.so")]
    for rule in ahead:
        if rule.module == "pam_permit.so" and fold(rule.control) != "required":
            return f"line {rule.line} lets everybody in without asking"
        if rule.module == "pam_deny.so" or "authfail" in rule.arguments:
            return f"line {rule.line} refuses everybody"
    if modules[-1] != "pam_deny.so" or fold(rules[-1].control) not in ("required", "requisite"):
        return f"the auth rules end with {modules[-1]} instead of pam_deny"
    return ""


def _accounts(host: Host) -> Heard:
    if host.people.problems:
        return parsed(host.people.problems, "")
    names = [account.name for account in host.people.accounts]
    twice = sorted({name for name in names if names.count(name) > 1})
    roots = [account.name for account in host.people.accounts if account.uid == 0 and account.name != "root"]
    bare = [name for name in names if host.people.secret(name) is None]
    if roots:
        return Heard(False, f"uid 0 belongs to {', '.join(roots)} besides root")
    if twice or bare or "root" not in names:
        return Heard(
            False, f"accounts named twice: {twice}, without a shadow entry: {bare}, root present: {'root' in names}"
        )
    return Heard(True, "passwd, shadow and group can be read, and only root has uid 0")


_PROBES: dict[str, Callable[[Host], Heard]] = {
    "agent-login": _agent_login,
    "agent-sudo": _agent_sudo,
    "sshd-config": _sshd_config,
    "administrator": _administrator,
    "backup-login": _backup_login,
    "mission-config": _mission_config,
    "mission-inbox": _mission_inbox,
    "sudoers": _sudoers,
    "pam": _pam,
    "accounts": _accounts,
    "password-login": doors.password_login,
    "console-login": doors.console_login,
    "sudo-rights": rights.sudo_rights,
    "login-shells": shells.login_shells,
    "next-boot": boot.next_boot,
    "selinux-boot": boot.selinux_boot,
    "audit-disk": auditing.audit_disk,
    "audit-panic": auditing.audit_panic,
}

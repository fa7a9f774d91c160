"""Probes that run the host's own programs in one call: sshd, sudo, libpam, systemd, SELinux, audit and disk usage."""

import re
from collections.abc import Iterator

from app.events.words import Probe
from app.syntax import sudoers
from app.syntax.files import Files
from app.targets.accounts import People, people
from app.targets.health import probed
from app.targets.login import NO_SHELL
from app.targets.questions.asked import Fill, Heard
from app.targets.questions.boot import NEEDED, NO_WORK
from app.targets.questions.doors import with_passwords
from app.targets.questions.rights import told as rights_told
from app.targets.questions.rights import usable
from app.targets.ssh.line import SshLine
from app.targets.ssh.sudo_listing import granted
from app.targets.ssh.told import Told, told

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", re.ASCII)
_SECONDS = 120.0
_MOST, _FEW = 64, 8
_NOBODY = "nobody"
_ABSENT, _IN = "127", "in"
_LISTS, _CUT_SHORT = ("masked", "failed"), (124, 137)
"""Lists whose missing entries would count as new on the next probe; and the exit codes of `timeout`."""
_KIB = 1024
_BROKEN = (
    *("Module is unknown", "Failed to load module", "Symbol not found", "Error in service module", "System error"),
    *("Critical error", "Memory buffer error", "Bad item passed"),
)
"""Messages of libpam that mean a stack fails for every user."""


def asked(line: SshLine, files: Files) -> tuple[tuple[Probe, ...], Fill | None]:
    who = people(files)
    user = line.end.user
    watched = [user, *(one.user for one in line.end.watched)]
    names = (_sudoers(files, who, watched), _doors(who, watched), _plain(["root", *watched])[:_FEW])
    said = _examined(line, *map(" ".join, names))
    return probes(said, who, names[0]), _fill(said)


def _examined(line: SshLine, *names: str) -> Told:
    """Run `examine`; repeat it if a busy host cut a list short, since a missing entry would look new next time."""
    said = told(line.run("examine", *names, seconds=_SECONDS).text.splitlines())
    if not any(said.code(word, "all") in _CUT_SHORT for word in _LISTS):
        return said
    return told(line.run("examine", *names, seconds=_SECONDS).text.splitlines())


def probes(said: Told, who: People, names: list[str]) -> tuple[Probe, ...]:
    """Build the probes from a host report. `names` are the accounts that sudo was asked about."""
    return tuple(probed(name, answer) for name, answer in _answers(said, who, names))


def _sudoers(files: Files, who: People, watched: list[str]) -> list[str]:
    """Return the accounts to ask sudo about: logins, watched accounts, accounts with grants, and `nobody`."""
    read = sudoers.effective(files)
    named = [user for grant in read.grants for user in grant.users]
    there = [
        one.name for one in who.accounts if one.shell not in NO_SHELL or read.of(one.name, who.groups_of(one.name))
    ]
    known = {one.name for one in who.accounts}
    return _plain([*watched, *there, *(one for one in named if one in known), _NOBODY], but="root")[:_MOST]


def _doors(who: People, watched: list[str]) -> list[str]:
    administrators = [one.name for one in who.administrators()]
    return _plain([*administrators, *watched, *(one.name for one in with_passwords(who))])[:_FEW]


def _plain(names: list[str], but: str = "") -> list[str]:
    """Keep only names that are safe as words of a shell command, each once."""
    return [name for name in dict.fromkeys(names) if _NAME.fullmatch(name) and name != but]


def _answers(said: Told, who: People, names: list[str]) -> Iterator[tuple[str, Heard]]:
    for word, name in (("sshd", "sshd-starts"), ("visudo", "visudo")):
        yield name, _program(word, said.one(word))
    yield "pam-modules", _modules(said.one("pam"))
    yield "sudo-rights", _rights(said, who, names)
    if said.one("boot"):
        yield "next-boot", _boot(said)
    yield "failed-units", _failed(said)
    if said.one("policy"):
        yield "selinux-boot", _policy(said)
    yield "selinux", _selinux(said.one("selinux"))
    yield "audit", _audit(said)
    yield "password-change", _chpasswd(said.one("chpasswd"))
    yield "become", _become(said)
    if any(" " in door for door, _ in said.of("success")):
        yield "password-login", _tried(said)


def _program(word: str, row: tuple[str, str] | None) -> Heard:
    code, why = row or (_ABSENT, "")
    if code == _ABSENT:
        return Heard(True, f"{word} is not there to be asked")
    return Heard(code == "0", f"{word} finds nothing wrong" if code == "0" else f"{word} refuses its files: {why}")


def _modules(row: tuple[str, str] | None) -> Heard:
    """Report modules that /etc/pam.d names and that are not installed; they break or skip checks at the next login."""
    missing, which = row or ("0", "")
    if missing == "0":
        return Heard(True, "what /etc/pam.d names is installed")
    return Heard(False, f"/etc/pam.d names what is not installed: {which.strip()}")


def _rights(said: Told, who: People, names: list[str]) -> Heard:
    found = []
    for name in names:
        lines, code = said.lines("sudo", name), said.code("sudo", name)
        if code == int(_ABSENT):
            return Heard(True, "sudo is not there to be asked")
        rights = granted(lines)
        if rights is None:
            return Heard(False, f"sudo does not say what {name} may do: {' '.join(lines).strip() or 'it said nothing'}")
        secret = who.secret(name)
        typed = secret is None or bool(secret.password and not secret.locked)
        found.append((name, *usable(rights, typed=typed)))
    return rights_told([one for one in found if one[1] or one[2]])


def _boot(said: Told) -> Heard:
    code, target = said.one("boot") or ("1", "")
    masked = said.lines("masked", "all")
    weak = tuple(f"{unit} masked" for unit in masked)
    goal = target.removesuffix(".target")
    if code != "0" or goal in NO_WORK:
        return Heard(False, f"the next boot goes to {target or 'nothing at all'}", weak=weak)
    if shut := [unit for unit in NEEDED if unit in masked]:
        return Heard(False, f"the next boot leaves out {', '.join(shut)}, which are masked", weak=weak)
    table = tuple(f"/etc/fstab is {digest}" for _, digest in said.of("fstab"))
    return Heard(True, f"the next boot goes to {target}, and nothing that a login needs is masked", table, weak)


def _failed(said: Told) -> Heard:
    if said.code("failed", "all") != 0:
        return Heard(True, "systemd does not run there or does not answer, so no failed unit is known")
    failed = [line.split()[0] for line in said.lines("failed", "all") if line.strip()]
    weak = tuple(f"{unit} failed" for unit in failed)
    return Heard(True, f"failed units: {', '.join(failed) or 'none'}", weak=weak)


def _policy(said: Told) -> Heard:
    there, policy = said.one("policy") or ("", "")
    if there == "there":
        return Heard(True, f"the next boot loads the SELinux policy {policy}, which is there")
    return Heard(False, f"the next boot loads the SELinux policy {policy}, and /etc/selinux/{policy}/policy is empty")


def _selinux(row: tuple[str, str] | None) -> Heard:
    if row is None or row[0] != "0":
        return Heard(True, "SELinux is not there to be asked")
    return Heard(True, f"SELinux is {row[1]}", (f"SELinux is {row[1]}",))


def _audit(said: Told) -> Heard:
    status = dict(line.split()[:2] for line in said.lines("audit", "all") if len(line.split()) > 1)
    if said.code("audit", "all") != 0 or "enabled" not in status:
        return Heard(True, "the kernel's audit is not there to be asked")
    told_of = ", ".join(f"{key} {status[key]}" for key in ("enabled", "failure", "lost", "backlog") if key in status)
    holds = ("the kernel records",) if status["enabled"] != "0" else ()
    if status.get("failure") == "2" and status.get("backlog_wait_time", "1") == "0":
        return Heard(False, f"the kernel stops at the first record that it loses: {told_of}", holds)
    return Heard(True, f"the kernel's audit: {told_of}", holds)


def _chpasswd(row: tuple[str, str] | None) -> Heard:
    """Report whether the password stack works, tried for an absent account so that no password can change."""
    if row is None:
        return Heard(True, "chpasswd does not ask PAM here, or is not there")
    if broken := _broken(row[1]):
        return Heard(False, f"no password can be set: chpasswd says {broken}")
    return Heard(True, "the stack for new passwords can be gone through")


def _become(said: Told) -> Heard:
    """Report which accounts root can become with su, which runs the account and session rules of a console login."""
    tried = said.of("become")
    if broken := next((found for _, text in tried if (found := _broken(text))), ""):
        return Heard(False, f"su from root fails for everybody: {broken}")
    opened = tuple(f"su from root to {name}" for name, text in tried if text == _IN)
    return Heard(True, f"su from root: to {_listed(tried)}" if opened else "su from root could not be tried", opened)


def _tried(said: Told) -> Heard:
    """Report logins that libpam simulates on the host's stacks, with a right and then a wrong password."""
    right, wrong = ([row for row in said.of(word) if " " in row[0]] for word in ("success", "auth_err"))
    if broken := next((f"{door}: {found}" for door, text in right if (found := _broken(text))), ""):
        return Heard(False, f"a stack cannot be gone through, {broken}")
    if loose := [door.split(" ")[0] for door, text in wrong if text == _IN]:
        return Heard(False, f"with a wrong password everybody is let in: {', '.join(loose)}")
    opened = tuple(_in(*door.split(" ", 1)) for door, text in right if text == _IN)
    if not opened:
        return Heard(False, f"nobody is let in with the right password: {': '.join(right[0])}")
    return Heard(True, f"the right password being given, libpam lets in {_by_door(right)}; a wrong one nobody", opened)


def _in(service: str, name: str) -> str:
    return f"{service} lets {name} in, the right password being given"


def _by_door(tried: list[tuple[str, str]]) -> str:
    doors: dict[str, list[str]] = {}
    for service, name in (door.split(" ", 1) for door, text in tried if text == _IN):
        doors.setdefault(service, []).append(name)
    return "; ".join(f"{', '.join(names)} through {service}" for service, names in doors.items())


def _listed(tried: list[tuple[str, str]]) -> str:
    return ", ".join(name for name, text in tried if text == _IN)


def _broken(text: str) -> str:
    return next((words for words in _BROKEN if words in text), "")


def _fill(said: Told) -> Fill | None:
    size, free = said.one("fill") or ("", "")
    if not (size.isascii() and size.isdecimal() and free.isascii() and free.isdecimal()):
        return None
    return Fill(int(size) * _KIB, int(free) * _KIB)

"""Packages: which may be installed, and which must never be removed."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Annotated

from msgspec import Meta

from app.resources import kind

PackageName = Annotated[str, Meta(max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9+._-]*$")]
INSTALLED = "installed "
"""What the state of an installed package begins with; its version follows."""
_TO_BE = re.compile(r"\b(?:apt-get|apt|dnf|yum|zypper)\b[^\n]{0,80}?\b(?:install|remove|erase|purge)\b([^\n]{0,200})")
_PACKAGE = re.compile(r"[`'\"]?([A-Za-z0-9][A-Za-z0-9+._-]{1,60})[`'\"]? packages?\b")
_OF_ID = re.compile(r"package_(.+)_(?:installed|removed|enabled|disabled|masked)")
_PLAIN_WORDS = frozenset({"the", "this", "that", "following", "system", "software", "any", "all", "no", "and", "of"})
_LOOK = "{ dpkg-query -W -f '${db:Status-Status}' %s 2>/dev/null | grep -qx installed || rpm -q %s >/dev/null 2>&1; }"
_BY = "if command -v apt-get >/dev/null; then DEBIAN_FRONTEND=noninteractive apt-get -y -q %s; else dnf -y -q %s; fi"
MOST_COMING = 20
"""The most packages that one change may install. More is for a person to decide."""
_PROTECTED: tuple[tuple[str, str], ...] = (
    (r"openssh-.*|ssh|libwrap.*", "protected identity"),
    (r"sudo.*|passwd|login|shadow-utils|util-linux.*|libpam.*|pam|libpwquality.*|authselect.*|sssd.*", "lockout"),
    (r"systemd.*|dbus.*|init|sysvinit.*|dracut.*|initramfs-tools.*|grub.*|shim.*", "destruction"),
    (r"linux-(?:image|base|modules).*|kernel.*|libc6|glibc.*|base-(?:files|passwd)|setup|filesystem", "destruction"),
    (r"dpkg.*|apt|libapt-.*|rpm.*|dnf.*|yum.*|debconf|coreutils.*|tar|sed|grep|dash|bash|mawk|gawk", "destruction"),
    (r"ifupdown.*|isc-dhcp-client|netplan.*|NetworkManager.*|network-manager.*|iproute.*|resolvconf", "network"),
    (r"firewalld|nftables|iptables.*|ufw", "weakening"),
    (r"audit.*|libaudit.*|rsyslog.*|aide.*|openscap.*|libopenscap.*|scap-security-guide|ssg-.*", "evidence tampering"),
    (r"selinux-.*|libselinux.*|apparmor.*|fail2ban|usbguard|fapolicyd", "weakening"),
)
"""Packages that are never removed: they provide login, boot, logging or rollback."""
_UNWELCOME = re.compile(
    r"(?:inetutils-|krb5-)?telnetd?(?:-.*)?|telnet-server|rsh-.*|nis|ypserv|ypbind|(?:a?tftpd?|vsftpd|proftpd)(?:-.*)?"
    r"|(?:x|openbsd-|inetutils-)inetd|talkd?|sendmail.*|netcat.*|nmap.*|gdb|strace|.*-dbg(?:sym)?"
)
"""Packages that hardening removes are not installed."""

_HARMLESS_COMPANY = re.compile(
    r"(?!libpam|libnss|libpolkit|libvirt|(?!libcap2-bin$).*-(?:bin|tools|utils|daemon)$)(?:lib[a-z0-9.+-]+|python3?(?:[.-][a-z0-9.+-]+)?"
    r"|perl(?:-[a-z0-9.-]+)?|[a-z0-9.+-]+-(?:common|data|doc|runtime|locales?|l10n)|gcc-[0-9]+-base|wamerican|file"
    r"|dictionaries-common|emacsen-common|media-types|mailcap|sgml-base|ucf|lsb-base|sensible-utils|adduser|tzdata"
    r"|iproute2|netbase|openssl|init-system-helpers)"
)
"""Libraries, interpreters and data, which run nothing by themselves: they may come along with a package."""


class InstallPackage(kind.ResourceAction, frozen=True, tag="install_package"):
    """Install from the host's package sources."""

    package: PackageName


class RemovePackage(kind.ResourceAction, frozen=True, tag="remove_package"):
    package: PackageName


PackageAction = InstallPackage | RemovePackage


def find_candidates(rule: kind.RuleTexts) -> Iterator[PackageAction]:
    found = [word for line in _TO_BE.findall(rule.text) for word in line.replace('"', " ").replace("'", " ").split()]
    found += _PACKAGE.findall(rule.text)
    if match := _OF_ID.fullmatch(rule.id):
        found.append(match[1].replace("_", "-"))
    for name in (one.rstrip(".,;") for one in found if one.lower() not in _PLAIN_WORDS):
        if len(name) > 1:
            yield RemovePackage(package=name)
            yield InstallPackage(package=name)


def _is_possible(action: PackageAction, host_state: kind.HostState) -> bool:
    is_installed = host_state.text.startswith(INSTALLED)
    return is_installed if isinstance(action, RemovePackage) else bool(host_state.version) and not is_installed


def judge_packages(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    packages = list(foreseen.iterate_names_and_states("package"))
    coming = sum(_is_newly_installed(one) for _, one in packages)
    if coming > MOST_COMING:
        reason = f"it would install {coming} packages; the limit for one change is {MOST_COMING}."
        return kind.Objection("too much", reason)
    found = next(
        (found for name, one in packages for found in _iterate_objections_to_change(name, one, foreseen.needed)), None
    )
    company = (_object_to_unasked_package_unless_harmless(name, one, foreseen) for name, one in packages)
    return found or next(filter(None, company), None)


def _object_to_unasked_package_unless_harmless(
    name: str, package_state: kind.ResourceState, foreseen: kind.ForeseenStates
) -> kind.Objection | None:
    """Judge a package that no action names. Only its name is known before it is fetched."""
    asked = {place.removeprefix(KIND.prefix) for place in foreseen.asked if place.startswith(KIND.prefix)}
    if not asked or name in asked or any(name.startswith(f"{other}-") for other in asked):
        return None  # a package's own parts
    if not _is_newly_installed(package_state):
        reason = f"{name} would be removed too, because it depends on the package: a person decides."
        return kind.Objection("too much", reason)
    if _HARMLESS_COMPANY.fullmatch(name):
        return None
    reason = f"{name} would be installed too. It is not a library, so it may have services, setuid programs,"
    return kind.Objection("too much", f"{reason} PAM or sudo files, or cron jobs. A person decides.")


def _iterate_objections_to_change(
    name: str, state: kind.ResourceState, needed_resources: frozenset[str]
) -> Iterator[kind.Objection]:
    if _is_newly_installed(state):
        if _UNWELCOME.fullmatch(name):
            yield kind.Objection("weakening", f"{name} would be installed, and hardening removes it.")
    elif state.after.startswith(INSTALLED):
        yield kind.Objection("too much", f"{name} would change its version: only a person may order an upgrade.")
    elif state.name in needed_resources:
        yield kind.Objection("protected identity", f"{name} would be removed, and Temper or its probes need it.")
    else:
        for pattern, clause in _PROTECTED:
            if re.fullmatch(pattern, name):
                yield kind.Objection(clause, f"{name} would be removed, and it is protected.")


def _is_newly_installed(package_state: kind.ResourceState) -> bool:
    return package_state.after.startswith(INSTALLED) and not package_state.before.startswith(INSTALLED)


def _is_version_or_absence_as_wanted(wanted: str, found: str) -> bool:
    return wanted in (found, kind.NOT_FORESEEN) or (not wanted and not found.startswith(INSTALLED))


def _build_commands(action: PackageAction, names_changed_by_install: Sequence[str]) -> tuple[kind.ShellCommands]:
    name = shlex.quote(action.package)
    look, install, remove = _LOOK % (name, name), f"install {name}", f"remove {name}"
    if isinstance(action, RemovePackage):
        return (kind.ShellCommands(f"! {look}", _BY % (remove, remove), _BY % (install, install)),)
    came = (
        shlex.join([one.removeprefix(KIND.prefix) for one in names_changed_by_install if one.startswith(KIND.prefix)])
        or name
    )
    return (kind.ShellCommands(look, _BY % (install, install), _BY % (f"purge {came}", f"remove {came}")),)


KIND = kind.ResourceKind[PackageAction](
    name="package",
    actions=(InstallPackage, RemovePackage),
    find_candidates=find_candidates,
    is_possible=_is_possible,
    list_words=lambda action: ("remove" if isinstance(action, RemovePackage) else "install",),
    judge_states=judge_packages,
    match_state=_is_version_or_absence_as_wanted,
    build_commands=_build_commands,
)

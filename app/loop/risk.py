"""Assesses what a change could break, by its files, settings and services.

Anything unknown is assumed to cut the connection.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from app.events.approval_policy import ChangeRisk
from app.events.kinds import ActionProposed
from app.events.vocabulary import AnyAction, Reload
from app.resources.kind import Objection, ResourceAction
from app.resources.registry import get_kind
from app.resources.vendor import RunVendorScript
from app.skills.skill import Rule
from app.targets.writable_areas import find_judge
from app.text.clean import clean_text


@dataclass(frozen=True)
class Hazard:
    word: str
    cuts_the_line: bool
    paths: tuple[str, ...] = ()


UNKNOWN = Hazard("something else", cuts_the_line=True)
NETWORK = Hazard("network", cuts_the_line=True, paths=("/etc/firewalld/*", "/etc/ipsec.conf"))
LOGIN = Hazard("remote login", cuts_the_line=True, paths=("/etc/ssh/*", "/etc/crypto-policies/*"))
SERVICES = Hazard(
    "services",
    cuts_the_line=False,
    paths=(
        "/etc/aliases",
        "/etc/chrony*",
        "/etc/dconf/*",
        "/etc/gdm/*",
        "/etc/postfix/*",
        "/etc/usbguard/*",
        "/etc/systemd/coredump.conf*",
    ),
)
BOOT = Hazard("boot", cuts_the_line=True, paths=("/etc/default/grub", "/etc/systemd/system.conf*"))
KERNEL = Hazard("kernel settings", cuts_the_line=False, paths=("/etc/sysctl.conf", "/etc/sysctl.d/*"))
HAZARDS = (
    LOGIN,
    Hazard(
        "passwords and logins",
        cuts_the_line=True,
        paths=("/etc/pam.d/*", "/etc/securetty", "/etc/security/*", "/etc/sssd/*", "/etc/systemd/logind.conf*"),
    ),
    Hazard(
        "accounts",
        cuts_the_line=True,
        paths=(
            "/etc/passwd*",
            "/etc/shadow*",
            "/etc/group*",
            "/etc/gshadow*",
            "/etc/login.defs",
            "/etc/libuser.conf",
            "/etc/default/useradd",
        ),
    ),
    Hazard("root rights", cuts_the_line=True, paths=("/etc/sudoers", "/etc/sudoers.d/*")),
    Hazard("shells", cuts_the_line=True, paths=("/etc/profile", "/etc/profile.d/*", "/etc/bash*rc", "/etc/csh.cshrc")),
    Hazard("SELinux", cuts_the_line=True, paths=("/etc/selinux/*",)),
    NETWORK,
    KERNEL,
    Hazard("kernel modules", cuts_the_line=False, paths=("/etc/modprobe.d/*",)),
    BOOT,
    Hazard(
        "audit",
        cuts_the_line=False,
        paths=("/etc/audit/*", "/etc/rsyslog.conf", "/etc/rsyslog.d/*", "/etc/systemd/journald.conf*"),
    ),
    Hazard("packages", cuts_the_line=False, paths=("/etc/dnf/*", "/etc/yum.repos.d/*")),
    Hazard("file permissions", cuts_the_line=False),
    Hazard("banners", cuts_the_line=False, paths=("/etc/issue", "/etc/issue.net", "/etc/motd")),
    Hazard("the mission application", cuts_the_line=False, paths=("/etc/mission/*",)),
    SERVICES,
    UNKNOWN,
)
_BY_WORD = {hazard.word: hazard for hazard in HAZARDS}
WORDS = tuple(_BY_WORD)
_NETWORK_KEYS = "net."


def assess_risk(
    rule: Rule, proposed: ActionProposed, made: Collection[str] = (), one_way: Sequence[str] = ()
) -> ChangeRisk:
    """Return the risk. `made` are the files that would change, `one_way` the settings that hold until the next boot."""
    hazards = {*find_hazards(proposed.actions), *(one for path in made for one in _classify_file(path))}
    foreign = [path for path in made if isinstance(find_judge(path), Objection)]
    return ChangeRisk(
        category=rule.category,
        breaks=tuple(hazard.word for hazard in HAZARDS if hazard in hazards),
        cuts_the_line=any(hazard.cuts_the_line for hazard in hazards),
        irreversible=rule.irreversible or bool(one_way),
        replayed=bool(proposed.replayed),
        vendor=any(isinstance(action, RunVendorScript) for action in proposed.actions),
        warnings=(
            *(f"{setting} holds until the next boot, even after a rollback" for setting in one_way),
            *(
                f"{clean_text(path, 256)} is none of the files that Temper judges: only modes and owners are checked"
                for path in foreign
            ),
        ),
    )


def find_hazards(actions: Iterable[AnyAction]) -> Iterable[Hazard]:
    for action in actions:
        if isinstance(action, Reload):
            yield _classify_service(action.service)
        elif isinstance(action, ResourceAction):
            yield _BY_WORD[get_kind(action).hazard]
        else:
            yield from _classify_file(action.path, action)


def _classify_service(service: str) -> Hazard:
    if service.removesuffix(".service") in ("ssh", "sshd"):
        return LOGIN
    return KERNEL if service.startswith("systemd-sysctl") else BOOT if service == "grub" else SERVICES


def _classify_file(path: str, action: AnyAction | None = None) -> Iterable[Hazard]:
    """Yield the hazards of a file; kernel settings that name the network add that."""
    found = next((one for one in HAZARDS if any(fnmatchcase(path, pattern) for pattern in one.paths)), UNKNOWN)
    yield found
    texts = (getattr(action, name, "") for name in ("key", "line", "old", "new", "content"))
    if found is KERNEL and any(_NETWORK_KEYS in text.replace("/", ".") for text in texts):
        yield NETWORK

"""Compare a host's files with the settings that its daemons and kernel run with.

PAM, sudo, login.defs and the like are read anew each time, so they are always in force.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.events.vocabulary import PendingSetting
from app.syntax import audit, host_text, sysctl
from app.syntax.files import Files
from app.targets.effects.audit_rules import LOADED, AuditRules
from app.targets.effects.modprobe_settings import NOTHING, Modprobe
from app.targets.effects.sshd import Sshd
from app.targets.effects.sysctl import MAIN, SystemdSysctl, evaluate_sysctl
from app.text.clean import clean_text

AREAS: dict[str, tuple[str, ...]] = {
    "sshd": (*Sshd.areas, "/etc/crypto-policies/"),
    "sysctl": SystemdSysctl.areas,
    "audit": AuditRules.areas,
    "modules": Modprobe.areas,
    "mounts": ("/etc/fstab",),
}
"""Path prefixes of the files that decide each program's settings."""
RELOAD_SSHD, SYSCTL, AUGENRULES, REBOOT = (
    "a reload of sshd",
    "sysctl --system or a reboot",
    "augenrules --load",
    "a reboot",
)
_SWITCHES = {"-e": "enabled", "-f": "failure", "-b": "backlog_limit"}
_KEY = re.compile(r"(?:-k |-F key=)(\S+)")
_PLAIN = re.compile(r"[a-z0-9_]+[./][A-Za-z0-9_.:/-]+")
_PLACE = re.compile(r"/[A-Za-z0-9_./-]*")
_MOST_KEYS, _LONGEST = 200, 200
_LOCKED = "2"

Row = tuple[str, str, str]


@dataclass(frozen=True)
class InForceReport:
    boot: str = ""
    checked_programs: tuple[str, ...] = ()
    pending_settings: tuple[PendingSetting, ...] = ()

    def filter_by_paths(self, paths: Iterable[str]) -> "InForceReport":
        """Return the part of the report that a change of these paths affects."""
        touched = [name for name, areas in AREAS.items() if any(path.startswith(areas) for path in paths)]
        return InForceReport(
            self.boot,
            tuple(name for name in self.checked_programs if name in touched),
            tuple(one for one in self.pending_settings if one.program in touched),
        )


def list_kernel_settings(files: Files) -> list[str]:
    """List the settings in the administrator's sysctl files whose names are safe as shell arguments."""
    texts = [
        host_text.read_text(files, path) or "" for path in (*host_text.glob_files(files, "/etc/sysctl.d/*.conf"), MAIN)
    ]
    return [key for key in sysctl.load_as_procps(texts).stated if _PLAIN.fullmatch(key)][:_MOST_KEYS]


def compare_running(files: Files, rows: Sequence[Row]) -> InForceReport:
    """Compare the files with the host's report. `rows` is untrusted: cleaned, compared, never executed."""
    boot = next((value for word, _, value in rows if word == "boot"), "")
    found = [
        ("sshd", _compare_sshd(rows)),
        ("sysctl", _compare_sysctl(files, rows)),
        ("audit", _compare_audit(files, rows)),
    ]
    found += [("modules", _compare_modules(files, rows)), ("mounts", _compare_mounts(rows))]
    asked = [(name, list(behind)) for name, behind in found if behind is not None]
    return InForceReport(
        clean_text(boot, 64).strip(),
        tuple(name for name, _ in asked),
        tuple(one for _, behind in asked for one in behind),
    )


def _to_pending_setting(program: str, setting: str, wanted: str, running: str, by: str) -> PendingSetting:
    said = (clean_text(text, _LONGEST) for text in (setting, wanted, running))
    return PendingSetting(program=program, **dict(zip(("setting", "wanted", "running"), said, strict=True)), by=by)


def _compare_sshd(rows: Sequence[Row]) -> Iterator[PendingSetting] | None:
    """Compare file times with the start of sshd, since sshd does not report its settings."""
    said = [(name, value) for word, name, value in rows if word == "sshd"]
    if not said:
        return None
    return (
        _to_pending_setting("sshd", file, "as the file is now", "as it was when sshd last began", RELOAD_SSHD)
        for name, file in said
        if name == "late"
    )


def _compare_sysctl(files: Files, rows: Sequence[Row]) -> Iterator[PendingSetting] | None:
    now = {name: " ".join(value.split()) for word, name, value in rows if word == "sysctl"}
    if not now:
        return None
    stated = SystemdSysctl().read_settings(files)
    spelt = evaluate_sysctl(sysctl.load_as_procps(f"{key} = {value}" for key, value in now.items()), debian=False)
    wanted = {key: " ".join(stated[key].split()) for key in now if key in stated}
    return (
        _to_pending_setting("sysctl", key, value, now[key], SYSCTL)
        for key, value in wanted.items()
        if value not in (now[key], spelt.get(key))
    )


def _compare_audit(files: Files, rows: Sequence[Row]) -> Iterator[PendingSetting] | None:
    now = {name: value for word, name, value in rows if word == "audit"}
    if "enabled" not in now:
        return None
    return _compare_audit_rules(files, now, [value for word, _, value in rows if word == "rule"])


def _compare_audit_rules(files: Files, now: dict[str, str], loaded: Sequence[str]) -> Iterator[PendingSetting]:
    """Compare audit rules by their keys, because the kernel spells rules differently."""
    by = REBOOT if now["enabled"] == _LOCKED else AUGENRULES
    lines = audit.parse_audit_lines(host_text.read_text(files, LOADED) or "", LOADED)
    stated = {one.switch.key: one.switch.value for one in lines if one.switch}
    for switch, name in _SWITCHES.items():
        if switch in stated and name in now and stated[switch] != now[name]:
            yield _to_pending_setting("audit", f"{name} ({switch})", stated[switch], now[name], by)
    rules = [" ".join(one.words) for one in lines if one.rule]
    known = {key for line in loaded for key in _KEY.findall(line)}
    for key in dict.fromkeys(key for rule in rules for key in _KEY.findall(rule)):
        if key not in known:
            yield _to_pending_setting("audit", f"rules with the key {key}", "loaded", "not loaded", by)
    if rules and not [line for line in loaded if line.startswith("-")]:
        yield _to_pending_setting("audit", "rules", f"{len(rules)} loaded", "none loaded", by)


def _compare_modules(files: Files, rows: Sequence[Row]) -> Iterator[PendingSetting] | None:
    loaded = {name for word, name, _ in rows if word == "module"}
    if not loaded:
        return None
    shut = [
        key.partition(" ")[2]
        for key, value in Modprobe().read_settings(files).items()
        if key.startswith("install ") and value == NOTHING
    ]
    return (
        _to_pending_setting("modules", module, "never loaded", "loaded", f"modprobe -r {module} or a reboot")
        for module in shut
        if module in loaded and re.fullmatch(r"[A-Za-z0-9_]+", module)
    )


def _compare_mounts(rows: Sequence[Row]) -> Iterator[PendingSetting] | None:
    """Compare the restrictive mount options in fstab with the live ones."""
    told = [(place, *said.partition("|")[::2]) for word, place, said in rows if word == "mount"]
    if not told:
        return None
    return (
        _to_pending_setting(
            "mounts", place, " ".join(stated.split()), " ".join(live.split()), f"mount -o remount {place}"
        )
        for place, stated, live in told
        if set(stated.split()) - {"none"} - set(live.split()) and _PLACE.fullmatch(place)
    )

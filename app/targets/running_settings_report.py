"""Compare a host's files with the settings that its daemons and kernel run with.

PAM, sudo, login.defs and the like are read anew each time, so they are always in force.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.events.event_field_types import PendingSetting
from app.syntax import audit_rule_files, host_text, sysctl
from app.syntax.host_files_protocol import Files
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
RELOAD_SSHD, SYSCTL = "a reload of sshd", "sysctl --system or a reboot"
AUGENRULES, REBOOT = "augenrules --load", "a reboot"
_SWITCHES = {"-e": "enabled", "-f": "failure", "-b": "backlog_limit"}
_KEY = re.compile(r"(?:-k |-F key=)(\S+)")
_PLAIN = re.compile(r"[a-z0-9_]+[./][A-Za-z0-9_.:/-]+")
_PLACE = re.compile(r"/[A-Za-z0-9_./-]*")
_MOST_KEYS, _LONGEST = 200, 200
_LOCKED = "2"

Row = tuple[str, str, str]
Named = tuple[str, str]
"""A name and what the host says of it."""


@dataclass(frozen=True)
class InForceReport:
    boot: str = ""
    checked_programs: tuple[str, ...] = ()
    pending_settings: tuple[PendingSetting, ...] = ()

    def filter_by_programs_affected_by_paths(self, paths: Iterable[str]) -> "InForceReport":
        """Return the part of the report that a change of these paths affects."""
        touched = [name for name, areas in AREAS.items() if any(path.startswith(areas) for path in paths)]
        return InForceReport(
            self.boot,
            tuple(name for name in self.checked_programs if name in touched),
            tuple(one for one in self.pending_settings if one.program in touched),
        )


def list_stated_sysctl_names(files: Files) -> list[str]:
    """List the settings in the administrator's sysctl files whose names are safe as shell arguments."""
    return [key for key in _read_stated_sysctls(files) if _PLAIN.fullmatch(key)][:_MOST_KEYS]


def _read_stated_sysctls(files: Files) -> dict[str, str]:
    paths = (*host_text.glob_paths_like_shell(files, "/etc/sysctl.d/*.conf"), MAIN)
    return sysctl.load_as_procps(host_text.read_text(files, path) or "" for path in paths).stated


def read_changed_sysctl_values(before: Files, after: Files) -> dict[str, str]:
    """Return the settings in the administrator's sysctl files that a change adds or gives another value."""
    was, now = _read_stated_sysctls(before), _read_stated_sysctls(after)
    plain = {key: " ".join(value.split()) for key, value in now.items() if was.get(key) != value}
    return {key: value for key, value in plain.items() if _PLAIN.fullmatch(key) and "/" not in key}


def compare_running(files: Files, rows: Sequence[Row]) -> InForceReport:
    """Compare the files with the host's report. `rows` is untrusted: cleaned, compared, never executed."""
    said: dict[str, list[tuple[str, str]]] = {}
    for word, name, value in rows:
        said.setdefault(word, []).append((name, value))
    audit_status = dict(said.get("audit", ()))
    asked = {
        "sshd": _list_sshd_files_changed_after_start(said["sshd"]) if "sshd" in said else None,
        "sysctl": _compare_sysctl(files, dict(said["sysctl"])) if "sysctl" in said else None,
        "audit": _compare_audit(files, audit_status, said.get("rule", ())) if "enabled" in audit_status else None,
        "modules": _compare_modules(files, dict(said["module"])) if "module" in said else None,
        "mounts": _compare_mounts(said["mount"]) if "mount" in said else None,
    }
    behind = {name: list(found) for name, found in asked.items() if found is not None}
    boot = next((value for _, value in said.get("boot", ())), "")
    return InForceReport(
        clean_text(boot, 64).strip(), tuple(behind), tuple(one for found in behind.values() for one in found)
    )


def _build_pending_setting_with_cleaned_texts(
    program: str, setting: str, wanted: str, running: str, remedy: str
) -> PendingSetting:
    said = (clean_text(text, _LONGEST) for text in (setting, wanted, running))
    return PendingSetting(program=program, **dict(zip(("setting", "wanted", "running"), said, strict=True)), by=remedy)


def _list_sshd_files_changed_after_start(rows: Sequence[Named]) -> Iterator[PendingSetting]:
    """Compare file times with the start of sshd, since sshd does not report its settings."""
    for name, file in rows:
        if name == "late":
            yield _build_pending_setting_with_cleaned_texts(
                "sshd", file, "as the file is now", "as it was when sshd last began", RELOAD_SSHD
            )


def _compare_sysctl(files: Files, running: Mapping[str, str]) -> Iterator[PendingSetting]:
    now = {name: " ".join(value.split()) for name, value in running.items()}
    stated = SystemdSysctl().read_settings(files)
    spelt = evaluate_sysctl(sysctl.load_as_procps(f"{key} = {value}" for key, value in now.items()), debian=False)
    for key in filter(stated.__contains__, now):
        wanted = " ".join(stated[key].split())
        if wanted not in (now[key], spelt.get(key)):
            yield _build_pending_setting_with_cleaned_texts("sysctl", key, wanted, now[key], SYSCTL)


def _compare_audit(files: Files, audit_status: Mapping[str, str], rules: Sequence[Named]) -> Iterator[PendingSetting]:
    """Compare audit rules by their keys, because the kernel spells rules differently."""
    loaded, by = [value for _, value in rules], REBOOT if audit_status["enabled"] == _LOCKED else AUGENRULES
    lines = audit_rule_files.parse_audit_lines(host_text.read_text(files, LOADED) or "", LOADED)
    stated = {one.system_setting.key: one.system_setting.value for one in lines if one.system_setting}
    for switch, name in _SWITCHES.items():
        if switch in stated and name in audit_status and stated[switch] != audit_status[name]:
            yield _build_pending_setting_with_cleaned_texts(
                "audit", f"{name} ({switch})", stated[switch], audit_status[name], by
            )
    wanted = [" ".join(one.words) for one in lines if one.normalized_or_raw_rule_text]
    known = {key for line in loaded for key in _KEY.findall(line)}
    for key in dict.fromkeys(key for rule in wanted for key in _KEY.findall(rule)):
        if key not in known:
            yield _build_pending_setting_with_cleaned_texts(
                "audit", f"rules with the key {key}", "loaded", "not loaded", by
            )
    if wanted and not any(line.startswith("-") for line in loaded):
        yield _build_pending_setting_with_cleaned_texts("audit", "rules", f"{len(wanted)} loaded", "none loaded", by)


def _compare_modules(files: Files, loaded: Mapping[str, str]) -> Iterator[PendingSetting]:
    for key, value in Modprobe().read_settings(files).items():
        module = key.removeprefix("install ")
        if module != key and value == NOTHING and module in loaded and re.fullmatch(r"[A-Za-z0-9_]+", module):
            by = f"modprobe -r {module} or a reboot"
            yield _build_pending_setting_with_cleaned_texts("modules", module, "never loaded", "loaded", by)


def _compare_mounts(rows: Sequence[Named]) -> Iterator[PendingSetting]:
    for place, options in rows:
        stated, live = (side.split() for side in options.partition("|")[::2])
        if set(stated) - {"none"} - set(live) and _PLACE.fullmatch(place):
            by = f"mount -o remount {place}"
            yield _build_pending_setting_with_cleaned_texts("mounts", place, " ".join(stated), " ".join(live), by)

"""SELinux at the next boot: mode, policy, and whether the policy is installed."""

import re
from collections.abc import Mapping

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import Daemon
from app.targets.effects.strictness_comparison import Strength, compare_unranked, create_ranked_comparison

PATH = "/etc/selinux/config"
INSTALLED = "policy installed"
VENDOR = ("/etc/selinux/*/seusers",)
"""A small file that every policy has."""

_MODE = re.compile(r"SELINUX=(?i:(enforcing|permissive|disabled))")
_TYPE = re.compile(r"SELINUXTYPE=(.*)", re.IGNORECASE)
_MODES = create_ranked_comparison("disabled", "permissive", "enforcing")


class Selinux(Daemon):
    """Not asked: libselinux prints only the loaded policy."""

    name = "selinux"
    areas = (PATH,)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        text = host_text.read_text(files, PATH) or ""
        modes = [host_text.fold_case(m[1]) for line in text.split("\n") if (m := _MODE.match(line))]
        policy = _read_policy_name(text)
        there = bool(files.glob(f"/etc/selinux/{policy}/*")) if re.fullmatch(r"[\w-]+", policy) else False
        return {
            "SELINUX": modes[0] if modes else "disabled",
            "SELINUXTYPE": policy,
            INSTALLED: "yes" if there else "no",
        }

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        if key == INSTALLED:
            return create_ranked_comparison("no", "yes")(was, now)
        if key == "SELINUX":
            # Files of a host without SELinux have no labels: enforcing, it would not boot.
            return Strength.INCOMPARABLE if was == "disabled" and now == "enforcing" else _MODES(was, now)
        return compare_unranked(was, now)


def _read_policy_name(text: str) -> str:
    """Return the policy of the last SELINUXTYPE line; a trailing comment is part of the name."""
    named = [m[1] for line in text.split("\n") if (m := _TYPE.match(line.lstrip(host_text.TRAIL)))]
    return named[-1].rstrip(host_text.TRAIL) if named else "targeted"

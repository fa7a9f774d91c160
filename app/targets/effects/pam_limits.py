"""pam_limits: the limits of a login; the last line for a domain and item wins."""

from collections.abc import Mapping

from app.syntax import host_text, limits_conf
from app.syntax.host_files_protocol import Files
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.strictness_comparison import Strength, compare_higher_as_stricter, compare_unranked

EXEMPT = "exempt"
_ENDLESS = ("-1", "unlimited", "infinity", UNSET)
_ONE_KIND = ("maxlogins", "maxsyslogins", "nonewprivs")
"""Enforced by pam_limits itself, for hard and soft alike."""
_LESS = ("maxlogins", "maxsyslogins", "core", "nproc", "fsize", "cpu")


class Limits(Daemon):
    """Not asked: no program prints what the PAM module reads."""

    name = "limits"
    areas = (limits_conf.MAIN, "/etc/security/limits.d/")

    def read_settings(self, files: Files) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in [limits_conf.MAIN, *host_text.glob_paths_like_shell(files, limits_conf.FOLDER)]:
            text = host_text.read_text(files, path) or ""
            for limit in limits_conf.parse_limits(text, path):
                kinds = ("hard ", "soft ") if limit.kind == "-" else (f"{limit.kind} ",)
                for kind in ("",) if limit.item in _ONE_KIND else kinds:
                    found[f"{limit.domain} {kind}{limit.item}"] = host_text.fold_case(limit.value)
            found |= {f"{domain} {EXEMPT}": "yes" for domain in limits_conf.list_exempt_domains(text)}
        return found

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        item = key.rpartition(" ")[2]
        if item == "nonewprivs":
            return compare_higher_as_stricter(_parse_limit(was), _parse_limit(now)) if was else Strength.STRONGER
        if item not in _LESS:
            return compare_unranked(was, now)
        return compare_higher_as_stricter(-_parse_limit(was), -_parse_limit(now))


def _parse_limit(value: str) -> float:
    """Return the limit; pam_limits ignores a value that is no number, which means no limit."""
    number = None if value in _ENDLESS else host_text.parse_digits(value)
    return float("inf") if number is None else number

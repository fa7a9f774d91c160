"""pam_limits: the limits of a login; the last line for a domain and item wins."""

from collections.abc import Mapping

from app.syntax import limits, source
from app.syntax.files import Files
from app.targets.effects.daemon import UNSET, Ask
from app.targets.effects.strength import Strength, by_number, equal_or_not

EXEMPT = "exempt"
_ENDLESS = ("-1", "unlimited", "infinity", UNSET)
_ONE_KIND = ("maxlogins", "maxsyslogins", "nonewprivs")
"""Enforced by pam_limits itself, for hard and soft alike."""
_LESS = ("maxlogins", "maxsyslogins", "core", "nproc", "fsize", "cpu")


class Limits:
    name = "limits"
    areas: tuple[str, ...] = (limits.MAIN, "/etc/security/limits.d/")

    def settings(self, files: Files) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in [limits.MAIN, *source.glob(files, limits.FOLDER)]:
            text = source.text(files, path) or ""
            for limit in limits.limits(text, path):
                for kind in _kinds(limit.kind, limit.item):
                    found[f"{limit.domain} {kind}{limit.item}"] = source.fold(limit.value)
            found |= {f"{domain} {EXEMPT}": "yes" for domain in limits.exempt(text)}
        return found

    def said(self, files: Files, ask: Ask) -> None:
        """Not available: no program prints what the PAM module reads."""

    def order(self, key: str, was: str, now: str) -> Strength:
        item = key.rpartition(" ")[2]
        if item == "nonewprivs":
            return by_number(_number(was), _number(now)) if was else Strength.STRONGER
        if item not in _LESS:
            return equal_or_not(was, now)
        return by_number(-_number(was), -_number(now))


def _kinds(kind: str, item: str) -> tuple[str, ...]:
    if item in _ONE_KIND:
        return ("",)
    return ("hard ", "soft ") if kind == "-" else (f"{kind} ",)


def _number(value: str) -> float:
    """Return the limit; pam_limits ignores a value that is no number, which means no limit."""
    if value in _ENDLESS or not value.isdigit():
        return float("inf")
    return int(value)

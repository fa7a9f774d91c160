"""Compares two values of an sshd keyword by how much they allow."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from app.targets.effects import sshd_algorithm_strength
from app.targets.effects import strictness_comparison as strictness
from app.targets.effects.daemon_base import UNSET
from app.targets.effects.strictness_comparison import Compare, Strength, compare_allowed_sets, compare_unranked


class _Tables(msgspec.Struct):
    keywords: dict[str, str]
    rising: dict[str, str]
    rights: dict[str, dict[str, str]]


_TABLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Tables)
_NOTICES = ("/etc/issue", "/etc/issue.net", "/etc/motd")
_LOGS = ("AUTH", "AUTHPRIV")


def compare_keyword(keyword: str, was: str, now: str) -> Strength:
    return _COMPARES.get(keyword, compare_unranked)(was, now)


def combine_strengths_mixed_as_incomparable(*orders: Strength) -> Strength:
    """Combine parts; stronger in one and weaker in another is incomparable."""
    told = {one for one in orders if one is not Strength.EQUAL}
    if not told:
        return Strength.EQUAL
    return told.pop() if len(told) == 1 else Strength.INCOMPARABLE


def _parse_whole(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() else None


def _parse_limit(value: str) -> float | None:
    """Return the number, or infinity for 0 and none, which mean no limit."""
    count = 0 if value == "none" else _parse_whole(value)
    return None if count is None else count or float("inf")


_compare_whole = strictness.create_number_comparison(_parse_whole)
_compare_lower = strictness.create_number_comparison(_parse_whole, lower_is_stricter=True)
_compare_limits = strictness.create_number_comparison(_parse_limit, lower_is_stricter=True)


def _create_parts_comparison(separator: str, *compares: Compare) -> Compare:
    def compare(was: str, now: str) -> Strength:
        old, new = was.split(separator), now.split(separator)
        if not len(old) == len(new) == len(compares):
            return compare_unranked(was, now)
        return combine_strengths_mixed_as_incomparable(
            *(one(*pair) for one, pair in zip(compares, zip(old, new, strict=True), strict=True))
        )

    return compare


def _compare_deny_lists(was: str, now: str) -> Strength:
    if "!" in was + now:
        return compare_unranked(was, now)
    return compare_allowed_sets(now.split(), was.split())


def _compare_allow_lists(was: str, now: str) -> Strength:
    """Compare allow lists; without the keyword every user is allowed."""
    if UNSET in (was, now):
        return Strength.EQUAL if was == now else Strength.STRONGER if was == UNSET else Strength.WEAKER
    return compare_unranked(was, now) if "!" in was + now else compare_allowed_sets(was.split(), now.split())


def _compare_permitted_destinations(was: str, now: str) -> Strength:
    ends = ("any", "none")
    if was in ends or now in ends:
        step = {"any": 0, "none": 2}
        return strictness.create_number_comparison(lambda value: step.get(value, 1))(was, now)
    return compare_allowed_sets(was.split(), now.split())


def _create_rights_comparison(space_separated_rights_by_value: Mapping[str, str]) -> Compare:
    def compare(was: str, now: str) -> Strength:
        if was not in space_separated_rights_by_value or now not in space_separated_rights_by_value:
            return compare_unranked(was, now)
        return compare_allowed_sets(
            space_separated_rights_by_value[was].split(), space_separated_rights_by_value[now].split()
        )

    return compare


def _compare_banners(was: str, now: str) -> Strength:
    """Compare banners: the host's notice files are equal, and better than none."""
    if was == now or (was in _NOTICES and now in _NOTICES):
        return Strength.EQUAL
    if was == "none" and now in _NOTICES:
        return Strength.STRONGER
    return Strength.WEAKER if now == "none" else compare_unranked(was, now)


def _compare_permit_user_environment(was: str, now: str) -> Strength:
    step = {"yes": 0, "no": 2}
    if was in step or now in step:
        return strictness.create_number_comparison(lambda value: step.get(value, 1))(was, now)
    return compare_unranked(was, now)


def _compare_security_key_requirements(was: str, now: str) -> Strength:
    """Compare requirements on a security key: more are stricter."""
    old, new = ([word for word in value.split() if word != "none"] for value in (was, now))
    return compare_allowed_sets(new, old)


def _compare_auth_methods(was: str, now: str) -> Strength:
    if was == "any" != now:
        return Strength.STRONGER
    return Strength.WEAKER if now == "any" != was else compare_unranked(was, now)


def _compare_facilities_equating_auth(was: str, now: str) -> Strength:
    return Strength.EQUAL if was in _LOGS and now in _LOGS else compare_unranked(was, now)


_BY_TABLE: dict[str, Compare] = {
    "better_no": strictness.create_ranked_comparison("yes", "no"),
    "better_yes": strictness.create_ranked_comparison("no", "yes"),
    "no_matter": lambda _was, _now: Strength.EQUAL,
    "algorithms": sshd_algorithm_strength.compare_algorithms,
    "fewer": lambda was, now: compare_allowed_sets(was.split(), now.split()),
    "names_kept_out": _compare_deny_lists,
    "names_let_in": _compare_allow_lists,
    "opens": _compare_permitted_destinations,
    "lower": _compare_lower,
    "lower_limits": _compare_limits,
}
_COMPARES: dict[str, Compare] = (
    {name: _BY_TABLE[table] for table, names in _TABLES.keywords.items() for name in names.split()}
    | {name: _create_rights_comparison(rights) for name, rights in _TABLES.rights.items()}
    | {name: strictness.create_ranked_comparison(*values.split()) for name, values in _TABLES.rising.items()}
    | {
        "authenticationmethods": _compare_auth_methods,
        "banner": _compare_banners,
        "maxstartups": _create_parts_comparison(":", _compare_lower, _compare_whole, _compare_lower),
        "permituserenvironment": _compare_permit_user_environment,
        "persourcenetblocksize": _create_parts_comparison(":", _compare_lower, _compare_lower),
        "pubkeyauthoptions": _compare_security_key_requirements,
        "rekeylimit": _create_parts_comparison(" ", _compare_limits, _compare_limits),
        "requiredrsasize": _compare_whole,
        "streamlocalbindmask": strictness.compare_masks,
        "syslogfacility": _compare_facilities_equating_auth,
    }
)

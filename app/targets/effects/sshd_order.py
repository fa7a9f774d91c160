"""Compares two values of an sshd keyword by how much they allow."""

from collections.abc import Callable, Collection, Mapping

from app.targets.effects import sshd_algorithm_order
from app.targets.effects.daemon import UNSET
from app.targets.effects.strength import (
    Compare,
    Strength,
    compare_sets,
    compare_unranked,
    create_measure,
    create_ranking,
)


def _split_words(text: str) -> list[str]:
    return text.split()


_BETTER_NO = _split_words("""
    allowagentforwarding compression gssapiauthentication gssapienablek5users gssapikeyexchange
    gssapistorecredentialsonrekey hostbasedauthentication hostbasedusesnamefrompacketonly kbdinteractiveauthentication
    kerberosauthentication kerberosgetafstoken kerberosorlocalpasswd passwordauthentication permitemptypasswords
    permittty permituserrc streamlocalbindunlink x11forwarding
""")
_BETTER_YES = _split_words("""
    disableforwarding gssapicleanupcredentials gssapistrictacceptorcheck ignoreuserknownhosts kerberosticketcleanup
    printlastlog strictmodes usepam x11uselocalhost
""")
_NO_MATTER = _split_words("debianbanner exposeauthinfo ipqos printmotd tcpkeepalive versionaddendum x11displayoffset")
_ALGORITHMS = _split_words("""
    casignaturealgorithms ciphers gssapikexalgorithms hostbasedacceptedalgorithms hostkeyalgorithms kexalgorithms macs
    pubkeyacceptedalgorithms
""")
_FEWER = ("acceptenv", "authorizedkeysfile", "subsystem")
_NAMES_KEPT_OUT = ("denyusers", "denygroups")
_NAMES_LET_IN = ("allowusers", "allowgroups")
_OPENS = ("permitopen", "permitlisten")
_FORWARDS = {"yes": "local remote", "local": "local", "remote": "remote", "no": ""}
_RIGHTS: dict[str, dict[str, str]] = {
    "allowtcpforwarding": _FORWARDS,
    "allowstreamlocalforwarding": _FORWARDS,
    "permittunnel": {"yes": "ip link", "point-to-point": "ip", "ethernet": "link", "no": ""},
    "gatewayports": {"yes": "always", "clientspecified": "where the client says", "no": ""},
}
"""What each value allows; one that allows less is stricter."""
_WORDS: dict[str, Compare] = {
    "permitrootlogin": create_ranking("yes", "without-password", "forced-commands-only", "no"),
    "ignorerhosts": create_ranking("no", "shosts-only", "yes"),
    "fingerprinthash": create_ranking("MD5", "SHA256"),
    "loglevel": create_ranking("SILENT", "FATAL", "ERROR", "INFO", "VERBOSE"),
}
_NOTICES = ("/etc/issue", "/etc/issue.net", "/etc/motd")
_LOGS = ("AUTH", "AUTHPRIV")


def compare_keyword(keyword: str, was: str, now: str) -> Strength:
    return _COMPARES.get(keyword, compare_unranked)(was, now)


def combine_strengths(*orders: Strength) -> Strength:
    """Combine parts; stronger in one and weaker in another is incomparable."""
    told = {one for one in orders if one is not Strength.EQUAL}
    if not told:
        return Strength.EQUAL
    return told.pop() if len(told) == 1 else Strength.INCOMPARABLE


def _parse_whole(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() else None


def _measure_lower(value: str) -> float | None:
    """Lower is stricter."""
    count = _parse_whole(value)
    return None if count is None else -count


def _measure_lower_limit(value: str) -> float | None:
    """Lower is stricter; 0 or none means no limit."""
    count = 0 if value == "none" else _parse_whole(value)
    return None if count is None else -(count or float("inf"))


def _measure_higher(value: str) -> float | None:
    return _parse_whole(value)


def _compare_parts(between: str, *compares: Compare) -> Compare:
    def compare(was: str, now: str) -> Strength:
        old, new = was.split(between), now.split(between)
        if not len(old) == len(new) == len(compares):
            return compare_unranked(was, now)
        return combine_strengths(*(one(*pair) for one, pair in zip(compares, zip(old, new, strict=True), strict=True)))

    return compare


def _compare_word_sets(between: str | None) -> Compare:
    return lambda was, now: compare_sets(was.split(between), now.split(between))


def _compare_deny_lists(was: str, now: str) -> Strength:
    if "!" in was + now:
        return compare_unranked(was, now)
    return compare_sets(now.split(), was.split())


def _compare_allow_lists(was: str, now: str) -> Strength:
    """Compare allow lists; without the keyword every user is allowed."""
    if UNSET in (was, now):
        return Strength.EQUAL if was == now else Strength.STRONGER if was == UNSET else Strength.WEAKER
    return compare_unranked(was, now) if "!" in was + now else compare_sets(was.split(), now.split())


def _compare_open_places(was: str, now: str) -> Strength:
    """Compare any, none, or lists of places."""
    ends = ("any", "none")
    if was in ends or now in ends:
        step = {"any": 0, "none": 2}
        return create_measure(lambda value: step.get(value, 1))(was, now)
    return compare_sets(was.split(), now.split())


def _compare_rights(rights: Mapping[str, str]) -> Compare:
    def compare(was: str, now: str) -> Strength:
        known = was in rights and now in rights
        return compare_sets(rights[was].split(), rights[now].split()) if known else compare_unranked(was, now)

    return compare


def _compare_banners(was: str, now: str) -> Strength:
    """Compare banners: the host's notice files are equal, and better than none."""
    if was == now or (was in _NOTICES and now in _NOTICES):
        return Strength.EQUAL
    if was == "none" and now in _NOTICES:
        return Strength.STRONGER
    return Strength.WEAKER if now == "none" else compare_unranked(was, now)


def _compare_environments(was: str, now: str) -> Strength:
    """Compare yes, no, or name patterns."""
    step = {"yes": 0, "no": 2}
    if was in step or now in step:
        return create_measure(lambda value: step.get(value, 1))(was, now)
    return compare_unranked(was, now)


def _compare_key_options(was: str, now: str) -> Strength:
    """Compare requirements on a security key: more are stricter."""
    old, new = ([word for word in value.split() if word != "none"] for value in (was, now))
    return compare_sets(new, old)


def _compare_mask_bits(was: str, now: str) -> Strength:
    try:
        old, new = int(was, 8), int(now, 8)
    except ValueError:
        return compare_unranked(was, now)
    if old == new:
        return Strength.EQUAL
    return Strength.STRONGER if old & ~new == 0 else Strength.WEAKER if new & ~old == 0 else Strength.INCOMPARABLE


def _compare_auth_methods(was: str, now: str) -> Strength:
    if was == "any" != now:
        return Strength.STRONGER
    return Strength.WEAKER if now == "any" != was else compare_unranked(was, now)


def _compare_facilities(was: str, now: str) -> Strength:
    return Strength.EQUAL if was in _LOGS and now in _LOGS else compare_unranked(was, now)


def _always_equal(_was: str, _now: str) -> Strength:
    return Strength.EQUAL


def _assign_compare(keywords: Collection[str], compare: Compare) -> dict[str, Compare]:
    return dict.fromkeys(keywords, compare)


def _assign_measure(keywords: str, strictness: Callable[[str], float | None]) -> dict[str, Compare]:
    return _assign_compare(keywords.split(), create_measure(strictness))


_COMPARES: dict[str, Compare] = (
    _assign_compare(_BETTER_NO, create_ranking("yes", "no"))
    | _assign_compare(_BETTER_YES, create_ranking("no", "yes"))
    | _assign_compare(_NO_MATTER, _always_equal)
    | _assign_compare(_ALGORITHMS, sshd_algorithm_order.compare_algorithms)
    | _assign_compare(_FEWER, _compare_word_sets(None))
    | _assign_compare(_NAMES_KEPT_OUT, _compare_deny_lists)
    | _assign_compare(_NAMES_LET_IN, _compare_allow_lists)
    | _assign_compare(_OPENS, _compare_open_places)
    | {keyword: _compare_rights(rights) for keyword, rights in _RIGHTS.items()}
    | _WORDS
    | _assign_measure("maxauthtries maxsessions", _measure_lower)
    | _assign_measure(
        "clientalivecountmax clientaliveinterval logingracetime persourcemaxstartups unusedconnectiontimeout",
        _measure_lower_limit,
    )
    | _assign_measure("requiredrsasize", _measure_higher)
    | {
        "authenticationmethods": _compare_auth_methods,
        "banner": _compare_banners,
        "maxstartups": _compare_parts(
            ":", create_measure(_measure_lower), create_measure(_measure_higher), create_measure(_measure_lower)
        ),
        "permituserenvironment": _compare_environments,
        "persourcenetblocksize": _compare_parts(":", create_measure(_measure_lower), create_measure(_measure_lower)),
        "pubkeyauthoptions": _compare_key_options,
        "rekeylimit": _compare_parts(" ", create_measure(_measure_lower_limit), create_measure(_measure_lower_limit)),
        "streamlocalbindmask": _compare_mask_bits,
        "syslogfacility": _compare_facilities,
    }
)

"""Compares two values of an sshd keyword by how much they allow."""

from collections.abc import Callable, Collection, Mapping

from app.targets.effects import sshd_algorithms
from app.targets.effects.daemon import UNSET
from app.targets.effects.strength import Compare, Strength, equal_or_not, fewer, measured, ranked


def _words(text: str) -> list[str]:
    return text.split()


_BETTER_NO = _words("""
    allowagentforwarding compression gssapiauthentication gssapienablek5users gssapikeyexchange
    gssapistorecredentialsonrekey hostbasedauthentication hostbasedusesnamefrompacketonly kbdinteractiveauthentication
    kerberosauthentication kerberosgetafstoken kerberosorlocalpasswd passwordauthentication permitemptypasswords
    permittty permituserrc streamlocalbindunlink x11forwarding
""")
_BETTER_YES = _words("""
    disableforwarding gssapicleanupcredentials gssapistrictacceptorcheck ignoreuserknownhosts kerberosticketcleanup
    printlastlog strictmodes usepam x11uselocalhost
""")
_NO_MATTER = _words("debianbanner exposeauthinfo ipqos printmotd tcpkeepalive versionaddendum x11displayoffset")
_ALGORITHMS = _words("""
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
    "permitrootlogin": ranked("yes", "without-password", "forced-commands-only", "no"),
    "ignorerhosts": ranked("no", "shosts-only", "yes"),
    "fingerprinthash": ranked("MD5", "SHA256"),
    "loglevel": ranked("SILENT", "FATAL", "ERROR", "INFO", "VERBOSE"),
}
_NOTICES = ("/etc/issue", "/etc/issue.net", "/etc/motd")
_LOGS = ("AUTH", "AUTHPRIV")


def order(keyword: str, was: str, now: str) -> Strength:
    return _COMPARES.get(keyword, equal_or_not)(was, now)


def all_of(*orders: Strength) -> Strength:
    """Combine parts; stronger in one and weaker in another is incomparable."""
    told = {one for one in orders if one is not Strength.EQUAL}
    if not told:
        return Strength.EQUAL
    return told.pop() if len(told) == 1 else Strength.INCOMPARABLE


def _whole(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() else None


def _least(value: str) -> float | None:
    """Lower is stricter."""
    count = _whole(value)
    return None if count is None else -count


def _least_above_nothing(value: str) -> float | None:
    """Lower is stricter; 0 or none means no limit."""
    count = 0 if value == "none" else _whole(value)
    return None if count is None else -(count or float("inf"))


def _most(value: str) -> float | None:
    return _whole(value)


def _parts(between: str, *compares: Compare) -> Compare:
    def compare(was: str, now: str) -> Strength:
        old, new = was.split(between), now.split(between)
        if not len(old) == len(new) == len(compares):
            return equal_or_not(was, now)
        return all_of(*(one(*pair) for one, pair in zip(compares, zip(old, new, strict=True), strict=True)))

    return compare


def _sets(between: str | None) -> Compare:
    return lambda was, now: fewer(was.split(between), now.split(between))


def _kept_out(was: str, now: str) -> Strength:
    if "!" in was + now:
        return equal_or_not(was, now)
    return fewer(now.split(), was.split())


def _let_in(was: str, now: str) -> Strength:
    """Compare allow lists; without the keyword every user is allowed."""
    if UNSET in (was, now):
        return Strength.EQUAL if was == now else Strength.STRONGER if was == UNSET else Strength.WEAKER
    return equal_or_not(was, now) if "!" in was + now else fewer(was.split(), now.split())


def _opened(was: str, now: str) -> Strength:
    """Compare any, none, or lists of places."""
    ends = ("any", "none")
    if was in ends or now in ends:
        step = {"any": 0, "none": 2}
        return measured(lambda value: step.get(value, 1))(was, now)
    return fewer(was.split(), now.split())


def _allowed(rights: Mapping[str, str]) -> Compare:
    def compare(was: str, now: str) -> Strength:
        known = was in rights and now in rights
        return fewer(rights[was].split(), rights[now].split()) if known else equal_or_not(was, now)

    return compare


def _shown(was: str, now: str) -> Strength:
    """Compare banners: the host's notice files are equal, and better than none."""
    if was == now or (was in _NOTICES and now in _NOTICES):
        return Strength.EQUAL
    if was == "none" and now in _NOTICES:
        return Strength.STRONGER
    return Strength.WEAKER if now == "none" else equal_or_not(was, now)


def _environment(was: str, now: str) -> Strength:
    """Compare yes, no, or name patterns."""
    step = {"yes": 0, "no": 2}
    if was in step or now in step:
        return measured(lambda value: step.get(value, 1))(was, now)
    return equal_or_not(was, now)


def _touched(was: str, now: str) -> Strength:
    """Compare requirements on a security key: more are stricter."""
    old, new = ([word for word in value.split() if word != "none"] for value in (was, now))
    return fewer(new, old)


def _bits(was: str, now: str) -> Strength:
    try:
        old, new = int(was, 8), int(now, 8)
    except ValueError:
        return equal_or_not(was, now)
    if old == new:
        return Strength.EQUAL
    return Strength.STRONGER if old & ~new == 0 else Strength.WEAKER if new & ~old == 0 else Strength.INCOMPARABLE


def _methods(was: str, now: str) -> Strength:
    if was == "any" != now:
        return Strength.STRONGER
    return Strength.WEAKER if now == "any" != was else equal_or_not(was, now)


def _logged(was: str, now: str) -> Strength:
    return Strength.EQUAL if was in _LOGS and now in _LOGS else equal_or_not(was, now)


def _never_matters(_was: str, _now: str) -> Strength:
    return Strength.EQUAL


def _each(keywords: Collection[str], compare: Compare) -> dict[str, Compare]:
    return dict.fromkeys(keywords, compare)


def _measured(keywords: str, strictness: Callable[[str], float | None]) -> dict[str, Compare]:
    return _each(keywords.split(), measured(strictness))


_COMPARES: dict[str, Compare] = (
    _each(_BETTER_NO, ranked("yes", "no"))
    | _each(_BETTER_YES, ranked("no", "yes"))
    | _each(_NO_MATTER, _never_matters)
    | _each(_ALGORITHMS, sshd_algorithms.order)
    | _each(_FEWER, _sets(None))
    | _each(_NAMES_KEPT_OUT, _kept_out)
    | _each(_NAMES_LET_IN, _let_in)
    | _each(_OPENS, _opened)
    | {keyword: _allowed(rights) for keyword, rights in _RIGHTS.items()}
    | _WORDS
    | _measured("maxauthtries maxsessions", _least)
    | _measured(
        "clientalivecountmax clientaliveinterval logingracetime persourcemaxstartups unusedconnectiontimeout",
        _least_above_nothing,
    )
    | _measured("requiredrsasize", _most)
    | {
        "authenticationmethods": _methods,
        "banner": _shown,
        "maxstartups": _parts(":", measured(_least), measured(_most), measured(_least)),
        "permituserenvironment": _environment,
        "persourcenetblocksize": _parts(":", measured(_least), measured(_least)),
        "pubkeyauthoptions": _touched,
        "rekeylimit": _parts(" ", measured(_least_above_nothing), measured(_least_above_nothing)),
        "streamlocalbindmask": _bits,
        "syslogfacility": _logged,
    }
)

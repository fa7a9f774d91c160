"""The keywords of sshd (OpenSSH 8.7), their known values, and which are allowed in Match blocks."""

import re
from functools import lru_cache

from app.syntax.host_text import fold_case, parse_number, split_names

_YES_NO = ("yes", "no")
_FORWARDING = ("yes", "no", "all", "local", "remote")


SWITCHES = split_names("""
    allowagentforwarding debianbanner disableforwarding exposeauthinfo gssapiauthentication
    gssapicleanupcredentials gssapienablek5users gssapikeyexchange gssapistorecredentialsonrekey
    gssapistrictacceptorcheck hostbasedauthentication hostbasedusesnamefrompacketonly ignoreuserknownhosts
    kbdinteractiveauthentication kerberosauthentication kerberosgetafstoken kerberosorlocalpasswd
    kerberosticketcleanup kerberosuniqueccache kerberosusekuserok passwordauthentication permitemptypasswords
    permittty permituserrc printlastlog printmotd pubkeyauthentication streamlocalbindunlink
    strictmodes tcpkeepalive usedns usepam x11forwarding x11uselocalhost
""")
CHOICES: dict[str, tuple[str, ...]] = dict.fromkeys(SWITCHES, _YES_NO) | {
    "addressfamily": ("any", "inet", "inet6"),
    "allowstreamlocalforwarding": _FORWARDING,
    "allowtcpforwarding": _FORWARDING,
    "compression": ("yes", "no", "delayed"),
    "fingerprinthash": ("md5", "sha1", "sha256", "sha384", "sha512"),
    "gatewayports": ("yes", "no", "clientspecified"),
    "ignorerhosts": ("yes", "no", "shosts-only"),
    "loglevel": split_names("debug debug1 debug2 debug3 error fatal info quiet silent verbose"),
    "permitrootlogin": ("yes", "no", "prohibit-password", "without-password", "forced-commands-only"),
    "permittunnel": ("yes", "no", "point-to-point", "ethernet"),
}
_TIMES = split_names("clientaliveinterval logingracetime")
_COUNTS = split_names("clientalivecountmax maxauthtries maxsessions requiredrsasize x11displayoffset")
_SINGLES = split_names("""
    authorizedkeyscommanduser authorizedprincipalscommanduser authorizedprincipalsfile banner
    casignaturealgorithms chrootdirectory ciphers gssapikexalgorithms hostbasedacceptedalgorithms
    hostcertificate hostkey hostkeyagent hostkeyalgorithms kexalgorithms macs maxstartups modulifile
    permituserenvironment persourcemaxstartups persourcenetblocksize pidfile port pubkeyacceptedalgorithms
    rdomain revokedkeys securitykeyprovider streamlocalbindmask syslogfacility trustedusercakeys
    unusedconnectiontimeout xauthlocation
""")
_LISTS = split_names("""
    acceptenv allowgroups allowusers authenticationmethods authorizedkeyscommand authorizedkeysfile
    authorizedprincipalscommand channeltimeout denygroups denyusers forcecommand include ipqos listenaddress
    logverbose match permitlisten permitopen pubkeyauthoptions rekeylimit setenv subsystem versionaddendum
""")
RETIRED = split_names("""
    afstokenpassing authorizedkeysfile2 checkmail kerberostgtpassing keyregenerationinterval pamauthenticationviakbdint
    protocol reversemappingcheck rhostsauthentication rhostsrsaauthentication rsaauthentication serverkeybits uselogin
    useprivilegeseparation verifyreversemapping
""")
"""sshd ignores these with a warning."""
_KNOWN = frozenset((*CHOICES, *_TIMES, *_COUNTS, *_SINGLES, *_LISTS))
_ALIASES = {
    "challengeresponseauthentication": "kbdinteractiveauthentication",
    "dsaauthentication": "pubkeyauthentication",
    "hostbasedacceptedkeytypes": "hostbasedacceptedalgorithms",
    "hostdsakey": "hostkey",
    "keepalive": "tcpkeepalive",
    "pubkeyacceptedkeytypes": "pubkeyacceptedalgorithms",
    "rsaminsize": "requiredrsasize",
    "skeyauthentication": "kbdinteractiveauthentication",
}
_GLOBAL_ALIASES = ("dsaauthentication", "hostdsakey", "keepalive")
IN_MATCH = split_names("""
    acceptenv allowagentforwarding allowgroups allowstreamlocalforwarding allowtcpforwarding allowusers
    authenticationmethods authorizedkeyscommand authorizedkeyscommanduser authorizedkeysfile
    authorizedprincipalscommand authorizedprincipalscommanduser authorizedprincipalsfile banner
    casignaturealgorithms channeltimeout chrootdirectory clientalivecountmax clientaliveinterval denygroups
    denyusers disableforwarding exposeauthinfo forcecommand gatewayports gssapiauthentication gssapienablek5users
    hostbasedacceptedalgorithms hostbasedauthentication hostbasedusesnamefrompacketonly ignorerhosts include ipqos
    kbdinteractiveauthentication kerberosauthentication kerberosusekuserok loglevel logverbose maxauthtries
    maxsessions passwordauthentication permitemptypasswords permitlisten permitopen permitrootlogin permittty
    permittunnel permituserrc pubkeyacceptedalgorithms pubkeyauthentication pubkeyauthoptions rdomain rekeylimit
    requiredrsasize revokedkeys setenv streamlocalbindmask streamlocalbindunlink trustedusercakeys
    unusedconnectiontimeout x11displayoffset x11forwarding x11uselocalhost
""")
_TIME = re.compile(r"(?=[0-9])(?:[0-9]{1,9}[sSmMhHdDwW])*(?:[0-9]{1,9})?")
_SPAN = re.compile(r"([0-9]{1,9})([smhdw]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@lru_cache(1024)
def normalize_keyword(keyword: str) -> str:
    """Return the current name of a keyword, in small letters; some had other names."""
    return _ALIASES.get(fold_case(keyword), fold_case(keyword))


def parse_seconds(value: str) -> int | None:
    """Parse a time as sshd does: 600, 10m, 1h30m. Return seconds or None."""
    if not _TIME.fullmatch(value):
        return None
    return sum(int(count) * SECONDS[unit] for count, unit in _SPAN.findall(fold_case(value)))


def find_complaint(keyword: str, arguments: tuple[str, ...], *, in_match: bool) -> str:
    """Return why sshd would reject the line; an empty string if it would not, as far as we know."""
    name = normalize_keyword(keyword)
    if name in RETIRED:
        return ""
    if name not in _KNOWN:
        return f"sshd does not know the keyword {keyword!a}"
    if in_match and (name not in IN_MATCH or fold_case(keyword) in _GLOBAL_ALIASES):
        return f"{keyword} is not allowed in a Match block"
    if name in _LISTS:
        return ""
    if len(arguments) > 1:
        return f"{keyword} takes one value, and more stand on the line"
    return _find_bad_value(keyword, name, arguments[0])


def _find_bad_value(keyword: str, name: str, value: str) -> str:
    if name in CHOICES and fold_case(value) not in CHOICES[name]:
        return f"{keyword} must be one of {', '.join(CHOICES[name])}"
    if name in _TIMES and parse_seconds(value) is None:
        return f"{keyword} must be a time such as 600 or 10m"
    if name in _COUNTS and parse_number(value) is None:
        return f"{keyword} must be a whole number"
    return ""

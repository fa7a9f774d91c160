"""What sshd of RHEL 9 (OpenSSH 8.7) accepts: keywords, the values we know, and what may stand in a Match block."""

import re

from app.syntax.source import fold, number

_YES_NO = ("yes", "no")
_FORWARDING = ("yes", "no", "all", "local", "remote")


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SWITCHES = _names("""
    allowagentforwarding challengeresponseauthentication disableforwarding exposeauthinfo gssapiauthentication
    gssapicleanupcredentials gssapienablek5users gssapikeyexchange gssapistorecredentialsonrekey
    gssapistrictacceptorcheck hostbasedauthentication hostbasedusesnamefrompacketonly ignoreuserknownhosts
    kbdinteractiveauthentication kerberosauthentication kerberosgetafstoken kerberosorlocalpasswd
    kerberosticketcleanup kerberosuniqueccache kerberosusekuserok passwordauthentication permitemptypasswords
    permittty permituserrc printlastlog printmotd pubkeyauthentication skeyauthentication streamlocalbindunlink
    strictmodes tcpkeepalive usedns usepam x11forwarding x11uselocalhost
""")
_CHOICES: dict[str, tuple[str, ...]] = dict.fromkeys(_SWITCHES, _YES_NO) | {
    "addressfamily": ("any", "inet", "inet6"),
    "allowstreamlocalforwarding": _FORWARDING,
    "allowtcpforwarding": _FORWARDING,
    "compression": ("yes", "no", "delayed"),
    "fingerprinthash": ("md5", "sha256"),
    "gatewayports": ("yes", "no", "clientspecified"),
    "ignorerhosts": ("yes", "no", "shosts-only"),
    "loglevel": ("quiet", "fatal", "error", "info", "verbose", "debug", "debug1", "debug2", "debug3"),
    "permitrootlogin": ("yes", "no", "prohibit-password", "without-password", "forced-commands-only"),
    "permittunnel": ("yes", "no", "point-to-point", "ethernet"),
}
_TIMES = _names("clientaliveinterval logingracetime")
_COUNTS = _names("clientalivecountmax maxauthtries maxsessions requiredrsasize x11displayoffset")
_SINGLES = _names("""
    authorizedkeyscommanduser authorizedprincipalscommanduser authorizedprincipalsfile banner
    casignaturealgorithms chrootdirectory ciphers gssapikexalgorithms hostbasedacceptedalgorithms
    hostbasedacceptedkeytypes hostcertificate hostkey hostkeyagent hostkeyalgorithms kexalgorithms macs
    maxstartups modulifile permituserenvironment pidfile port pubkeyacceptedalgorithms pubkeyacceptedkeytypes
    rdomain revokedkeys securitykeyprovider streamlocalbindmask syslogfacility trustedusercakeys xauthlocation
""")
_LISTS = _names("""
    acceptenv allowgroups allowusers authenticationmethods authorizedkeyscommand authorizedkeysfile
    authorizedprincipalscommand denygroups denyusers forcecommand include ipqos listenaddress logverbose match
    permitlisten permitopen persourcemaxstartups persourcenetblocksize pubkeyauthoptions rekeylimit setenv subsystem
    versionaddendum
""")
_RETIRED = _names("""
    dsaauthentication keyregenerationinterval protocol rhostsauthentication rhostsrsaauthentication rsaauthentication
    serverkeybits uselogin useprivilegeseparation
""")
"""sshd warns of these and goes on."""
_IN_MATCH = _names("""
    acceptenv allowagentforwarding allowgroups allowstreamlocalforwarding allowtcpforwarding allowusers
    authenticationmethods authorizedkeyscommand authorizedkeyscommanduser authorizedkeysfile
    authorizedprincipalscommand authorizedprincipalscommanduser authorizedprincipalsfile banner
    casignaturealgorithms challengeresponseauthentication chrootdirectory clientalivecountmax clientaliveinterval
    denygroups denyusers disableforwarding exposeauthinfo forcecommand gatewayports gssapiauthentication
    gssapienablek5users hostbasedacceptedalgorithms hostbasedacceptedkeytypes hostbasedauthentication
    hostbasedusesnamefrompacketonly ignorerhosts include ipqos kbdinteractiveauthentication kerberosauthentication
    kerberosusekuserok loglevel logverbose maxauthtries maxsessions passwordauthentication permitemptypasswords
    permitlisten permitopen permitrootlogin permittty permittunnel permituserrc pubkeyacceptedalgorithms
    pubkeyacceptedkeytypes pubkeyauthentication pubkeyauthoptions rdomain rekeylimit revokedkeys setenv
    streamlocalbindmask streamlocalbindunlink trustedusercakeys x11displayoffset x11forwarding x11uselocalhost
""")
_TIME = re.compile(r"(?=[0-9])(?:[0-9]{1,9}[sSmMhHdDwW])*(?:[0-9]{1,9})?")
_SPAN = re.compile(r"([0-9]{1,9})([smhdw]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def seconds(value: str) -> int | None:
    """A time as sshd reads it: 600, 10m, 1h30m."""
    if not _TIME.fullmatch(value):
        return None
    return sum(int(count) * _SECONDS[unit] for count, unit in _SPAN.findall(fold(value)))


def complaint(keyword: str, arguments: tuple[str, ...], *, in_match: bool) -> str:
    """Why sshd would refuse the line; empty when it would not, as far as we know."""
    name = fold(keyword)
    if name in _RETIRED:
        return ""
    if name not in _CHOICES.keys() | _TIMES | _COUNTS | _SINGLES | _LISTS:
        return f"sshd does not know the keyword {keyword!a}"
    if in_match and name not in _IN_MATCH:
        return f"{keyword} is not allowed in a Match block"
    if name in _LISTS:
        return ""
    if len(arguments) > 1:
        return f"{keyword} takes one value, and more stand on the line"
    return _bad_value(keyword, name, arguments[0])


def _bad_value(keyword: str, name: str, value: str) -> str:
    if name in _CHOICES and fold(value) not in _CHOICES[name]:
        return f"{keyword} must be one of {', '.join(_CHOICES[name])}"
    if name in _TIMES and seconds(value) is None:
        return f"{keyword} must be a time such as 600 or 10m"
    if name in _COUNTS and number(value) is None:
        return f"{keyword} must be a whole number"
    return ""

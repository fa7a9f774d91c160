"""Patterns of secrets on command lines, in pipes, and in statements of databases and devices."""

import re

_I = re.IGNORECASE
_VALUE = r"(?:\"[^\"\n]{0,256}(?:\"|$)|'[^'\n]{0,256}(?:'|$)|[^\s'\"`|;)]{1,512})"
_AHEAD = r"(?:[ \t]{1,9}[^\n|;]{0,120}?)?[ \t]{1,9}"
"""What stands between a program and its option."""

_OPTIONS: tuple[tuple[str, str], ...] = (
    (r"(?:mysql|mariadb)\w{0,10}", r"-p(?=[^\s-])"),
    (r"openssl", r"-(?:k|K)[ \t]{1,9}"),
    (r"ldap(?:search|add|modify|modrdn|delete|compare|exop|whoami|passwd)", r"-(?:w|s|a)[ \t]{0,9}(?![ \t])"),
    (r"redis-cli", r"(?:-a|--pass)[ \t]{1,9}"),
    (r"(?:useradd|usermod)", r"-p[ \t]{1,9}"),
    (r"snmp[a-z]{3,12}", r"-(?:c|A|X)[ \t]{1,9}"),
    (r"(?:ipmitool|sqlcmd|bcp)", r"-P[ \t]{1,9}"),
    (r"zip", r"-P[ \t]{1,9}"),
    (r"(?:7za?|unrar|rar)", r"-p(?=[^\s-])"),
    (r"ssh-keygen", r"-(?:N|P)[ \t]{1,9}"),
    (r"keytool", r"-(?:storepass|keypass)[ \t]{1,9}"),
    (r"k(?:admin|admin\.local)", r"-(?:w|pw)[ \t]{1,9}"),
    (r"(?:docker|podman|skopeo|buildah)[ \t]{1,9}login", r"-p[ \t]{0,9}"),
    (r"kubectl", r"--from-literal=[\w.-]{1,64}="),
    (r"(?:nsupdate|dig)", r"-y[ \t]{1,9}(?:[\w-]{1,32}:)?[^\s:]{1,128}:"),
    (r"(?:smbclient|rpcclient|smbget|net)", r"-U[ \t]{0,9}[^\s%]{1,64}%"),
    (r"curl", r"--(?:proxy-)?user(?:[ \t]{1,9}|=)[\"']?[^\s:'\"]{1,64}:"),
    (r"xfreerdp", r"/p:"),
    (r"nmcli", r"password[ \t]{1,9}"),
    (r"mysqladmin", r"password[ \t]{1,9}"),
    (r"sudo|passwd|chpasswd|cryptsetup|kinit|su", r"<<<[ \t]{0,9}"),
)
"""A program, and the option or word in front of its secret."""
_PLACES: tuple[str, ...] = (
    r"\bhtpasswd[ \t]{1,9}-[a-zA-Z]{0,6}n[a-zA-Z]{0,6}b[a-zA-Z]{0,6}[ \t]{1,9}\S{1,64}[ \t]{1,9}",
    r"\bhtpasswd[ \t]{1,9}-(?![a-zA-Z]{0,6}n)[a-zA-Z]{0,6}b[a-zA-Z]{0,6}(?:[ \t]{1,9}\S{1,255}){2}[ \t]{1,9}",
    r"\bwpa_passphrase[ \t]{1,9}\S{1,64}[ \t]{1,9}",
    r"\bvault[ \t]{1,9}login[ \t]{1,9}(?!-)",
    r"\bnet[ \t]{1,9}user[ \t]{1,9}\S{1,64}[ \t]{1,9}(?!/)",
    r"\b(?:requirepass|masterauth|auth_pass|chap_secret)[ \t]{1,9}",
    r"\b(?:enable|username[ \t]{1,9}\S{1,64})[ \t]{1,9}secret[ \t]{1,9}(?:[0-9][ \t]{1,9})?",
    r"\b(?:radius|tacacs)-server[ \t]{1,9}key[ \t]{1,9}(?:[0-9][ \t]{1,9})?",
    r"\bneighbor[ \t]{1,9}\S{1,64}[ \t]{1,9}password[ \t]{1,9}(?:[0-9][ \t]{1,9})?",
)
_PIPED = re.compile(
    r"\b((?:echo|printf)[ \t]{1,9}(?:-[neE]{1,3}[ \t]{1,9})?(?:['\"]?%s(?:\\{1,2}n)?['\"]?[ \t]{1,9})?)[^\n|]{1,256}?"
    r"(?=[ \t]{0,9}\|[ \t]{0,9}[^\n|]{0,80}?\b(?:sudo[ \t][^\n|]{0,60}?(?:-[a-zA-Z]{0,6}S|--stdin)|chpasswd|passwd"
    r"|smbpasswd|cryptsetup|kinit|gpg|docker|podman|openssl|realm|adcli)\b)"
)
_SQL = re.compile(r"\b((?:IDENTIFIED(?:[ \t]WITH[ \t]\S{1,64})?[ \t](?:BY|AS)|PASSWORD)[ \t]{1,9})'[^'\n]{1,256}'?", _I)
_SCRAM = re.compile(r"SCRAM-SHA-(?:1|256)\$[0-9]{1,8}:\S+")
_SENT = re.compile(r"(\bsend[ \t]{1,9}(?:--[ \t]{1,9})?)\"[^\"\n]{1,256}\\r\"")

COMMANDS: tuple[re.Pattern[str], ...] = (
    *(re.compile(rf"(\b(?:{program}){_AHEAD}{option}){_VALUE}", re.MULTILINE) for program, option in _OPTIONS),
    *(re.compile(rf"({place}){_VALUE}", re.MULTILINE) for place in _PLACES),
    _PIPED,
    _SQL,
    _SENT,
)
"""Patterns of a prefix, which stays, and the secret."""
SCRAM = _SCRAM

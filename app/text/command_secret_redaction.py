"""Patterns of secrets on command lines, in pipes, and in statements of databases and devices."""

import re

from app.text.secret_patterns import GONE

_I = re.IGNORECASE
_VALUE = r"(?:\$?\"(?:[^\"\\\n]|\\.){0,256}(?:\"|$)|\$?'[^'\n]{0,256}(?:'|$)|[^\s'\"`|;)]{1,512})"
_AHEAD = r"(?:[ \t]{1,9}[^\n|;]{0,120}?)?[ \t]{1,9}"
"""What stands between a program and its option."""
_S = r"[ \t]{1,9}"
_STDIN = (
    r"chpasswd|passwd|smbpasswd|vncpasswd|ldappasswd|htpasswd|saslpasswd2|mosquitto_passwd|slappasswd|mkpasswd"
    r"|grub-mkpasswd-pbkdf2|cryptsetup|kinit|kadmin|gpg2?|openssl|docker|podman|skopeo|buildah|realm|adcli|pdbedit"
    r"|ipa-[a-z-]{3,20}|secret-tool|net[ \t]+ads"
)
"""Programs that read a secret from a pipe."""

_OPTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:mysql|mariadb)\w{0,10}", (r"-p(?=[^\s-])",)),
    (r"openssl", (rf"-(?:k|K){_S}",)),
    (
        r"ldap(?:search|add|modify|modrdn|delete|compare|exop|whoami|passwd)",
        (r"-w[ \t]{0,9}(?![ \t])", r"-s[ \t]{0,9}(?![ \t])", r"-a[ \t]{0,9}(?![ \t])"),
    ),
    (r"redis-cli", (rf"(?:-a|--pass){_S}",)),
    (r"(?:useradd|usermod|groupadd|groupmod)", (rf"-p{_S}",)),
    (r"snmp[a-z]{3,12}", (rf"-c{_S}", rf"-A{_S}", rf"-X{_S}")),
    (r"(?:ipmitool|sqlcmd|bcp|certutil|mosquitto_(?:pub|sub|rr|ctrl))", (rf"-P{_S}",)),
    (r"zip", (rf"-P{_S}",)),
    (r"(?:7za?|unrar|rar)", (r"-p(?=[^\s-])",)),
    (r"ssh-keygen", (rf"-N{_S}", rf"-P{_S}")),
    (r"(?:keytool|jarsigner)", tuple(rf"-(?:src|dest)?{name}pass{_S}" for name in ("store", "key"))),
    (r"k(?:admin|admin\.local)", (rf"-(?:w|pw){_S}",)),
    (
        r"(?:docker|podman|skopeo|buildah|helm[ \t]{1,9}registry|oc|cf|az|az[ \t]{1,9}acr)[ \t]{1,9}login",
        (r"-p[ \t]{0,9}",),
    ),
    (r"twine[ \t]{1,9}upload", (r"-p[ \t]{0,9}(?![ \t])",)),
    (r"ipa-(?:client|server|replica|kra|ca|dns)-(?:install|manage|prepare)", (rf"-w{_S}", rf"-p{_S}", rf"-a{_S}")),
    (r"(?:dsconf|dsidm|pk12util)", (rf"-w{_S}", rf"-W{_S}", rf"-K{_S}")),
    (r"(?:slappasswd|ldapmodify)", (rf"-s{_S}",)),
    (r"mongo(?:sh|dump|restore|import|export)?", (r"-p[ \t]{0,9}(?![ \t-])",)),
    (r"(?:cqlsh|rdesktop)", (rf"-p{_S}",)),
    (r"kubectl", (r"--from-literal=[\w.-]{1,64}=",)),
    (r"(?:nsupdate|dig)", (rf"-y{_S}(?:[\w-]{{1,32}}:)?[^\s:]{{1,128}}:",)),
    (r"(?:smbclient|rpcclient|smbget|net|winexe)", (r"-U[ \t]{0,9}[^\s%]{1,64}%",)),
    (r"curl", (r"--(?:proxy-)?user(?:[ \t]{1,9}|=)[\"']?[^\s:'\"]{1,64}:",)),
    (r"lftp", (r"(?:-u|user)[ \t]{1,9}[^\s,]{1,64},",)),
    (r"xfreerdp", (r"/p:",)),
    (r"nmcli", (rf"password{_S}",)),
    (r"mysqladmin", (rf"password{_S}",)),
    (r"rabbitmqctl", (rf"(?:add_user|change_password|authenticate_user){_S}\S{{1,128}}{_S}",)),
    (r"(?:ejabberdctl|prosodyctl)", (rf"(?:register|change_password){_S}\S{{1,64}}{_S}\S{{1,128}}{_S}",)),
    (r"samba-tool", (rf"user{_S}(?:create|add){_S}[^\s-]\S{{0,63}}{_S}(?!-)",)),
    (r"virsh", (rf"set-user-password{_S}(?:--?\S{{1,32}}{_S})?\S{{1,64}}{_S}\S{{1,64}}{_S}(?!-)",)),
    (r"aws", (rf"configure{_S}set{_S}[\w.]{{0,64}}(?:secret_access_key|session_token){_S}",)),
    (rf"(?:sudo|su|{_STDIN})", (r"<<<[ \t]{0,9}",)),
)
"""A program, and the options or words in front of its secrets."""
_CRYPTS = rf"(?:{_S}-(?:salt|rand|in|m|S|R|P){_S}\S{{1,64}}|{_S}-[\w=-]{{1,32}})"
"""An option of `openssl passwd` or mkpasswd."""
_PLACES: tuple[str, ...] = (
    r"\bhtpasswd[ \t]{1,9}-[a-zA-Z]{0,6}n[a-zA-Z]{0,6}b[a-zA-Z]{0,6}[ \t]{1,9}\S{1,64}[ \t]{1,9}",
    r"\bhtpasswd[ \t]{1,9}-(?![a-zA-Z]{0,6}n)[a-zA-Z]{0,6}b[a-zA-Z]{0,6}(?:[ \t]{1,9}\S{1,255}){2}[ \t]{1,9}",
    r"\bmosquitto_passwd[ \t]{1,9}(?:-[cHU][ \t]{1,9}){0,3}-b(?:[ \t]{1,9}\S{1,255}){2}[ \t]{1,9}",
    rf"\b(?:openssl{_S}passwd|mkpasswd){_CRYPTS}{{1,5}}{_S}(?![-<>&])",
    rf"\b(?:openssl{_S}passwd|mkpasswd){_S}(?![-<>&])(?=\S{{1,512}}[ \t]{{0,9}}(?:['\"`|;]|$))",
    rf"\bnet{_S}use{_S}(?:[A-Za-z*]:?{_S})?\\{{2,4}}\S{{1,255}}{_S}(?:/user:\S{{1,128}}{_S})?(?![/*])",
    (
        r"\b(?:wifi-sec|(?:802-11-)?wireless-security|802-1x|gsm|cdma|pppoe|adsl|vpn|wireguard|macsec)\."
        r"(?:psk|wep-key[0-3]|pin|mka-cak|private-key|[a-z0-9-]{0,24}password)[ \t]{1,9}"
    ),
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
    rf"(?=[ \t]{{0,9}}\|[ \t]{{0,9}}[^\n|]{{0,80}}?\b(?:sudo[ \t][^\n|]{{0,60}}?(?:-[a-zA-Z]{{0,6}}S|--stdin)|{_STDIN}"
    r"|[a-z][^\n|]{0,80}?--(?:password|passphrase)-(?:stdin|fd))\b)"
)
_SQL = re.compile(r"\b((?:IDENTIFIED(?:[ \t]WITH[ \t]\S{1,64})?[ \t](?:BY|AS)|PASSWORD)[ \t]{1,9})'[^'\n]{1,256}'?", _I)
_SENT = re.compile(r"(\bsend[ \t]{1,9}(?:--[ \t]{1,9})?)\"[^\"\n]{1,256}\\r\"")

_FORMS: tuple[re.Pattern[str], ...] = (
    *(re.compile(rf"(\b(?:{program}){_AHEAD}{option}){_VALUE}") for program, options in _OPTIONS for option in options),
    *(re.compile(rf"({place}){_VALUE}") for place in _PLACES),
    _PIPED,
    _SQL,
    _SENT,
)
"""Patterns of a prefix, which stays, and the secret."""
_NAMES = re.compile(
    r"\b(?:"
    + "|".join(program for program, _ in _OPTIONS)
    + r"|htpasswd|mkpasswd|wpa_|vault|requirepass|masterauth|auth_pass|chap_secret|enable|username|radius|tacacs"
    r"|neighbor|wifi-sec|802-|wireless-|gsm\.|cdma\.|pppoe\.|adsl\.|vpn\.|wireguard\.|macsec\.|echo|printf|send"
    r"|identified|password)",
    _I,
)
"""A line without one of these matches no form; most lines have none, and each form costs a search."""


def redact_commands(text: str) -> str:
    if not _NAMES.search(text):
        return text
    return "\n".join(_redact_line(line) if _NAMES.search(line) else line for line in text.split("\n"))


def _redact_line(line: str) -> str:
    for form in _FORMS:
        line = form.sub(rf"\1{GONE}", line)
    return line

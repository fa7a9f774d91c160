"""Files of sshd as people, packages and attackers write them: every keyword in every spelling, Match and Include."""

from collections.abc import Callable
from random import Random

from app.syntax.sshd_match import ConnectionSpec


def _words(text: str) -> list[str]:
    return text.split()


CIPHERS = [
    "aes256-gcm@openssh.com",
    "aes128-ctr",
    "aes256-ctr",
    "3des-cbc",
    "aes256-cbc",
    "chacha20-poly1305@openssh.com",
]
MACS = ["hmac-sha2-256", "hmac-sha2-512-etm@openssh.com", "hmac-md5", "hmac-sha1", "umac-64@openssh.com", "hmac-md5-96"]
KEX = ["curve25519-sha256", "ecdh-sha2-nistp256", "diffie-hellman-group1-sha1", "diffie-hellman-group14-sha256"]
KEYS = ["ssh-ed25519", "rsa-sha2-512", "ssh-rsa", "ecdsa-sha2-nistp256", "ssh-dss", "ssh-ed25519-cert-v01@openssh.com"]
GLOBS = ["*", "aes*", "*-cbc", "*sha1*", "ssh-*", "?hacha*", "!aes128*", "*md5*", "umac-64*", "ecdsa-*,ssh-r*"]
USERS = ["root", "daemon", "bob", "alice", "kiosk", "svc-backup", "Bob"]
GROUPS = ["root", "daemon", "wheel", "nogroup"]
HOSTS = ["relay.example", "bastion.example", "UNKNOWN", "ws1.corp.example"]
ADDRESSES = ["192.168.1.5", "192.168.2.1", "10.0.0.1", "203.0.113.9", "2001:db8::1", "127.0.0.1"]
NETWORKS = [
    "192.168.0.0/16",
    "192.168.1.0/24",
    "10.0.0.0/8",
    "!192.168.1.5",
    "2001:db8::/32",
    "127.0.0.1",
    "192.168.*",
    "*",
]
PATHS = ["/etc/issue", "/etc/issue.net", "none", "/etc/ssh/x", "None", "/srv/a b"]
COUNTS = ["1", "2", "3", "6", "10", "100", "007", "0"]
TIMES = ["0", "30", "120", "2m", "1h30m", "600s", "1d", "1w", "90S", "1h10"]
SWITCHES = _words("""
    allowagentforwarding challengeresponseauthentication dsaauthentication disableforwarding exposeauthinfo
    gssapiauthentication gssapicleanupcredentials gssapikeyexchange gssapistorecredentialsonrekey
    gssapistrictacceptorcheck hostbasedauthentication hostbasedusesnamefrompacketonly ignoreuserknownhosts
    kbdinteractiveauthentication keepalive kerberosauthentication kerberosorlocalpasswd kerberosticketcleanup
    passwordauthentication permitemptypasswords permittty permituserrc printlastlog printmotd pubkeyauthentication
    skeyauthentication streamlocalbindunlink strictmodes tcpkeepalive usedns usepam x11forwarding x11uselocalhost
""")
VALUES: dict[str, list[str]] = {switch: ["yes", "no", "Yes", "NO"] for switch in SWITCHES} | {
    "acceptenv": ["LANG LC_*", "*", "FOO"],
    "addressfamily": ["any", "inet", "Inet6"],
    "allowgroups": ["wheel", "root wheel", "!bad *"],
    "allowstreamlocalforwarding": ["yes", "all", "local", "remote", "No"],
    "allowtcpforwarding": ["yes", "all", "local", "remote", "NO"],
    "allowusers": ["bob", "bob alice@10.0.0.1", "*", "!root *"],
    "authenticationmethods": ["any", "publickey", "publickey,password password", "publickey,keyboard-interactive:pam"],
    "authorizedkeyscommand": ["/usr/bin/keys %u", "none", "/usr/bin/keys # not a comment"],
    "authorizedkeyscommanduser": ["nobody", "none", "root"],
    "authorizedkeysfile": [".ssh/authorized_keys", "/etc/keys/%u .ssh/authorized_keys", "none", "'a b' c"],
    "authorizedprincipalscommand": ["/usr/bin/p", "none", "/bin/q -x"],
    "authorizedprincipalscommanduser": ["nobody", "root"],
    "authorizedprincipalsfile": ["none", "/etc/p"],
    "banner": PATHS,
    "channeltimeout": ["session:*=5m", "*=1h x11-connection=0"],
    "chrootdirectory": ["none", "/srv/%u", "NONE"],
    "clientalivecountmax": COUNTS,
    "clientaliveinterval": TIMES,
    "compression": ["yes", "no", "delayed", "Delayed"],
    "denygroups": ["kiosk", "a b"],
    "denyusers": ["kiosk", "*@203.0.113.9", "a* b?"],
    "fingerprinthash": ["sha256", "md5", "SHA512"],
    "forcecommand": ["/bin/x  -a", "none", "internal-sftp # c", '"/bin/a b" c'],
    "gatewayports": ["yes", "no", "ClientSpecified"],
    "gssapikexalgorithms": ["gss-group14-sha256-", "gss-gex-sha1-,gss-nistp256-sha256-"],
    "hostcertificate": ["/etc/ssh/c.pub"],
    "hostkeyagent": ["none", "/run/agent", "SSH_AUTH_SOCK"],
    "ignorerhosts": ["yes", "no", "shosts-only"],
    "ipqos": ["af21 cs1", "lowdelay", "none"],
    "loglevel": ["info", "VERBOSE", "quiet", "Debug", "debug1", "DEBUG3", "fatal", "error"],
    "logverbose": ["kex.c:*:1000", "a b"],
    "logingracetime": TIMES,
    "maxauthtries": COUNTS,
    "maxsessions": COUNTS,
    "maxstartups": ["10:30:60", "5", "1:100:2", "10:30:100x", "+3:5:9"],
    "modulifile": ["/etc/ssh/m"],
    "permitlisten": ["any", "none", "8080", "localhost:8080 9090", "*:*"],
    "permitopen": ["any", "none", "localhost:80", "host:22 [::1]:443", "*:*"],
    "permitrootlogin": [
        "yes",
        "no",
        "prohibit-password",
        "without-password",
        "forced-commands-only",
        "Prohibit-Password",
    ],
    "permittunnel": ["yes", "no", "point-to-point", "ethernet"],
    "permituserenvironment": ["yes", "no", "No", "LANG,LC_*"],
    "persourcemaxstartups": ["none", "3", "10"],
    "persourcenetblocksize": ["32:64", "24:128"],
    "pidfile": ["/run/x.pid", "none"],
    "port": ["22", "2222", "022"],
    "protocol": ["2", "1,2"],
    "pubkeyauthoptions": ["none", "touch-required", "verify-required touch-required", "none none"],
    "rekeylimit": ["default none", "1G 1h", "512M", "4G none", "1.5G", "16", "default 10m", "100k 1h30m", "0"],
    "requiredrsasize": ["1024", "2048", "3072", "4096"],
    "revokedkeys": ["none", "/etc/ssh/r"],
    "rsaauthentication": ["yes"],
    "securitykeyprovider": ["internal", "/usr/lib/x.so"],
    "setenv": ["A=b", "A=b C=d", "'A=b c'"],
    "streamlocalbindmask": ["0177", "177", "0", "0777x"],
    "subsystem": ["sftp internal-sftp", "sftp /usr/lib/sftp  -l INFO", "x y"],
    "syslogfacility": ["auth", "AUTHPRIV", "local7", "Daemon"],
    "trustedusercakeys": ["none", "/etc/ssh/ca"],
    "unusedconnectiontimeout": ["none", "5m"],
    "useprivilegeseparation": ["sandbox"],
    "versionaddendum": ["none", "Debian X", "x # y"],
    "x11displayoffset": COUNTS,
    "xauthlocation": ["/usr/bin/xauth", "none"],
}
LISTS = {
    "casignaturealgorithms": KEYS[:4],
    "ciphers": CIPHERS,
    "hostbasedacceptedkeytypes": KEYS,
    "hostbasedacceptedalgorithms": KEYS,
    "hostkeyalgorithms": KEYS,
    "kexalgorithms": KEX,
    "macs": MACS,
    "pubkeyacceptedalgorithms": KEYS,
    "pubkeyacceptedkeytypes": KEYS,
}
KEYWORDS = sorted([*VALUES, *LISTS])
RAW = ("forcecommand", "versionaddendum", "authorizedkeyscommand", "authorizedprincipalscommand")
GLOBAL = set(
    _words("""
    addressfamily ciphers compression dsaauthentication fingerprinthash gssapicleanupcredentials gssapikexalgorithms
    gssapikeyexchange gssapistorecredentialsonrekey gssapistrictacceptorcheck hostcertificate hostkeyagent
    hostkeyalgorithms ignoreuserknownhosts keepalive kerberosorlocalpasswd kerberosticketcleanup
    kexalgorithms logingracetime macs maxstartups modulifile permituserenvironment persourcemaxstartups
    persourcenetblocksize pidfile port printlastlog printmotd protocol securitykeyprovider strictmodes subsystem
    syslogfacility tcpkeepalive usedns usepam useprivilegeseparation versionaddendum xauthlocation
    """)
)


def connection(random: Random, groups_of: Callable[[str], frozenset[str]]) -> ConnectionSpec:
    user = random.choice(USERS)
    port = random.choice(["22", "2222"])
    here, there = random.choice(ADDRESSES), random.choice(ADDRESSES)
    return ConnectionSpec(user, groups_of(user), random.choice(HOSTS), there, here, port)


def written(random: Random, folder: str) -> dict[str, str]:
    """sshd_config and what it includes, by path."""
    at = f"{folder}/sshd_config.d"
    drops = {f"{at}/{name}.conf": _section(random, [], 0.3) for name in random.sample("abc", random.randrange(3))}
    names = random.sample("xy", random.randrange(3))
    inner = {f"{at}/{name}.inc": _section(random, [], 0.5, matched=True) for name in names}
    includes = [f"{at}/*.conf", f"{at}/x.inc", f"{at}/?.inc", f"{folder}/none/*"]
    main = _section(random, includes if drops or inner else [], 0.6)
    return {f"{folder}/sshd_config": main} | drops | inner


def _section(random: Random, includes: list[str], matching: float, *, matched: bool = False) -> str:
    lines = [_line(random, includes, matched=matched) for _ in range(random.randrange(7))]
    while random.random() < matching:
        lines.append(_match(random))
        everything = "all" in lines[-1].lower().split() and not matched
        inside = [name for name in includes if name.endswith(".inc")]
        lines += [_line(random, inside, matched=not everything) for _ in range(random.randrange(4))]
    return "\n".join([*lines, ""])


def _line(random: Random, includes: list[str], *, matched: bool) -> str:
    if random.random() < 0.08:
        return random.choice(["", "# comment", "   # PermitRootLogin yes", "\t", '"MaxAuthTries 3'])
    if includes and random.random() < 0.25:
        return f"{_cased(random, 'include')} {' '.join(random.sample(includes, random.choice([1, 1, 2])))}"
    keyword = random.choice([one for one in KEYWORDS if not matched or one not in GLOBAL])
    return _spelt(random, keyword, _list(random, keyword) if keyword in LISTS else random.choice(VALUES[keyword]))


def _list(random: Random, keyword: str) -> str:
    named = ",".join(random.sample(LISTS[keyword], random.randrange(1, 4)))
    of_keys = keyword not in ("ciphers", "macs", "kexalgorithms")
    kind = random.choice(["", "+", "^", "-", "-glob", "glob" if of_keys else ""])
    if kind.endswith("glob"):
        return f"{kind[:-4]}{random.choice(GLOBS)}"
    return f"{kind}{named}"


def _spelt(random: Random, keyword: str, value: str) -> str:
    between = random.choice([" ", " ", "  ", "\t", "=", " = ", " \t="])
    if keyword not in RAW and " " not in value and random.random() < 0.15:
        value = random.choice([f'"{value}"', f"'{value}'", f"{value[:1]}'{value[1:]}'"])
    end = random.choice(["", "", "", " ", "\t", "\r", " # why", "\f"])
    name = _cased(random, keyword)
    between = " " if name.startswith('"') else between  # Behind a quote an equals sign would be the value's own.
    return f"{random.choice(['', '', ' ', chr(9)])}{name}{between}{value}{end}"


def _cased(random: Random, keyword: str) -> str:
    return random.choice([keyword, keyword, keyword.upper(), keyword.title(), f'"{keyword}"'])


def _match(random: Random) -> str:
    if random.random() < 0.2:
        return random.choice(["Match all", "match ALL", "Match=all", "Match all # everybody"])
    chosen = random.sample(
        ["user", "group", "host", "address", "localaddress", "localport"], random.choice([1, 1, 2, 3])
    )
    asked = [
        f"{random.choice([one, one.title()])}{random.choice([' ', '=', '  '])}{_criterion(random, one)}"
        for one in chosen
    ]
    return f"{_cased(random, 'match')} {' '.join(asked)}{random.choice(['', '', ' # who', ' '])}"


def _criterion(random: Random, attribute: str) -> str:
    pools = {
        "user": [*USERS, "*", "!root", "b*", "?lice", "!kiosk", "svc-*"],
        "group": [*GROUPS, "*", "!wheel", "d*", "!root"],
        "host": [*HOSTS, "*.example", "!bastion*", "*.CORP.example", "*"],
        "address": NETWORKS,
        "localaddress": NETWORKS,
    }
    if attribute == "localport":
        return random.choice(["22", "2222", "022"])
    value = ",".join(random.sample(pools[attribute], random.choice([1, 1, 2, 3])))
    return f'"{value}"' if random.random() < 0.1 else value

"""The defaults of sshd: OpenSSH 8.7 of RHEL 9 and 9.2 of Debian 12."""

from app.syntax.host_text import split_names

_YES = split_names("""
    allowagentforwarding allowstreamlocalforwarding allowtcpforwarding compression gssapicleanupcredentials
    gssapistrictacceptorcheck ignorerhosts kbdinteractiveauthentication kerberosorlocalpasswd kerberosticketcleanup
    passwordauthentication permittty permituserrc printlastlog printmotd pubkeyauthentication strictmodes tcpkeepalive
    x11uselocalhost
""")
_NO = split_names("""
    disableforwarding exposeauthinfo gatewayports gssapiauthentication gssapikeyexchange gssapistorecredentialsonrekey
    hostbasedauthentication hostbasedusesnamefrompacketonly ignoreuserknownhosts kerberosauthentication
    permitemptypasswords permittunnel permituserenvironment streamlocalbindunlink usedns usepam x11forwarding
""")
_NONE = split_names("""
    authorizedkeyscommand authorizedkeyscommanduser authorizedprincipalscommand authorizedprincipalscommanduser
    authorizedprincipalsfile banner chrootdirectory forcecommand hostkeyagent persourcemaxstartups pubkeyauthoptions
    revokedkeys trustedusercakeys versionaddendum
""")
_ANY = ("addressfamily", "authenticationmethods", "permitlisten", "permitopen")
COMMON: dict[str, str] = {
    **dict.fromkeys(_YES, "yes"),
    **dict.fromkeys(_NO, "no"),
    **dict.fromkeys(_NONE, "none"),
    **dict.fromkeys(_ANY, "any"),
    "authorizedkeysfile": ".ssh/authorized_keys .ssh/authorized_keys2",
    "clientalivecountmax": "3",
    "clientaliveinterval": "0",
    "fingerprinthash": "SHA256",
    "logingracetime": "120",
    "loglevel": "INFO",
    "maxauthtries": "6",
    "maxsessions": "10",
    "modulifile": "/etc/ssh/moduli",
    "permitrootlogin": "without-password",
    "persourcenetblocksize": "32:128",
    "port": "22",
    "requiredrsasize": "1024",
    "securitykeyprovider": "internal",
    "streamlocalbindmask": "0177",
    "syslogfacility": "AUTH",
    "x11displayoffset": "10",
    "xauthlocation": "/usr/bin/xauth",
}
_GSSAPI_KEX = (
    "gss-group14-sha256-,gss-group16-sha512-,gss-nistp256-sha256-,gss-curve25519-sha256-,gss-group14-sha1-,"
    "gss-gex-sha1-"
)
OF_DEBIAN_12 = {
    "gssapikexalgorithms": _GSSAPI_KEX,
    "pidfile": "/run/sshd.pid",
    "unusedconnectiontimeout": "none",
}
OF_RHEL_9 = {
    "gssapienablek5users": "no",
    "gssapikexalgorithms": _GSSAPI_KEX,
    "kerberosuniqueccache": "no",
    "kerberosusekuserok": "yes",
    "pidfile": "/var/run/sshd.pid",
}

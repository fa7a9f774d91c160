import pytest

from app.syntax.sshd_builtin_tables import DEFAULTS, DEFAULTS_OF_DEBIAN_12, DEFAULTS_OF_RHEL_9
from app.targets.effects.sshd_option_strength import compare_keyword
from app.targets.effects.strictness_comparison import Strength

RISING = {
    "acceptenv": ["LANG LC_* FOO", "LANG LC_*"],
    "allowgroups": ["", "staff wheel", "wheel"],
    "allowtcpforwarding": ["yes", "local", "no"],
    "allowusers": ["", "bob alice", "bob"],
    "authenticationmethods": ["any", "publickey,password"],
    "authorizedkeysfile": [".ssh/a .ssh/b", ".ssh/a"],
    "banner": ["none", "/etc/issue"],
    "clientalivecountmax": ["0", "3", "1"],
    "clientaliveinterval": ["0", "900", "600"],
    "compression": ["yes", "no"],
    "denyusers": ["", "bob", "bob eve"],
    "disableforwarding": ["no", "yes"],
    "fingerprinthash": ["MD5", "SHA256"],
    "gatewayports": ["yes", "no"],
    "ignorerhosts": ["no", "shosts-only", "yes"],
    "logingracetime": ["0", "999", "120", "60"],
    "loglevel": ["SILENT", "INFO", "VERBOSE"],
    "macs": ["umac-64@openssh.com,hmac-sha2-512", "umac-128@openssh.com,hmac-sha2-512", "hmac-sha2-512"],
    "maxauthtries": ["10", "6", "3"],
    "maxsessions": ["10", "2"],
    "maxstartups": ["10:30:100", "10:60:60", "5:60:60"],
    "passwordauthentication": ["yes", "no"],
    "permitopen": ["any", "a:1 b:2", "a:1", "none"],
    "permitrootlogin": ["yes", "without-password", "forced-commands-only", "no"],
    "permittunnel": ["yes", "ethernet", "no"],
    "permituserenvironment": ["yes", "LANG", "no"],
    "persourcemaxstartups": ["none", "10", "3"],
    "persourcenetblocksize": ["32:128", "24:64"],
    "pubkeyauthoptions": ["none", "touch-required", "touch-required verify-required"],
    "rekeylimit": ["0 0", "4294967296 0", "1073741824 3600"],
    "requiredrsasize": ["1024", "2048", "4096"],
    "streamlocalbindmask": ["0", "0117", "0177"],
    "strictmodes": ["no", "yes"],
    "unusedconnectiontimeout": ["none", "600", "60"],
    "usepam": ["no", "yes"],
}


@pytest.mark.parametrize("keyword", RISING)
def test_each_is_stricter_than_the_one_before(keyword):
    values = RISING[keyword]
    for at, weak in enumerate(values):
        for strict in values[at + 1 :]:
            assert compare_keyword(keyword, weak, strict) is Strength.STRONGER
            assert compare_keyword(keyword, strict, weak) is Strength.WEAKER


@pytest.mark.parametrize(
    ("keyword", "one", "other"),
    [
        ("allowtcpforwarding", "local", "remote"),
        ("allowusers", "bob", "alice"),
        ("allowusers", "!bob *", "*"),
        ("authorizedkeysfile", ".ssh/a", "/tmp/a"),
        ("forcecommand", "none", "/bin/true"),
        ("gatewayports", "yes", "clientspecified"),
        ("loglevel", "VERBOSE", "DEBUG3"),
        ("maxstartups", "10:30:100", "5:30:200"),
        ("maxstartups", "10:30:100", "5"),
        ("permitopen", "a:1", "b:1"),
        ("permitrootlogin", "no", "perhaps"),
        ("permituserenvironment", "LANG", "PATH"),
        ("port", "22", "2222"),
        ("pubkeyauthentication", "yes", "no"),
        ("rekeylimit", "1024 0", "0 60"),
        ("streamlocalbindmask", "0170", "0007"),
        ("subsystem", "sftp internal-sftp", "sftp /tmp/x"),
        ("syslogfacility", "AUTH", "LOCAL7"),
        ("usedns", "no", "yes"),
    ],
)
def test_these_compare_with_nothing(keyword, one, other):
    assert compare_keyword(keyword, one, other) is Strength.INCOMPARABLE
    assert compare_keyword(keyword, other, one) is Strength.INCOMPARABLE


@pytest.mark.parametrize(
    ("keyword", "one", "other"),
    [
        ("banner", "/etc/issue", "/etc/motd"),
        ("ciphers", "aes256-ctr,aes128-ctr", "aes128-ctr,aes256-ctr"),
        ("printmotd", "yes", "no"),
        ("syslogfacility", "AUTH", "AUTHPRIV"),
        ("tcpkeepalive", "yes", "no"),
    ],
)
def test_these_are_the_same_to_an_attacker(keyword, one, other):
    assert compare_keyword(keyword, one, other) is Strength.EQUAL


@pytest.mark.parametrize("defaults", [DEFAULTS, DEFAULTS_OF_DEBIAN_12, DEFAULTS_OF_RHEL_9])
def test_every_default_is_equal_to_itself(defaults):
    assert {compare_keyword(keyword, value, value) for keyword, value in defaults.items()} == {Strength.EQUAL}

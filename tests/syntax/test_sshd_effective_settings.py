import pytest

from app.syntax.sshd import read_sshd_config
from app.syntax.sshd_effective_settings import DEBIAN_12, RHEL_9, compute_sshd_settings, detect_sshd_program
from app.syntax.sshd_match import ConnectionSpec
from tests.hostfiles import DictFiles

BOB = ConnectionSpec("bob", address="192.168.1.5")


def reading(main, built=DEBIAN_12):
    return compute_sshd_settings(read_sshd_config(DictFiles({"/etc/ssh/sshd_config": main})), built, BOB)


@pytest.mark.parametrize(
    ("main", "keyword", "expected"),
    [
        ("", "logingracetime", "120"),
        ("MaxAuthTries 3\nmaxauthtries 10\n", "maxauthtries", "3"),
        ("MaxAuthTries 3\nMatch User bob\nMaxAuthTries 10\n", "maxauthtries", "10"),
        ("MaxAuthTries 3\nMatch User eve\nMaxAuthTries 10\n", "maxauthtries", "3"),
        ("MaxAuthTries 3\nMatch all\nMaxAuthTries 10\n", "maxauthtries", "10"),
        ("Match all\nUsePAM yes\n", "usepam", "yes"),
        ("Match User bob\nUsePAM yes\n", "usepam", "no"),
        ("MaxStartups 5\nMaxStartups 10:60:90\n", "maxstartups", "10:60:90"),
        ("MaxStartups 10:60:90\nMaxStartups 5\n", "maxstartups", "5:60:5"),
        ("RekeyLimit 1G\nMatch User bob\nRekeyLimit default 1h\n", "rekeylimit", "0 3600"),
        ("RekeyLimit 1G\nRekeyLimit 2G 1h\n", "rekeylimit", "1073741824 3600"),
        ("AllowUsers bob\nAllowUsers eve\n", "allowusers", "bob eve"),
        ("AllowUsers bob\nMatch User bob\nAllowUsers eve\n", "allowusers", "eve"),
        ("AuthorizedKeysFile a b\nAuthorizedKeysFile c\n", "authorizedkeysfile", "a b"),
        ("ChallengeResponseAuthentication no\n", "kbdinteractiveauthentication", "no"),
        ("PermitRootLogin Prohibit-Password\n", "permitrootlogin", "without-password"),
        ("PermitUserEnvironment No\n", "permituserenvironment", "No"),
        ("AuthorizedPrincipalsCommand /a\nAuthorizedPrincipalsCommand /b\n", "authorizedprincipalscommand", "/b"),
        ("Ciphers -*\n", "ciphers", ",".join(DEBIAN_12.algorithms["ciphers"].offered)),
        ("Match User bob\nPubkeyAcceptedAlgorithms -*\n", "pubkeyacceptedalgorithms", ""),
        ("UnusedConnectionTimeout 5m\nUnusedConnectionTimeout none\n", "unusedconnectiontimeout", "none"),
        ("UnusedConnectionTimeout none\nUnusedConnectionTimeout 5m\n", "unusedconnectiontimeout", "none"),
        ("UnusedConnectionTimeout 1m\nMatch User bob\nUnusedConnectionTimeout 5m\n", "unusedconnectiontimeout", "300"),
        ("Frobnicate 1\n", "frobnicate", "1"),
        ('"MaxAuthTries 3\n', "maxauthtries", "6"),
    ],
)
def test_what_sshd_goes_by(main, keyword, expected):
    assert reading(main)[keyword] == expected


def test_the_release_says_which_sshd_it_is():
    assert detect_sshd_program(DictFiles({"/etc/os-release": "NAME=x\nID=debian\n"})) is DEBIAN_12
    assert detect_sshd_program(DictFiles({"/usr/lib/os-release": "ID=mint\nID_LIKE=ubuntu\n"})) is DEBIAN_12
    assert detect_sshd_program(DictFiles({"/etc/os-release": 'ID="rhel"\n'})) is RHEL_9
    assert detect_sshd_program(DictFiles({})) is RHEL_9


def test_rhel_still_takes_signatures_with_sha1():
    assert "ssh-rsa" in reading("", RHEL_9)["pubkeyacceptedalgorithms"].split(",")
    assert "ssh-rsa" not in reading("")["pubkeyacceptedalgorithms"].split(",")

import shutil
from pathlib import Path

import pytest

from app.targets.confine import Confinement, detect
from app.targets.effects.asking import here
from app.targets.validate import complaints, told
from tests.targets.hosts import host, text_of

NONE = Confinement("none", "")
SSHD, SUDOERS, STACK = "/etc/ssh/sshd_config", "/etc/sudoers", "/etc/pam.d/system-auth"


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (SSHD, "PermitRootLogin maybe\n", "/etc/ssh/sshd_config line 1: PermitRootLogin must be one of"),
        (SUDOERS, "root ALL\n", "/etc/sudoers line 1"),
        (STACK, "auth sometimes pam_unix.so\n", "/etc/pam.d/system-auth line 1: PAM does not know the control"),
        ("/etc/audit/auditd.conf", "disk_full_action=HALT\n", "/etc/audit/auditd.conf line 1"),
    ],
)
def test_our_parsers_refuse_what_the_daemon_would(path, text, why):
    found = list(complaints([path], host(), host({path: text}), here(NONE)))
    assert len(found) == 1
    assert why in found[0]


def test_what_was_odd_before_is_not_held_against_the_change():
    odd = text_of(SSHD) + "Nonsense yes\n"
    before = host({SSHD: odd})
    assert list(complaints([SSHD], before, host({SSHD: f"Banner /etc/issue\n{odd}"}), here(NONE))) == []
    assert len(list(complaints([SSHD], before, host({SSHD: f"{odd}Other yes\n"}), here(NONE)))) == 1


def test_a_change_elsewhere_asks_nobody():
    assert list(complaints(["/etc/issue"], host(), host({SSHD: "PermitRootLogin maybe\n"}), here(NONE))) == []


@pytest.mark.skipif(not shutil.which("visudo", path="/usr/sbin") or detect().kind == "none", reason="needs both")
def test_the_real_visudo_has_the_last_word():
    """Our parser takes an option that no sudo knows; visudo does not."""
    wrong = text_of(SUDOERS) + "Defaults no_such_option_at_all = 1\n"
    assert list(complaints([SUDOERS], host(), host({SUDOERS: wrong}), here(NONE))) == []
    found = list(complaints([SUDOERS], host(), host({SUDOERS: wrong}), here(detect())))
    assert len(found) == 1
    assert found[0].startswith("visudo refuses it")
    assert list(complaints([SUDOERS], host(), host({SUDOERS: text_of(SUDOERS) + "# fine\n"}), here(detect()))) == []


@pytest.mark.skipif(not shutil.which("sshd", path="/usr/sbin") or detect().kind == "none", reason="needs both")
def test_the_real_sshd_has_the_last_word():
    users = text_of("/etc/passwd") + "sshd:x:74:74::/run/sshd:/sbin/nologin\n"
    before = {"/etc/passwd": users}
    wrong = text_of(SSHD).replace("Match", "Ciphers no-such-cipher\nMatch")
    after = host({**before, SSHD: wrong})
    assert list(complaints([SSHD], host(before), after, here(NONE))) == []
    found = list(complaints([SSHD], host(before), after, here(detect())))
    assert len(found) == 1
    assert found[0].startswith("sshd refuses it")
    fine = host({**before, SSHD: f"Banner /etc/issue\n{text_of(SSHD)}"})
    assert list(complaints([SSHD], host(before), fine, here(detect()))) == []


def test_the_page_says_whose_checks_there_are():
    assert told(Confinement("none", "typed file actions only")) == "typed file actions only"
    words = told(Confinement("bwrap", "walled"))
    assert words.startswith("walled; ")
    assert ("visudo" in words) == Path("/usr/sbin/visudo").exists()
    assert ("sshd" in words) == Path("/usr/sbin/sshd").exists()

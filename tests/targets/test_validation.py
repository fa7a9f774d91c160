import shutil
from pathlib import Path

import pytest

from app.targets.confinement import Confinement, detect_confinement
from app.targets.effects.local_programs import create_local_asker
from app.targets.validation import describe_confinement, find_complaints
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
    found = list(find_complaints([path], host(), host({path: text}), create_local_asker(NONE)))
    assert len(found) == 1
    assert why in found[0]


def test_what_was_odd_before_is_not_held_against_the_change():
    odd = text_of(SSHD) + "Nonsense yes\n"
    before = host({SSHD: odd})
    assert (
        list(find_complaints([SSHD], before, host({SSHD: f"Banner /etc/issue\n{odd}"}), create_local_asker(NONE))) == []
    )
    assert len(list(find_complaints([SSHD], before, host({SSHD: f"{odd}Other yes\n"}), create_local_asker(NONE)))) == 1


def test_a_change_elsewhere_asks_nobody():
    assert (
        list(find_complaints(["/etc/issue"], host(), host({SSHD: "PermitRootLogin maybe\n"}), create_local_asker(NONE)))
        == []
    )


@pytest.mark.skipif(
    not shutil.which("visudo", path="/usr/sbin") or detect_confinement().kind == "none", reason="needs both"
)
def test_the_real_visudo_has_the_last_word():
    """Our parser takes an option that no sudo knows; visudo does not."""
    wrong = text_of(SUDOERS) + "Defaults no_such_option_at_all = 1\n"
    assert list(find_complaints([SUDOERS], host(), host({SUDOERS: wrong}), create_local_asker(NONE))) == []
    found = list(find_complaints([SUDOERS], host(), host({SUDOERS: wrong}), create_local_asker(detect_confinement())))
    assert len(found) == 1
    assert found[0].startswith("visudo refuses it")
    assert (
        list(
            find_complaints(
                [SUDOERS],
                host(),
                host({SUDOERS: text_of(SUDOERS) + "# fine\n"}),
                create_local_asker(detect_confinement()),
            )
        )
        == []
    )


@pytest.mark.skipif(
    not shutil.which("sshd", path="/usr/sbin") or detect_confinement().kind == "none", reason="needs both"
)
def test_the_real_sshd_has_the_last_word():
    users = text_of("/etc/passwd") + "sshd:x:74:74::/run/sshd:/sbin/nologin\n"
    before = {"/etc/passwd": users}
    wrong = text_of(SSHD).replace("Match", "Ciphers no-such-cipher\nMatch")
    after = host({**before, SSHD: wrong})
    assert list(find_complaints([SSHD], host(before), after, create_local_asker(NONE))) == []
    found = list(find_complaints([SSHD], host(before), after, create_local_asker(detect_confinement())))
    assert len(found) == 1
    assert found[0].startswith("sshd refuses it")
    fine = host({**before, SSHD: f"Banner /etc/issue\n{text_of(SSHD)}"})
    assert list(find_complaints([SSHD], host(before), fine, create_local_asker(detect_confinement()))) == []


def test_the_page_says_whose_checks_there_are():
    assert describe_confinement(Confinement("none", "typed file actions only")) == "typed file actions only"
    words = describe_confinement(Confinement("bwrap", "walled"))
    assert words.startswith("walled; ")
    assert ("visudo" in words) == Path("/usr/sbin/visudo").exists()
    assert ("sshd" in words) == Path("/usr/sbin/sshd").exists()

import shutil
from pathlib import Path

import pytest

from app.targets.config_validation import describe_confinement, find_complaints
from app.targets.effects.local_programs_on_copied_host_files import create_local_asker
from app.targets.program_sandbox import Confinement, ProgramOutcome, detect_confinement
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


RSYSLOG = 'module(load="imuxsock")\nauth.* /var/log/auth.log\n$IncludeConfig /etc/rsyslog.d/*.conf\n'
LOGROTATE = "weekly\ninclude /etc/logrotate.d\n"
NFTABLES = "flush ruleset\ntable inet filter {\n\tchain input {\n\t\ttype filter hook input priority 0;\n\t}\n}\n"
UNIT = "[Service]\nExecStart=/opt/mission/server\n"
BESIDE = {
    "/etc/rsyslog.conf": RSYSLOG,
    "/etc/logrotate.conf": LOGROTATE,
    "/etc/logrotate.d/odd": "odd before\n",
    "/etc/nftables.conf": NFTABLES,
    "/etc/systemd/system/mission.service": f"{UNIT}Odd=before\n",
    "/etc/dnf/dnf.conf": "[main]\ngpgcheck=1\n",
}
"""Files that a vendor's script may change. Two have a fault that is no change's."""
MODULE = "/etc/crypto-policies/policies/modules/SITE.pmod"
DROP_IN = "/etc/systemd/system/mission.service.d/x.conf"


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        ("/etc/rsyslog.conf", f"{RSYSLOG}garbage\n", "rsyslogd refuses it: error during parsing"),
        ("/etc/rsyslog.d/x.conf", "$NoSuch on\n", "rsyslogd refuses it: invalid or yet-unknown"),
        ("/etc/logrotate.conf", f"garbage here\n{LOGROTATE}", "logrotate refuses it: /etc/logrotate.conf:1 unknown"),
        ("/etc/logrotate.d/x", "/var/log/x {\nrotate many\n}\n", "logrotate refuses it: x:2 bad rotation count 'many'"),
        ("/etc/nftables.conf", f"{NFTABLES}garbage here\n", "nft refuses it: /etc/nftables.conf:7:"),
        ("/etc/nftables.conf", f'{NFTABLES}include "/none"\n', "nft refuses it: /etc/nftables.conf:7:"),
        ("/etc/systemd/system/mission.service", f"garbage\n{UNIT}", "systemd-analyze refuses it: /etc/systemd"),
        (DROP_IN, "[Service\n", f"systemd-analyze refuses it: {DROP_IN}:1: Invalid section header"),
        (DROP_IN, "[Service]\nExecStart=/bin/x\n", "systemd-analyze refuses it: mission.service: Service has more"),
        ("/etc/systemd/system/x.timer", "[Timer]\nOnCalendar=now!\n", "systemd-analyze refuses it: /etc/systemd"),
        ("/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\ngarbage\n", "/etc/dnf/dnf.conf line 3: dnf cannot read 'garbage'"),
        (MODULE, "cipher = AES-256-GCM\ngarbage\n", f"{MODULE} line 2: a crypto policy has no line 'garbage'"),
        ("/etc/yum.repos.d/x.repo", "name=x\n", "/etc/yum.repos.d/x.repo line 1: dnf cannot read 'name=x'"),
    ],
)  # fmt: skip
def test_garbage_is_refused_by_the_program_that_would_read_it(path, text, why):
    ask = create_local_asker(detect_confinement())
    found = list(find_complaints([path], host(BESIDE), host({**BESIDE, path: text}), ask))
    assert len(found) == 1
    assert found[0].startswith(why)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/etc/rsyslog.conf", f"{RSYSLOG}$FileCreateMode 0640\n"),
        ("/etc/rsyslog.d/x.conf", "*.* /var/log/all.log\n"),
        ("/etc/logrotate.conf", f"compress\n{LOGROTATE}"),
        ("/etc/logrotate.d/odd", "odd before\n/var/log/x {\nrotate 4\nmissingok\n}\n"),
        ("/etc/logrotate.d/x", "/var/log/x {\nrotate 4\n}\n"),
        ("/etc/nftables.conf", f"{NFTABLES}add rule inet filter input ct state established accept\n"),
        ("/etc/systemd/system/mission.service", f"{UNIT}\nProtectSystem=strict\nOdd=before\n"),
        (DROP_IN, "[Service]\nNoNewPrivileges=yes\n"),
        ("/etc/systemd/system/x.service", "[Service]\nType=oneshot\nExecStart=/opt/x\n[Install]\nWantedBy=x.target\n"),
        ("/etc/systemd/system/default.target", ""),
        ("/etc/systemd/system/multi-user.target.wants/x.service", "[Unit]\n"),
        (
            MODULE,
            "# c\ncipher@SSH = -AES-128-* \\\n  -CHACHA20-POLY1305\nmac@{tls, ssl} = HMAC-SHA2-512 # d\nssh_etm=1\n\n",
        ),
        ("/etc/dnf/dnf.conf", "# a comment\n\n[main]\ngpgcheck=1\nexclude=a\n  b\n"),
    ],
)
def test_what_the_program_accepts_and_what_was_odd_before_pass(path, text):
    ask = create_local_asker(detect_confinement())
    assert list(find_complaints([path], host(BESIDE), host({**BESIDE, path: text}), ask)) == []


def test_a_program_that_dies_of_a_file_refuses_it():
    outcomes = [ProgramOutcome(139, "Segmentation fault"), ProgramOutcome(0, "")]
    paths, asked = ["/etc/rsyslog.conf"], lambda _files, _query: outcomes.pop(0)
    assert list(find_complaints(paths, host(), host(), asked)) == ["rsyslogd refuses it: Segmentation fault"]


@pytest.mark.parametrize("path", [SSHD, DROP_IN])
def test_a_program_that_does_not_answer_in_time_refuses_it(path):
    """Whether it does so already at the files as they were."""
    after = host({path: f"{UNIT}# changed\n"} if path == DROP_IN else {path: f"{text_of(SSHD)}# changed\n"})
    found = list(find_complaints([path], host(), after, lambda *_: ProgramOutcome(None, "it took longer than 60 s")))
    assert len(found) == 1
    assert "was stopped before it had read the change: it took longer than 60 s" in found[0]


@pytest.mark.parametrize(("path", "code"), [(SSHD, 255), ("/etc/rsyslog.conf", 139)])
def test_that_it_did_not_answer_before_excuses_no_failure(path, code):
    outcomes = [ProgramOutcome(code, "it fails"), ProgramOutcome(None, "it took longer than 60 s")]
    found = list(find_complaints([path], host(), host(), lambda *_: outcomes.pop(0)))
    assert len(found) == 1
    assert found[0].endswith("refuses it: it fails")


def test_the_page_says_whose_checks_there_are():
    assert describe_confinement(Confinement("none", "typed file actions only")) == "typed file actions only"
    words = describe_confinement(Confinement("bwrap", "walled"))
    assert words.startswith("walled; ")
    assert ("visudo" in words) == Path("/usr/sbin/visudo").exists()
    assert ("sshd" in words) == Path("/usr/sbin/sshd").exists()

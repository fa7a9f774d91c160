import re

import pytest

from app.errors import BadInput
from app.scanners.openscap.arf import WORDS, read_arf
from tests.scanners.openscap.content import ARF, SSG


@pytest.fixture(scope="module")
def report():
    return read_arf(ARF.read_bytes())


def outcome(report, rule):
    return report[SSG + rule]


@pytest.mark.parametrize(
    ("rule", "said", "word"),
    [
        ("sshd_disable_root_login", "fail", "fail"),
        ("package_telnet_removed", "pass", "pass"),
        ("accounts_password_pam_minlen", "fail", "fail"),  # its name has pass in it
        ("file_permissions_etc_passwd", "pass", "pass"),
        ("service_rsyslog_enabled", "error", "error"),
        ("audit_rules_login_events_lastlog", "notapplicable", "notapplicable"),
        ("security_patches_up_to_date", "notchecked", "unknown"),
    ],
)
def test_each_word_is_the_scanners_and_what_was_not_judged_is_unknown(report, rule, said, word):
    assert outcome(report, rule).word == word
    assert outcome(report, rule).evidence.startswith(f"OpenSCAP: {said}, ")


def test_evidence_names_the_file_and_what_it_says(report):
    sudo = outcome(report, "sudoers_no_root_target")
    assert sudo.path == "/etc/sudoers"
    assert "/etc/sudoers says 'Defaults secure_path=" in sudo.evidence
    mode = outcome(report, "file_permissions_sshd_config")
    assert mode.evidence.endswith("/etc/ssh/sshd_config has mode 0644, owner 0:0.")
    root = outcome(report, "sshd_disable_root_login")
    assert "openssh-server 1:9.2p1-2+deb12u10 is installed" in root.evidence
    assert "the value of PermitRootLogin is present: nothing was found." in root.evidence


def test_a_pattern_is_not_taken_for_a_path(report):
    assert outcome(report, "sysctl_kernel_dmesg_restrict").path is None


def test_all_nine_words_are_known_and_one_is_a_pass():
    assert len(WORDS) == 9
    assert [said for said, (word, _) in WORDS.items() if word == "pass"] == ["pass"]


def test_a_word_that_is_none_is_an_error():
    content = re.sub(rb"<result>fail</result>", b"<result>PASSED</result>", ARF.read_bytes())
    changed = read_arf(content)[f"{SSG}sshd_disable_root_login"]
    assert changed.word == "error"
    assert "'PASSED'" in changed.evidence


def test_host_text_is_cleaned_and_short():
    content = (
        ARF.read_bytes()
        .replace(b"Defaults\tsecure_path", b"x" * 5000)
        .replace(b"secure_path", b"\xe2\x80\xaey\xc2\x9b2J")
    )
    evidence = read_arf(content)[f"{SSG}sudoers_no_root_target"].evidence
    assert len(evidence) <= 900
    assert not set(evidence) & {"\u202e", "\x9b"}


def test_a_circle_of_definitions_comes_to_an_end():
    content = ARF.read_bytes().replace(
        b'definition_ref="oval:ssg-package_openssh-server_removed:def:1"',
        b'definition_ref="oval:ssg-sshd_disable_root_login:def:1"',
    )
    assert read_arf(content)[f"{SSG}sshd_disable_root_login"].word == "fail"


@pytest.mark.parametrize("content", [b"", b"pass", b"<a/>", ARF.read_bytes()[:4000]])
def test_what_is_no_report_is_refused(content):
    with pytest.raises(BadInput):
        read_arf(content)

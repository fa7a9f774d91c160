import pytest

from tests.skills.stig.checks.judged import judge

SYSTEM = "/etc/pam.d/system-auth"
PASSWORD = "/etc/pam.d/password-auth"
CLEAN = "auth sufficient pam_unix.so\nauth required pam_deny.so\n"
SUDOERS = "/etc/sudoers"
DROP = "/etc/sudoers.d/pass"
PLAIN = "root ALL=(ALL) ALL\n%wheel ALL=(ALL) ALL\n#includedir /etc/sudoers.d\n"


@pytest.mark.parametrize(
    "text", [CLEAN, "# nullok\n" + CLEAN, CLEAN.replace("\n", "\r\n"), CLEAN + "auth required pam_unix.so # nullok\n"]
)
def test_a_stack_without_nullok_passes(text):
    assert judge("V-258094", {SYSTEM: text, PASSWORD: CLEAN}).word == "pass"


@pytest.mark.parametrize(
    "line",
    [
        "auth sufficient pam_unix.so nullok\n",
        "auth\tsufficient\tpam_unix.so\ttry_first_pass\tnullok  \n",
        "auth sufficient pam_unix.so nullok\r\n",
        "auth sufficient pam_unix.so nullok_secure\n",
        "-auth [success=1 default=ignore] pam_unix.so nullok\n",
        "auth sufficient \\\n pam_unix.so \\\n nullok\n",
        "# comment \\\nauth sufficient pam_unix.so nullok\n",
        "password sufficient pam_unix.so sha512 nullok use_authtok\n",
    ],
)
@pytest.mark.parametrize("path", [SYSTEM, PASSWORD])
def test_nullok_anywhere_fails(line, path):
    verdict = judge("V-258094", {SYSTEM: CLEAN, PASSWORD: CLEAN} | {path: CLEAN + line})
    assert (verdict.rule, verdict.word, verdict.path) == ("V-258094", "fail", path)


def test_a_stack_that_pam_cannot_read_or_that_is_empty_does_not_pass():
    assert judge("V-258094", {SYSTEM: "auth sufficient\n", PASSWORD: CLEAN}).word == "error"
    assert judge("V-258094", {SYSTEM: "# pass\n", PASSWORD: CLEAN}).word == "fail"
    assert judge("V-258094", {SYSTEM: CLEAN}).word == "fail"
    assert (
        judge("V-258094", {SYSTEM: "auth sufficient\n", PASSWORD: "auth required pam_unix.so nullok\n"}).word == "fail"
    )


@pytest.mark.parametrize("rule", ["V-258106", "V-258086"])
@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN + "# bob ALL=(ALL) NOPASSWD: ALL\n# Defaults !authenticate\n",
        PLAIN + "bob ALL=(ALL) ALL # NOPASSWD: !authenticate\n",
        PLAIN + "Defaults authenticate, !lecture\n",
        PLAIN + "Defaults !!authenticate\n",
        PLAIN + "bob ALL=(ALL) PASSWD: ALL\n",
        PLAIN + 'Defaults passprompt="NOPASSWD: !authenticate"\n',
    ],
)
def test_sudo_with_passwords_passes(rule, text):
    verdict = judge(rule, {SUDOERS: text})
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    "line",
    [
        "temper ALL=(ALL) NOPASSWD: ALL\n",
        "bob\tALL=(ALL)\tNOPASSWD:ALL\r\n",
        "bob ALL=(ALL) \\\n  NOPASSWD: \\\n  ALL\n",
        "bob ALL=(ALL) SETENV: NOPASSWD : /bin/a\n",
        "bob ALL=/bin/a, (root) NOPASSWD: /bin/b\n",
        "bob web=/bin/a : db = NOPASSWD: /bin/b\n",
        "%wheel ALL=(ALL) NOPASSWD: ALL, PASSWD: /bin/a\n",
        "#1000 ALL=NOPASSWD: ALL\n",
        "# x \\\nbob ALL=NOPASSWD: ALL\n",
        '"b o b" ALL = (root : root) NOPASSWD: /bin/a "#"\n',
    ],
)
def test_nopasswd_anywhere_fails_for_anybody(line):
    for main, drop, path in ((line + PLAIN, "", SUDOERS), (PLAIN, line, DROP)):
        verdict = judge("V-258106", {SUDOERS: main, DROP: drop})
        assert (verdict.word, verdict.path) == ("fail", path), verdict.evidence
    assert judge("V-258086", {SUDOERS: PLAIN, DROP: line}).word == "pass"


@pytest.mark.parametrize(
    "line",
    [
        "Defaults !authenticate\n",
        "Defaults:bob\t!authenticate\r\n",
        "Defaults env_reset, ! authenticate\n",
        "Defaults@web, db !authenticate\n",
        "Defaults!/bin/a !authenticate\n",
        "Defaults>root \\\n !authenticate\n",
        "Defaults !!!authenticate\n",
    ],
)
def test_authentication_switched_off_anywhere_fails(line):
    verdict = judge("V-258086", {SUDOERS: PLAIN, DROP: line})
    assert (verdict.word, verdict.path, verdict.line) == ("fail", DROP, 1), verdict.evidence
    assert judge("V-258106", {SUDOERS: PLAIN, DROP: line}).word == "pass"


@pytest.mark.parametrize("rule", ["V-258106", "V-258086"])
def test_sudoers_that_cannot_be_read_do_not_pass(rule):
    assert judge(rule, {}).word == "fail"
    for text in (
        "bob ALL=(ALL) N\u041ePASSWD: ALL\n",
        "bob ALL=(ALL) NOPASSWD ALL\n",
        "@include /etc/none\n",
        "Defaults\n",
    ):
        verdict = judge(rule, {SUDOERS: PLAIN + text})
        assert verdict.word == "error", text
        assert "line" in verdict.evidence

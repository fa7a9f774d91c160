import pytest

from tests.skills.stig.checks.judged import judge

FAILLOCK = "/etc/security/faillock.conf"
PWQUALITY = "/etc/security/pwquality.conf"
DROP = "/etc/security/pwquality.conf.d/50-site.conf"
SYSTEM = "/etc/pam.d/system-auth"
PASSWORD = "/etc/pam.d/password-auth"
GOOD = {"V-258054": "deny = 3\n", "V-258055": "even_deny_root\n", "V-258057": "unlock_time = 0\n"}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258054", "deny = 3\n"),
        ("V-258054", "deny=1 # once\r\n"),
        ("V-258054", "\tdeny\t3\ndeny = 3"),
        ("V-258054", "deny = 9\ndeny = 3\n"),
        ("V-258055", "even_deny_root\n"),
        ("V-258055", " even_deny_root # yes\r\n"),
        ("V-258055", "even_deny_root = no\n"),
        ("V-258057", "unlock_time = 0\n"),
        ("V-258057", "unlock_time=900\nunlock_time=0\n"),
    ],
)
def test_a_lockout_that_meets_the_rule_passes(rule, text):
    verdict = judge(rule, {FAILLOCK: text})
    assert (verdict.rule, verdict.word, verdict.path) == (rule, "pass", FAILLOCK), verdict.evidence


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258054", "# deny = 3\n"),
        ("V-258054", "deny = 0\n"),
        ("V-258054", "deny = 4\n"),
        ("V-258054", "deny = 3\ndeny = 10\n"),
        ("V-258054", "deny = 3 10\n"),
        ("V-258054", "deny # 3\n"),
        ("V-258054", "Deny = 3\n"),
        ("V-258054", "deny\u00a0= 3\n"),
        ("V-258054", "deny = \u0663\n"),
        ("V-258054", "even_deny_root = 3\n"),
        ("V-258055", "#even_deny_root\n"),
        ("V-258055", "not even_deny_root\n"),
        ("V-258055", "even_deny_r\u043eot\n"),
        ("V-258055", "even_deny_root_too\n"),
        ("V-258057", "unlock_time = 900\n"),
        ("V-258057", "unlock_time = never\n"),
        ("V-258057", "unlock_time\n"),
        ("V-258057", "unlock_time = 0\nunlock_time = 1\n"),
        ("V-258057", "root_unlock_time = 0\n"),
    ],
)
def test_a_lockout_that_does_not_fails(rule, text):
    assert judge(rule, {FAILLOCK: text}).word == "fail"


@pytest.mark.parametrize(("rule", "argument"), [("V-258054", "deny=5"), ("V-258057", "unlock_time=60")])
@pytest.mark.parametrize("path", [SYSTEM, PASSWORD])
def test_an_argument_in_pam_overrides_the_file(rule, argument, path):
    other = judge(
        rule, {FAILLOCK: GOOD[rule], path: f"auth required pam_env.so {argument}\n# pam_faillock.so {argument}\n"}
    )
    verdict = judge(rule, {FAILLOCK: GOOD[rule], path: f"auth required pam_faillock.so preauth {argument}\n"})
    assert (other.word, verdict.word, verdict.path, verdict.line) == ("pass", "fail", path, 1)
    assert f"{path} line 1 overrides" in verdict.evidence


def test_root_stays_locked_whatever_pam_says_of_it():
    pam = "auth required pam_faillock.so authfail even_deny_root\n"
    assert judge("V-258055", {FAILLOCK: "even_deny_root\n", SYSTEM: pam}).word == "pass"
    assert judge("V-258055", {FAILLOCK: "", SYSTEM: pam}).word == "fail"


@pytest.mark.parametrize("rule", GOOD)
def test_an_absent_faillock_fails(rule):
    assert "absent" in judge(rule, {}).evidence


@pytest.mark.parametrize(
    "files",
    [
        {PWQUALITY: "minlen = 15\n"},
        {PWQUALITY: "MinLen=20 # long\r\n"},
        {PWQUALITY: "# minlen = 8\n\tminlen 15"},
        {DROP: "minlen = 15\n"},
        {PWQUALITY: "minlen = 15\n", DROP: "minlen = 16\n# minlen = 8\n"},
        {PWQUALITY: "minlen = 15\n", f"{DROP}.rpmsave": "minlen = 8\n"},
    ],
)
def test_long_passwords_pass(files):
    assert judge("V-258107", files).word == "pass"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {PWQUALITY: ""},
        {PWQUALITY: "# minlen = 15\n"},
        {PWQUALITY: "minlen = 14\n"},
        {PWQUALITY: "minlen = 15\nminlen = 8\n"},
        {PWQUALITY: "minlen = 8\nminlen = 15\n"},
        {PWQUALITY: "minlen = 15\n", DROP: "minlen = 12\n"},
        {PWQUALITY: "minlen = 12\n", DROP: "minlen = 15\n"},
        {PWQUALITY: "minlen = -15\n"},
        {PWQUALITY: "minlen =\n"},
        {PWQUALITY: "minlen = 1\u06655\n"},
        {PWQUALITY: "m\u0456nlen = 15\n"},
        {PWQUALITY: "minlength = 15\n"},
    ],
)
def test_short_passwords_fail(files):
    assert judge("V-258107", files).word == "fail"


def test_the_drop_in_that_asks_for_less_is_named_beside_the_right_line():
    verdict = judge("V-258107", {PWQUALITY: "\nminlen = 15\n", DROP: "# pass\nminlen = 8\n"})
    assert (verdict.path, verdict.line) == (DROP, 2)
    assert f"{PWQUALITY} line 2 is right" in verdict.evidence


def test_pam_may_not_ask_for_less_either():
    verdict = judge("V-258107", {PWQUALITY: "minlen = 15\n", SYSTEM: "password requisite pam_pwquality.so minlen=8\n"})
    assert (verdict.word, verdict.path) == ("fail", SYSTEM)

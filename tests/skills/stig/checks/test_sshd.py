import pytest

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles

MAIN = "/etc/ssh/sshd_config"
DROP = "/etc/ssh/sshd_config.d/10-site.conf"
INCLUDE = "Include /etc/ssh/sshd_config.d/*.conf\n"
RULES = {
    "V-257984": ("PermitEmptyPasswords", "no", "yes"),
    "V-257986": ("UsePAM", "yes", "no"),
    "V-257985": ("PermitRootLogin", "no", "prohibit-password"),
    "V-257983": ("PubkeyAuthentication", "yes", "no"),
    "V-257981": ("Banner", "/etc/issue", "none"),
    "V-257992": ("HostbasedAuthentication", "no", "yes"),
    "V-257993": ("PermitUserEnvironment", "no", "yes"),
    "V-257995": ("ClientAliveCountMax", "1", "3"),
    "V-257996": ("ClientAliveInterval", "600", "0"),
    "V-258003": ("GSSAPIAuthentication", "no", "yes"),
    "V-258007": ("X11Forwarding", "no", "yes"),
}
EACH = pytest.mark.parametrize("rule", RULES)
WHOLE_SERVER = {"V-257986", "V-257993"}


def judge(rule, main, drop=None, **more):
    files = {MAIN: main, "/etc/issue": "Authorised users only\n"} | ({} if drop is None else {DROP: drop}) | more
    return STIG.rules[rule].check(DictFiles(files))


@EACH
@pytest.mark.parametrize(
    "form",
    [
        "{key} {good}\n",
        "\t{key}\t\t{good}  \t\n",
        "{key}={good}\n",
        '{key} "{good}"\n',
        "{key} {good} # {bad}\n",
        "{key} {good}\r\n",
        "{key} {good}",
        "# {key} {bad}\n{key} {good}\n",
        "{key} {good}\n{key} {bad}\n",
        "Port 22\n\n{key} {good}\nMatch User bob\n\tPermitTTY no\n",
    ],
)
def test_a_host_that_meets_the_rule_passes(rule, form):
    key, good, bad = RULES[rule]
    verdict = judge(rule, form.format(key=key, good=good, bad=bad))
    assert (verdict.rule, verdict.word) == (rule, "pass"), verdict.evidence
    assert MAIN in verdict.evidence
    assert f"line {verdict.line}" in verdict.evidence


@EACH
@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_the_keyword_may_have_any_letters(rule, change):
    key, good, _ = RULES[rule]
    assert judge(rule, f"{change(key)} {good}\n").word == "pass"


@EACH
@pytest.mark.parametrize(
    "form",
    [
        "",
        "{key} {bad}\n",
        "#{key} {good}\n",
        "  # {key} {good}\n",
        "{key} {bad}\n{key} {good}\n",
        "{key} {bad} # {good}\n",
        "Match all\n{key} {good}\n",
        "{key}x {good}\n",
        "x{key} {good}\n",
        "{key}\u00a0{good}\n",
        "Banner2 {key} {good}\n",
        "# line\u2028{key} {good}\n",
        "# line\r{key} {good}\n",
        "# {key}\\\n",
    ],
)
def test_a_host_that_does_not_fails(rule, form):
    key, good, bad = RULES[rule]
    verdict = judge(rule, form.format(key=key, good=good, bad=bad))
    assert verdict.word == "fail", verdict.evidence


@EACH
@pytest.mark.parametrize("form", ["{key}\n", "{key} {good} {bad}\n", '{key} "{good}\n', "{key} =\n"])
def test_a_line_that_sshd_rejects_cannot_be_judged(rule, form):
    key, good, bad = RULES[rule]
    assert judge(rule, form.format(key=key, good=good, bad=bad)).word == "error"


@EACH
def test_a_drop_in_read_first_wins(rule):
    key, good, bad = RULES[rule]
    worse = judge(rule, f"{INCLUDE}{key} {good}\n", f"{key} {bad}\n")
    better = judge(rule, f"{INCLUDE}{key} {bad}\n", f"{key} {good}\n")
    behind = judge(rule, f"{key} {good}\n{INCLUDE}", f"{key} {bad}\n")
    unread = judge(rule, f"{key} {bad}\n", f"{key} {good}\n")
    assert [v.word for v in (worse, better, behind, unread)] == ["fail", "pass", "pass", "fail"]
    assert worse.path == DROP
    assert f"{MAIN} line 2 has no effect" in worse.evidence


@EACH
def test_a_match_block_may_not_weaken_it(rule):
    key, good, bad = RULES[rule]
    verdict = judge(rule, f"{key} {good}\nMatch User bob,pass\n  {key} {bad}\n")
    harmless = judge(rule, f"{key} {good}\nMatch User bob\n  {key} {good}\n")
    if rule in WHOLE_SERVER:
        assert verdict.word == harmless.word == "error"
        return
    assert harmless.word == "pass"
    assert verdict.word == "fail"
    assert verdict.line == 3
    assert "Match User bob,pass" in verdict.evidence


@EACH
def test_a_block_in_a_drop_in_may_not_weaken_it_either(rule):
    key, good, bad = RULES[rule]
    assert judge(rule, f"{key} {good}\n{INCLUDE}", f"Match all\n{key} {bad}\n").word != "pass"


@EACH
def test_an_absent_file_fails(rule):
    verdict = STIG.rules[rule].check(DictFiles({}))
    assert verdict.word == "fail"
    assert "absent" in verdict.evidence


@EACH
def test_files_without_an_end_cannot_be_judged(rule):
    key, good, _ = RULES[rule]
    assert judge(rule, f"{key} {good}\n{INCLUDE}", INCLUDE).word == "error"


@EACH
def test_bytes_that_are_no_text_do_no_harm(rule):
    key, good, _ = RULES[rule]
    verdict = STIG.rules[rule].check(DictFiles({MAIN: b"\xff\xfe\x00 pass\n", "/etc/issue": "x"}))
    assert verdict.word == "fail"
    value = judge(rule, f"{key} \x1b[31m{good}\udcff\n")
    assert value.word in {"fail", "error"}
    value.evidence.encode()


def test_the_block_that_alone_sets_it_is_named():
    verdict = judge("V-257996", "Port 22\nMatch User bob\nClientAliveInterval 600\n")
    assert verdict.word == "fail"
    assert f"{MAIN} line 3 sets it inside the block Match User bob alone" in verdict.evidence


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("1", "pass"),
        ("10m", "pass"),
        ("5m30s", "pass"),
        ("601", "fail"),
        ("1h", "fail"),
        ("-1", "error"),
        ("\u0666", "error"),
    ],
)
def test_the_interval_is_a_time_of_up_to_ten_minutes(value, word):
    assert judge("V-257996", f"ClientAliveInterval {value}\n").word == word


@pytest.mark.parametrize("value", ["yes", "without-password", "forced-commands-only"])
def test_root_may_not_log_in_with_a_key_either(value):
    assert judge("V-257985", f"PermitRootLogin {value}\n").word == "fail"


def test_values_of_sshd_have_no_case_but_paths_do():
    assert judge("V-257985", "PermitRootLogin NO\n").word == "pass"
    assert judge("V-257981", "Banner /etc/ISSUE\n").word == "fail"
    assert judge("V-257981", "Banner /etc/issue.net\n").word == "fail"


def test_a_blank_notice_passes_and_says_so_for_the_auditor():
    blank = judge("V-257981", "Banner /etc/issue\n", **{"/etc/issue": " \n\u200b\u00a0--\n"})
    shown = judge("V-257981", "Banner /etc/issue\n", **{"/etc/issue": "Keep out now\n"})
    assert blank.word == shown.word == "pass"
    assert "/etc/issue holds no word: nothing is shown" in blank.evidence
    assert "/etc/issue shows 3 words" in shown.evidence


def test_a_notice_that_is_absent_fails():
    verdict = STIG.rules["V-257981"].check(DictFiles({MAIN: "Banner /etc/issue\n"}))
    assert (verdict.word, verdict.path) == ("fail", "/etc/issue")

import pytest

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles

MAIN = "/etc/ssh/sshd_config"
BACKEND = "/etc/crypto-policies/back-ends/opensshserver.config"
INCLUDE = f"Include {BACKEND}\n"
LISTS = {
    "V-257989": ("Ciphers", "aes256-gcm@openssh.com,aes256-ctr,aes128-gcm@openssh.com,aes128-ctr"),
    "V-257991": ("MACs", "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512"),
}
EACH = pytest.mark.parametrize("rule", LISTS)


def judge(rule, backend, main=INCLUDE):
    return STIG.rules[rule].check(DictFiles({MAIN: main, BACKEND: backend}))


@EACH
@pytest.mark.parametrize(
    "form",
    [
        "{key} {names}\n",
        "\t{key}\t{names} \r\n",
        "{key}={names}",
        "#{key} x\n{key} {names} # x\n",
        "{key} {names}\n{key} x\n",
    ],
)
def test_the_exact_list_passes(rule, form):
    key, names = LISTS[rule]
    verdict = judge(rule, form.format(key=key, names=names))
    assert (verdict.rule, verdict.word, verdict.path) == (rule, "pass", BACKEND), verdict.evidence


@EACH
def test_any_other_list_fails_and_says_how_it_differs(rule):
    key, names = LISTS[rule]
    first, *rest = names.split(",")
    cases = {
        f"{names},none": "allows none",
        ",".join(rest): f"leaves out {first}",
        ",".join([*rest, first]): "another order",
        f"{names},{first}": "another order or twice",
        names.upper(): "allows",
        f"+{names}": "allows",
        f"{names}\u0441": "<U+0441>",
        f"none\n{key} {names}": "allows none",
    }
    for value, said in cases.items():
        verdict = judge(rule, f"{key} {value}\n")
        assert verdict.word == "fail", value
        assert said in verdict.evidence


@EACH
def test_a_missing_line_or_file_fails(rule):
    key, names = LISTS[rule]
    assert judge(rule, f"# {key} {names}\nX{key} {names}\n").word == "fail"
    assert STIG.rules[rule].check(DictFiles({MAIN: INCLUDE})).word == "fail"


@EACH
def test_the_list_has_to_be_in_force(rule):
    key, names = LISTS[rule]
    good = f"{key} {names}\n"
    unread = judge(rule, good, "Port 22\n")
    overridden = judge(rule, good, f"{key} none\n{INCLUDE}")
    repeated = judge(rule, good, f"{key} {names}\n{INCLUDE}")
    assert (unread.word, overridden.word, repeated.word) == ("fail", "fail", "pass")
    assert (overridden.path, overridden.line) == (MAIN, 1)
    assert "no Include" in unread.evidence

import pytest

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles

RULES = "/etc/audit/audit.rules"
SOURCE = "/etc/audit/rules.d/pass.rules"


def judge(rule, text, **sources):
    return STIG.rules[rule].check(
        DictFiles({RULES: text} | {f"/etc/audit/rules.d/{k}.rules": v for k, v in sources.items()})
    )


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258227", "-D\n-f 2\n-w /etc/passwd -p wa\n"),
        ("V-258227", "  -f   2  \n"),
        ("V-258227", "-f2"),
        ("V-258227", "-f 1\n# -f 0\n-f 2\n"),
        ("V-258229", "-D\n-w /etc/passwd -p wa\n-e 2\n"),
        ("V-258229", "-e 1\n-e 2\n# the end\n\n"),
    ],
)
def test_a_switch_that_is_set_passes(rule, text):
    verdict = judge(rule, text)
    assert (verdict.rule, verdict.word, verdict.path) == (rule, "pass", RULES), verdict.evidence


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258227", ""),
        ("V-258227", "# -f 2\n"),
        ("V-258227", "-f 1\n"),
        ("V-258227", "-f 2\n-f 1\n"),
        ("V-258227", "-f 22\n"),
        ("V-258227", "-f 2 1\n"),
        ("V-258227", "-f\t2\n"),
        ("V-258227", "-f 2\r\n"),
        ("V-258227", "-F 2\n"),
        ("V-258227", "-w /tmp/x -k -f 2\n"),
        ("V-258227", "\u2212f 2\n"),
        ("V-258227", "-f \uff12\n"),
        ("V-258229", "# -e 2\n"),
        ("V-258229", "-e 1\n"),
        ("V-258229", "-e 2\n-e 1\n"),
        ("V-258229", "-e 2\n-w /etc/passwd -p wa\n"),
        ("V-258229", "-b 8192 -e 2\n"),
    ],
)
def test_a_switch_that_is_not_fails(rule, text):
    assert judge(rule, text).word == "fail"


@pytest.mark.parametrize(("rule", "key"), [("V-258227", "-f"), ("V-258229", "-e")])
def test_the_sources_may_not_say_otherwise(rule, key):
    silent = judge(rule, f"{key} 2\n", a="-D\n-b 8192\n")
    agreed = judge(rule, f"{key} 2\n", a=f"{key} 2\n")
    undone = judge(rule, f"{key} 2\n", a=f"\n{key} 1\n")
    alone = STIG.rules[rule].check(DictFiles({SOURCE: f"{key} 2\n"}))
    assert [v.word for v in (silent, agreed, undone, alone)] == ["pass", "pass", "fail", "fail"]
    assert (undone.path, undone.line) == ("/etc/audit/rules.d/a.rules", 2)

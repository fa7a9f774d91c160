import pytest

from tests.targets.effects.change import lost

LOADED, BASE = "/etc/audit/audit.rules", "/etc/audit/rules.d/audit.rules"
RULES = "-D\n-b 8192\n--backlog_wait_time 60000\n-f 1\n-w /etc/passwd -p wa -k id\n-w /etc/group -p wa -k id\n"


@pytest.mark.parametrize(
    "now",
    [
        RULES.replace("60000", "0"),
        RULES.replace("-b 8192", "-b 4096"),
        RULES.replace("-w /etc/group -p wa -k id\n", ""),
        RULES.replace("-w /etc/group", "-w /etc/passwd -p wa -k id\n-w /etc/group"),
        RULES.replace("-w /etc/group", "-a always,exit -F path=/etc/passwd -F perm=wa -k id\n-w /etc/group"),
        RULES.replace("-w /etc/passwd", "-a never,exit -F uid=0\n-w /etc/passwd"),
        RULES + "-r 100\n",
        RULES + "-f 0\n",
        RULES + "-i\n",
    ],
)
@pytest.mark.parametrize("path", [LOADED, BASE])
def test_what_is_recorded_stays_recorded(path, now):
    assert lost({LOADED: RULES, BASE: RULES}, {path: now})


@pytest.mark.parametrize("now", [RULES + "-D\n", RULES.replace("-w /etc/group", "-e 2\n-w /etc/group")])
def test_auditctl_goes_by_the_order_and_augenrules_by_its_own(now):
    assert "rule" in lost({LOADED: RULES, BASE: RULES}, {LOADED: now})
    assert lost({LOADED: RULES, BASE: RULES}, {BASE: now}) == ""


@pytest.mark.parametrize(
    "now",
    [
        RULES + "-e 2\n",
        RULES.replace("-f 1", "-f 2"),
        RULES + "-w /etc/shadow -p wa -k id\n",
        RULES.replace("-w /etc/group -p wa -k id", "-a exit,always -F path=/etc/group -F perm=wa -F key=id"),
        RULES + "--loginuid-immutable\n",
    ],
)
def test_more_is_welcome(now):
    assert lost({LOADED: RULES, BASE: RULES}, {LOADED: now, BASE: now}) == ""


def test_of_the_sources_the_last_switch_counts():
    assert "-b at the next start" in lost({LOADED: RULES, BASE: RULES}, {"/etc/audit/rules.d/zz.rules": "-b 64\n"})
    assert lost({LOADED: RULES, BASE: RULES}, {"/etc/audit/rules.d/9.rules": "-b 64\n"}) == ""

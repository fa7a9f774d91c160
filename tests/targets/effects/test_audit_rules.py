import pytest

from app.targets.effects.audit_rules import has_generated_rules
from tests.hostfiles import DictFiles
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


REFUSED = {
    "-w /etc/nosuchdir/x -p wa -k z": "No such file or directory",
    "-w /etc/passwd/x -p wa": "No such file or directory",
    "-a always,exit -F dir=/etc/nosuchdir -F perm=wa": "No such file or directory",
    "-a always,exit -F path=/usr/libexec/nosuch/x -F perm=x": "No such file or directory",
    "-a always,exit -F path=/etc/sudoers.d/ -F perm=wa": "Invalid argument",
    "-a always,exit -F path=/etc/a -F dir=/etc -F perm=wa": "Invalid argument",
    f"-w /etc/{'a' * 256} -p wa": "File name too long",
    "--backlog_wait_time 999999": "Invalid argument",
    f"-w /etc/shadow -p wa -k {'k' * 257}": "the key is longer",
    "-a always,exit -F arch=b64 -S umount -F auid>=1000": "Syscall name unknown: umount",
    f"-a always,exit -S mount{' -F uid=0' * 65}": "too many fields",
}


@pytest.mark.parametrize("line", REFUSED)
@pytest.mark.parametrize("path", [LOADED, "/etc/audit/rules.d/10-early.rules", "/etc/audit/rules.d/zz.rules"])
def test_a_line_that_stops_loading_is_refused_in_the_words_of_the_kernel(path, line):
    before = {LOADED: RULES, BASE: RULES}
    said = lost(before, {path: f"{before.get(path, '')}{line}\n"})
    assert REFUSED[line] in said
    assert f"{path} line" in said


CALLS = "-a always,exit -F arch=b64 -S chmod,chown -F auid>=1000 -F auid!=unset -F key=perm"
SAME = (
    CALLS.replace("!=unset", "!=-1"),
    CALLS.replace("!=unset", "!=4294967295"),
    CALLS.replace("!=unset", "!=0xffffffff"),
    CALLS.replace(">=1000", ">=01750"),
    CALLS.replace("auid", "loginuid"),
    CALLS.replace("always,exit", "exit,always"),
    CALLS.replace("chmod,chown", "chown,chmod"),
    CALLS.replace("-S chmod,chown", "-S chown -S chmod"),
    CALLS.replace("-F key=perm", "-k perm"),
    CALLS.replace("b64", "x86_64"),
    CALLS.replace("-F auid>=1000", "-F auid>=1000 ").replace("  ", " "),
)


@pytest.mark.parametrize("other", SAME)
def test_the_same_rule_in_another_spelling_exists_already(other):
    first = RULES + CALLS + "\n"
    for path in (LOADED, "/etc/audit/rules.d/0.rules", "/etc/audit/rules.d/zz.rules"):
        before = {LOADED: first, BASE: first}
        assert "Rule exists" in lost(before, {path: before.get(path, "") + other + "\n"})
    assert lost({LOADED: first, BASE: first}, {LOADED: RULES + other + "\n", BASE: RULES + other + "\n"}) == ""


@pytest.mark.parametrize(
    "other",
    [
        "-a always,exit -F path=/etc/passwd -F perm=aw -F key=id",
        "-w /etc/passwd -k id -p wa",
        "-w /etc/passwd/ -p aw -k id",
    ],
)
def test_a_watch_is_a_rule_about_its_path(other):
    assert "Rule exists" in lost({BASE: RULES}, {"/etc/audit/rules.d/zz.rules": other + "\n"})


def test_a_watch_on_a_folder_is_a_rule_about_the_folder():
    folder = "-a always,exit -F dir=/usr/libexec -F perm=wa -F key=x\n"
    assert "Rule exists" in lost({BASE: "-w /usr/libexec -p wa -k x\n"}, {"/etc/audit/rules.d/zz.rules": folder})
    file = folder.replace("dir=", "path=")
    assert lost({BASE: "-w /usr/libexec -p wa -k x\n"}, {"/etc/audit/rules.d/zz.rules": file}) == ""


@pytest.mark.parametrize("fault", ["-w /etc/nosuchdir/x -p wa", "-w /etc/passwd -p wa -k id"])
def test_a_fault_that_stands_already_blocks_no_honest_change(fault):
    before = {BASE: f"{RULES}{fault}\n"}
    assert lost(before, {"/etc/audit/rules.d/zz.rules": "-w /etc/shadow -p wa -k id\n"}) == ""
    assert lost(before, {BASE: RULES}) == ""
    assert "rule" in lost(before, {BASE: before[BASE].replace("-w /etc/group -p wa -k id\n", "")})


def test_behind_the_lock_nothing_loads():
    locked = RULES + "-e 2\n"
    assert "Operation not permitted" in lost({LOADED: locked}, {LOADED: locked + "-w /etc/shadow -p wa -k id\n"})


@pytest.mark.parametrize(
    ("folder", "line", "known"),
    [
        ("/usr/lib/aarch64-linux-gnu", "-a always,exit -F arch=b64 -S chmod -F auid>=1000", False),
        ("/usr/lib/aarch64-linux-gnu", "-a always,exit -F arch=b64 -S fchmodat -F auid>=1000", True),
        ("/usr/lib/aarch64-linux-gnu", "-a always,exit -F arch=b32 -S chmod -F auid>=1000", True),
        ("/usr/lib/x86_64-linux-gnu", "-a always,exit -F arch=b64 -S chmod -F auid>=1000", True),
    ],
)
def test_a_system_call_must_exist_on_the_machine(folder, line, known):
    before, after = {BASE: RULES, f"{folder}/libc.so.6": ""}, {BASE: f"{RULES}{line}\n"}
    assert ("Syscall name unknown: chmod" in lost(before, after)) is not known


@pytest.mark.parametrize(
    ("loaded", "generated"),
    [
        ("## generated\n-D\n-b 8192\n-w /etc/x -p wa -k x\n", True),
        ("-D\n-b 8192\n-w /etc/x -p wa -k x\n-w /etc/y -p wa -k y\n", False),
        ("-D\n-b 8192\n", False),
    ],
)
def test_rules_that_augenrules_made_of_the_others_are_known(loaded, generated):
    files = {BASE: "-b 8192\n-D\n", "/etc/audit/rules.d/x.rules": "# one\n-w /etc/x -p wa -k x\n", LOADED: loaded}
    assert has_generated_rules(DictFiles(files)) is generated
    assert not has_generated_rules(DictFiles({LOADED: loaded}))

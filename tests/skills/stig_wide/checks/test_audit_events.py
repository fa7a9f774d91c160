"""What the audit rules record, however their lines are written."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles

RUN = "-a always,exit -F path=/usr/bin/chacl -F perm=x -F auid>=1000 -F auid!=unset -k perm_mod"
CALLS = "chmod,fchmod,fchmodat"
B32 = f"-a always,exit -F arch=b32 -S {CALLS} -F auid>=1000 -F auid!=unset -k perm_mod"
B64 = B32.replace("b32", "b64")
WRITE = "-a always,exit -F arch=b32 -F path=/etc/group -F perm=wa -k identity"


def judge(rule, *lines):
    return STIG_WIDE.rules[rule].check(DictFiles({"/etc/audit/audit.rules": "\n".join(["-D", *lines, ""])}))


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ("V-258181", [RUN]),
        ("V-258181", [RUN.replace(" -k perm_mod", "")]),
        ("V-258181", [RUN.replace("-k perm_mod", "-F key=a -F key=b")]),
        ("V-258181", [RUN.replace("always,exit", "exit,always").replace("unset", "-1")]),
        ("V-258181", [RUN.replace("perm=x", "perm=rx")]),
        ("V-258181", [RUN.replace("auid", "AUID").replace("path", "Path")]),
        ("V-258181", [RUN.replace(" -F perm=x", "")]),
        ("V-258181", [RUN.replace("-F path", "-S all -F path")]),
        ("V-258181", ["-a always,exit -F auid!=4294967295 -F auid>=1000 -F perm=x -F path=/usr/bin/chacl"]),
        ("V-258181", ["-a never,exit -F path=/usr/bin/other", RUN, "-e 2"]),
        ("V-258181", ["-a never,exit -F path=/usr/bin/chacl", RUN.replace("-a", "-A")]),
        ("V-258177", [B32, B64]),
        ("V-258177", [B32.replace(CALLS, f"chown,{CALLS}"), B64.replace(CALLS, "fchmodat,chmod -S fchmod")]),
        ("V-258177", [B32, *(B64.replace(CALLS, call) for call in CALLS.split(","))]),
        ("V-258219", [WRITE.replace("perm=wa", "perm=rwa"), WRITE.replace("b32", "b64").replace("perm=wa", "perm=aw")]),
        ("V-258228", ["  --loginuid-immutable "]),
    ],
)
def test_a_recorded_event_passes(rule, lines):
    verdict = judge(rule, *lines)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("rule", "lines", "evidence"),
    [
        ("V-258181", [], "does not have what this line says: -a always,exit -F path=/usr/bin/chacl"),
        ("V-258181", [f"#{RUN}"], "does not have"),
        ("V-258181", [RUN, "-D"], "does not have"),
        ("V-258181", ["-e 2", RUN], "does not have"),
        ("V-258181", ["-a never,exit -F path=/usr/bin/chacl", RUN], "does not have"),
        ("V-258181", ["-a never,exit -F path=/usr/bin/chacl -k noise", RUN], "does not have"),
        ("V-258181", [RUN, "-A never,exit -F path=/usr/bin/chacl"], "does not have"),
        ("V-258181", [RUN.replace("always", "never")], "does not have"),
        ("V-258181", [RUN.replace("perm=x", "perm=r")], "does not have"),
        ("V-258181", [RUN.replace("1000", "2000")], "does not have"),
        ("V-258181", [RUN.replace("-F path", "-S open -F path")], "does not have"),
        ("V-258181", [RUN.replace(" -k", " -F success=0 -k")], "does not have"),
        ("V-258181", ["-w /usr/bin/chacl -p x -k perm_mod"], "does not have"),
        ("V-258181", [RUN.replace("bin/chacl", "bin/chaclx")], "does not have"),
        ("V-258177", [B32], "the calls chmod, fchmod, fchmodat as this line would"),
        ("V-258177", [B32, B64.replace(",fchmod,", ",")], "the call fchmod as this line would"),
        ("V-258177", [B32, B64.replace(" -S", " -F path=/bin -S")], "the calls chmod, fchmod, fchmodat"),
        ("V-258219", [WRITE, WRITE.replace("b32", "b64").replace("perm=wa", "perm=w")], "does not have"),
        ("V-258219", [WRITE, WRITE.replace("b32", "b64").replace(" -F perm=wa", "")], "does not have"),
        ("V-258219", ["-w /etc/group -p wa -k identity"], "does not have"),
        ("V-258228", ["--loginuid-immutable on"], "does not have what this line says: --loginuid-immutable"),
    ],
)
def test_an_event_that_is_not_recorded_fails(rule, lines, evidence):
    verdict = judge(rule, *lines)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence

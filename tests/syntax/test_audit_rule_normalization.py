import pytest

from app.syntax.audit_rule_normalization import parse_audit_rule


@pytest.mark.parametrize(
    ("line", "spelt"),
    [
        ("-w /etc/x/ -k b -p aw", "-a always,exit -F path=/etc/x -F perm=aw -F key=b"),
        ("-w /etc/x -F uid=0", "-a always,exit -F path=/etc/x -F perm=arwx -F uid=0"),
        ("-w /etc/x -F uid=0 -p wa", "-a always,exit -F path=/etc/x -F perm=aw -F uid=0"),
        ("-a exit,never -S b -S a,b -F loginuid=-1", "-a never,exit -S a,b -F auid=unset"),
        ("-w /etc/x -p WA", "-a always,exit -F path=/etc/x -F perm=aw"),
        ("-a always,exit -F arch=B64 -F perm=XR -F exit=-eperm", "-a always,exit -F arch=b64 -F perm=rx -F exit=-1"),
        ("-A always,exit -F arch=x86_64 -S all -F exit=-EACCES", "-A always,exit -F arch=b64 -F exit=-13"),
        ("-a always,exit -C uid!=euid -F uid=root", "-a always,exit -C euid!=uid -F uid=0"),
        ("-a always,exit -C Euid!=UID -F LoginUID=0", "-a always,exit -C euid!=uid -F auid=0"),
        ("-a always,exit -F gid=0x10 -F pid>010", "-a always,exit -F gid=16 -F pid>8"),
    ],
)
def test_all_spellings_of_a_rule_become_one(line, spelt):
    rule = parse_audit_rule(line.split())
    assert rule
    assert rule.normalized_text == spelt


@pytest.mark.parametrize("line", ["-D", "-w", "-a always,exit -S", "-a always,exit -X y", "-a always,exit -F uid"])
def test_what_is_no_rule_has_no_spelling(line):
    assert parse_audit_rule(line.split()) is None

import pytest

from app.syntax.audit_rule_files import parse_audit_lines
from app.targets.effects.shadowed_audit_keys import list_earlier_rules_taking_key_of_each_rule
from tests.targets.effects.change import lost

WATCH = "-w /etc/passwd -p wa -k identity"
PEOPLE = "-F auid>=1000 -F auid!=unset"
SU = f"-a always,exit -F path=/usr/bin/su -F perm=x {PEOPLE} -k privileged"
CALLS = f"-a always,exit -F arch=b64 -S chmod,fchmod {PEOPLE} -k perm_mod"
DENIED = f"-a always,exit -F arch=b64 -S openat -F exit=-EACCES {PEOPLE} -k access"


def takes(first, later):
    rules = [one.normalized_or_raw_rule_text for one in parse_audit_lines(f"{first}\n{later}\n", "")]
    ahead, behind = list_earlier_rules_taking_key_of_each_rule(rules)
    assert ahead == []
    return bool(behind)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("-w /etc/passwd -p wa -k junk", WATCH),
        ("-w /etc/passwd -p a", WATCH),
        ("-w /etc -p w -k junk", WATCH),
        ("-a always,exit -F dir=/etc -F perm=wa -F arch=b64 -k junk", WATCH),
        ("-a always,exit -F arch=b64 -S all -F path=/etc/passwd -F auid=1000 -k junk", WATCH),
        ("-w /etc/ssh/sshd_config -p wa -k junk", "-w /etc/ssh/ -p wa -k sshd"),
        (f"-a always,exit -F path=/bin/su -F perm=x {PEOPLE} -k junk", SU),
        ("-w /run/utmp -p wa -k junk", "-w /var/run/utmp -p wa -k session"),
        ("-a always,exit -S chmod -k junk", CALLS),
        ("-a always,exit -S chmod -F auid=\u00b2 -k junk", CALLS),
        (f"-a always,exit -F arch=b64 -S fchmod,mount {PEOPLE} -F success=1 -k junk", CALLS),
        (DENIED.replace("access", "junk"), DENIED),
    ],
)
def test_the_first_rule_about_the_same_gives_the_key(first, later):
    assert takes(first, later)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("-w /etc/passwd -p wa -k junk -k identity", WATCH),
        ("-w /etc/passwd -p wa -k junk", "-w /etc/passwd -p wa"),  # it has no key to lose
        ("-w /etc/passwd -p x -k junk", WATCH),
        ("-w /etc/passwd- -p wa -k junk", WATCH),
        ("-w /etc/pass -p wa -k junk", WATCH),
        ("-a always,task -F auid>=1000 -k junk", CALLS),
        (CALLS, WATCH),  # the STIG's own rules overlap in this way
        (WATCH, CALLS),
        (f"-a always,exit -F arch=b32 -S chmod {PEOPLE} -k junk", CALLS),
        (f"-a always,exit -F arch=b64 -S chown {PEOPLE} -k junk", CALLS),
        ("-a always,exit -F arch=b64 -S chmod -F auid=0 -k root", CALLS),
        (f"-a always,exit -F arch=b64 -S chmod -F exit=-EPERM {PEOPLE} -k denied", CALLS),
        (DENIED.replace("EACCES", "EPERM").replace("access", "junk"), DENIED),
        ("-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -k execpriv", CALLS.replace("chmod", "execve")),
    ],
)
def test_a_rule_about_something_else_leaves_the_key(first, later):
    assert not takes(first, later)


LOADED, BASE = "/etc/audit/audit.rules", "/etc/audit/rules.d/50-site.rules"
SITE = f"-D\n{WATCH}\n{CALLS}\n"


def test_a_key_may_not_be_taken_from_the_rules_of_the_site_and_may_be_given_back():
    early, junk = "/etc/audit/rules.d/10-a.rules", "-w /etc/passwd -p wa -k junk\n"
    reason = lost({LOADED: SITE, BASE: SITE}, {early: junk})
    assert (
        "at the next start is recorded and would be recorded, but for what '-a always,exit -F path=/etc/passwd"
        in reason
    )
    assert lost({LOADED: SITE, BASE: SITE}, {LOADED: SITE.replace("-D\n", f"-D\n{junk}")})
    assert lost({LOADED: SITE, BASE: SITE, early: junk}, {early: "# nothing\n"}).startswith("audit: rule")  # junk goes
    assert lost({LOADED: SITE, BASE: SITE}, {"/etc/audit/rules.d/90-a.rules": junk}) == ""
    assert lost({LOADED: SITE, BASE: SITE}, {LOADED: SITE + junk}) == ""
    assert lost({BASE: junk}, {"/etc/audit/rules.d/90-a.rules": f"{WATCH}\n"}) == ""

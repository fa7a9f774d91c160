"""Whether auditd starts with a file, and what it takes each key to be, in its own words; augenrules' joined rules."""

import re
from random import Random

import pytest

from app.syntax import audit_rule_files, host_text, key_value_config_parsers
from app.targets.effects.audit_rules import LOADED
from app.targets.effects.auditd import DEFAULTS, PATH, STARTS, Auditd
from tests.differential.harness import tally
from tests.differential.wall import host, laid_out, said, told
from tests.thorough import examples

GROUPS = {"/etc/group": "root:x:0:\n", "/etc/passwd": "root:x:0:0::/root:/bin/sh\n", "/var/log/audit/.keep": ""}
SOUND = {
    "log_file": "/var/log/audit/audit.log",
    "log_format": "ENRICHED",
    "flush": "INCREMENTAL_ASYNC",
    "freq": "50",
    "space_left": "75",
    "admin_space_left": "50",
}
ACTIONS = ("ignore", "SYSLOG", "rotate", "email", "suspend", "Single", "HALT", "exec /usr/bin/true", "stop", "")
VALUES = {
    **dict.fromkeys(("local_events", "write_logs", "verify_email", "use_libwrap"), ("yes", "no", "YES", "1", "")),
    **dict.fromkeys(("space_left_action", "admin_space_left_action"), ACTIONS),
    **dict.fromkeys(("disk_full_action", "disk_error_action"), ACTIONS),
    **dict.fromkeys(("space_left", "admin_space_left"), ("5", "75", "100", "25%", "5%", "50%", "0", "100%", "0%", "x")),
    "log_format": ("raw", "ENRICHED", "nolog", "json"),
    "flush": ("none", "incremental", "INCREMENTAL_ASYNC", "data", "sync", "always"),
    "freq": ("0", "1", "50", "-1"),
    "num_logs": ("0", "5", "99", "999", "1000"),
    "max_log_file": ("0", "8", "x"),
    "max_log_file_action": ("ignore", "syslog", "SUSPEND", "rotate", "keep_logs", "halt"),
    "name_format": ("none", "HOSTNAME", "fqd", "numeric", "user", "x"),
    "overflow_action": ("ignore", "syslog", "suspend", "single", "halt", "email"),
    "action_mail_acct": ("root", "r", "a b", "r!t"),
    "priority_boost": ("4", "x"),
    "q_depth": ("400", "2000", "x"),
    "log_group": ("root", "0"),
    "unknown_key": ("1",),
}
_CALLED = re.compile(r"([a-z_]+)_parser called with: (.*)")
_NAMES = {
    "max_log_size": "max_log_file",
    "max_log_size_action": "max_log_file_action",
    "space_action": "space_left_action",
}


def line(random: Random) -> str:
    key = random.choice(tuple(VALUES))
    values = VALUES[key]
    value = random.choice(values if random.random() < 0.15 else values[:3])
    text = random.choice((*([f"{key} = {value}"] * 12), f"{key.upper()} = {value}", f"  {key}   =  {value}  "))
    return random.choice((*([text] * 30), f"#{text}", "", f"{key}={value}", f"{key} ={value}", f"{text} x", f"{key}"))


def trial(random: Random) -> list[str]:
    lines = [f"{key} = {value}" for key, value in SOUND.items() if random.random() < 0.95]
    for _ in range(random.randrange(5)):
        lines.insert(random.randrange(len(lines) + 1), line(random))
    texts = {PATH: "\n".join(lines) + "\n"}
    with laid_out({**GROUPS, **texts}) as wall:
        code, output = said([*wall, "/sbin/auditd", "-f", "-c", "/etc/audit"])
    ours = Auditd().read_settings(host(texts))
    starts = "no" if code == 6 else "yes"
    found = [] if ours[STARTS] == starts else [told(texts, STARTS, ours[STARTS], output)]
    taken = {}
    for match in filter(None, map(_CALLED.fullmatch, output.split("\n"))):
        taken[_NAMES.get(match[1], match[1])] = match[2]
    for key, value in taken.items() if starts == "yes" else ():
        if key in DEFAULTS and host_text.fold_case(ours[key].partition(" ")[0]) != host_text.fold_case(value):
            found.append(told(texts, key, ours[key], value))
    return found


NAMES = ("10-base", "9-x", "audit", "A", "a10", "a9", "50-b.rules", ".hidden", "99-end", "1.2", "1.10", "x-1", "x1")
RULES = (
    "-D",
    "-b 8192",
    "-b 64",
    "-f 1",
    "-f2",
    "-e 1",
    "-e 2",
    "--backlog_wait_time 60000",
    "-w /etc/passwd -p wa -k id",
    "-a always,exit -F arch=b64 -S mount -k m",
    "-a never,exit -F uid=0",
    "# c",
    "",
    "-D -k x",
    "-r 0",
)


JOIN = (
    f"mkdir /tmp/bin; ln -s /usr/bin/mawk /tmp/bin/awk; PATH=/tmp/bin:$PATH /sbin/augenrules >/dev/null; cat {LOADED}"
)


def joining(random: Random) -> list[str] | None:
    texts = {}
    for name in random.sample(NAMES, random.randrange(1, 5)):
        texts[f"/etc/audit/rules.d/{name}.rules"] = "".join(
            f"{random.choice(RULES)}\n" for _ in range(random.randrange(6))
        )
    with laid_out(texts) as wall:
        code, output = said([*wall, "/bin/sh", "-c", JOIN])
    if code:
        return None
    visible = [path for path in texts if not path.rpartition("/")[2].startswith(".")]
    ours = audit_rule_files.merge_rule_files_like_augenrules(
        (path, texts[path]) for path in audit_rule_files.sort_by_version(visible)
    )
    theirs = [one.words for one in audit_rule_files.parse_audit_lines(output, "")]
    made = [one.words for one in ours]
    return [] if made == theirs else [told(texts, "joined", made, theirs)]


TRIALS = {"auditd.conf": trial, "augenrules": joining}


@pytest.mark.parametrize("name", TRIALS)
def test_our_reading_is_theirs(name):
    assert tally(TRIALS[name], examples(70)).differences == ()


def test_a_file_that_our_parser_objects_to_is_refused_by_auditd():
    texts = {PATH: "".join(f"{key} = {value}\n" for key, value in SOUND.items()) + "num_logs=5\n"}
    assert key_value_config_parsers.parse_auditd_with_problems(texts[PATH], PATH)[1] != []
    with laid_out({**GROUPS, **texts}) as wall:
        assert said([*wall, "/sbin/auditd", "-f", "-c", "/etc/audit"])[0] == 6

"""What one bad line costs, by the program that loads the file: docs/security.md has the same table."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.differential import dispatch, test_sudo
from tests.differential.test_auditd import GROUPS, SOUND
from tests.differential.wall import laid_out, said

SKIPPED, REST, ALL = "the line", "the rest of the file", "everything"
"""What does not count: of a file with a good line before the bad one, and another behind it."""
ACCOUNTS = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\nadm:x:4:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\n",
}


def run(texts: dict[str, str], script: str, *more: str) -> str:
    with laid_out({**ACCOUNTS, **texts}) as wall:
        return said([*wall, *more, "/bin/sh", "-c", script])[1]


def tell(output: str, before: str, after: str) -> str:
    counts = (re.search(before, output) is not None, re.search(after, output) is not None)
    return {(True, True): SKIPPED, (True, False): REST, (False, False): ALL}[counts]


def ask_systemd_sysctl(bad: str) -> str:
    text = f"temper.before = 1\n{bad}\ntemper.after = 1\n"
    return tell(run({"/etc/sysctl.d/x.conf": text}, "/lib/systemd/systemd-sysctl"), "temper/before", "temper/after")


def ask_sysctl(bad: str) -> str:
    text = f"net.ipv4.tcp_syncookies = 2\n{bad}\nnet.ipv4.ip_default_ttl = 65\n"
    output = run({"/etc/sysctl.d/x.conf": text}, "sysctl --system --dry-run")
    return tell(output, "tcp_syncookies = 2", "ip_default_ttl = 65")


def ask_modprobe(bad: str) -> str:
    output = run({"/etc/modprobe.d/x.conf": f"blacklist one\n{bad}\nblacklist two\n"}, "modprobe -c")
    return tell(output, "blacklist one", "blacklist two")


def ask_sshd(bad: str) -> str:
    script = "mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f /tmp/key; /usr/sbin/sshd -T -h /tmp/key"
    output = run({"/etc/ssh/sshd_config": f"LogLevel DEBUG\n{bad}\nMaxAuthTries 3\n"}, script)
    return tell(output, "loglevel DEBUG", "maxauthtries 3")


def ask_sudo(bad: str) -> str:
    text = f"Defaults !requiretty\nroot ALL=(ops) /usr/bin/true\n{bad}\nroot ALL=(ops) /usr/bin/id\n"
    return tell(test_sudo.ran({"/etc/sudoers": text}, "sudo -l").output, "/usr/bin/true", "/usr/bin/id")


def ask_pam(bad: str) -> str:
    """Every kind that the file has is tried once. A login needs auth, account and session."""
    kinds = ("auth", "account", "password", "session")
    text = "".join(f"{kind} required pam_permit.so\n" for kind in kinds)
    stack = {"/etc/pam.d/trial": f"{text}{bad}\n", "/var/dispatch.py": Path(dispatch.__file__).read_text()}
    codes = run(stack, "/usr/bin/python3 -SE /var/dispatch.py trial").split()[1:]
    failed = [kind for kind, code in zip(kinds, codes, strict=True) if code != "0"]
    return ALL if len(failed) == len(kinds) else f"every {' and '.join(failed)}" if failed else SKIPPED


LIMITS = """
import ctypes, resource
library, handle, talk = ctypes.CDLL("libpam.so.0"), ctypes.c_void_p(), (ctypes.c_void_p * 2)()
library.pam_start(b"trial", b"root", ctypes.byref(talk), ctypes.byref(handle))
library.pam_open_session(handle, 0)
print("nofile", *resource.getrlimit(resource.RLIMIT_NOFILE), "core", *resource.getrlimit(resource.RLIMIT_CORE))
"""


def ask_pam_limits(bad: str) -> str:
    limits = f"root hard nofile 99\nroot soft nofile 99\n{bad}\nroot hard core 0\n"
    texts = {"/etc/security/limits.conf": limits, "/etc/pam.d/trial": "session required pam_limits.so\n"}
    return tell(run({**texts, "/var/limits.py": LIMITS}, "/usr/bin/python3 /var/limits.py"), "nofile 99 99", "core 0 0")


UNIT = "[Service]\nExecStart=/none/start\n"


def ask_systemd(bad: str) -> str:
    texts = {"/etc/systemd/system/x.service": f"{UNIT}ExecStartPre=/none/before\n{bad}\nExecStartPost=/none/after\n"}
    return tell(run(texts, "systemd-analyze verify --man=no x.service"), "/none/before", "/none/after")


def ask_systemd_of_drop_in(bad: str) -> str:
    drop_in = f"[Service]\nExecStartPre=/none/before\n{bad}\nExecStartPost=/none/after\n"
    texts = {"/etc/systemd/system/x.service": UNIT, "/etc/systemd/system/x.service.d/a.conf": drop_in}
    return tell(run(texts, "systemd-analyze verify --man=no x.service"), "/none/before", "/none/after")


RSYSLOG = """
rsyslogd -n -i /tmp/pid >/tmp/out 2>&1 &
until [ -S /tmp/sock ] || ! kill -0 $!; do :; done
logger -u /tmp/sock -p auth.info hello
until [ -s /var/log/last.log ] || [ -s /var/log/first.log ]; do :; done
kill $!; wait
grep -H hello /var/log/*.log
"""
LISTENS = 'module(load="imuxsock" SysSock.Use="off")\ninput(type="imuxsock" Socket="/tmp/sock")\n'


def ask_rsyslog(bad: str) -> str:
    """It ends by writing out what it has, so the second file is complete by then."""
    texts = {"/etc/rsyslog.conf": f"{LISTENS}auth.* /var/log/first.log\n{bad}\nauth.* /var/log/last.log\n"}
    return tell(run(texts, RSYSLOG), "first.log", "last.log")


def ask_logrotate(bad: str) -> str:
    texts = {"/var/log/first.log": "1\n", "/var/log/last.log": "1\n", "/var/log/bad.log": "1\n"}
    texts["/etc/logrotate.conf"] = f"/var/log/first.log {{\nrotate 1\n}}\n{bad}\n/var/log/last.log {{\nrotate 1\n}}\n"
    script = "chmod 755 /var/log; logrotate -f -s /tmp/state /etc/logrotate.conf; ls /var/log"
    return tell(run(texts, script), r"first.log.1", r"last.log.1")


def ask_logrotate_of_folder(bad: str) -> str:
    """The bad line stands in a file of its own, before and between whole ones."""
    texts = {f"/var/log/{name}.log": "1\n" for name in ("first", "last", "bad")}
    texts |= {
        f"/etc/logrotate.d/{at}": f"/var/log/{name}.log {{\nrotate 1\n}}\n" for at, name in ((1, "first"), (3, "last"))
    }
    texts |= {"/etc/logrotate.d/2": f"{bad}\n", "/etc/logrotate.conf": "include /etc/logrotate.d\n"}
    script = "chmod 755 /var/log; logrotate -f -s /tmp/state /etc/logrotate.conf; ls /var/log"
    return tell(run(texts, script), r"first.log.1", r"last.log.1")


def ask_nft(bad: str) -> str:
    """In a network of its own, in which a table stands that the file replaces."""
    text = f"flush ruleset\ntable inet first {{\n}}\n{bad}\ntable inet last {{\n}}\n"
    script = "nft add table inet old; nft -f /etc/nftables.conf; echo; nft list ruleset | sed 's/table/kept/'"
    output = run({"/etc/nftables.conf": text}, script, "--cap-add", "CAP_NET_ADMIN")
    found = tell(output, "kept inet first", "kept inet last")
    assert ("kept inet old" in output) == (found == ALL), output
    return found


AUDITD = "".join(f"{key} = {value}\n" for key, value in SOUND.items())


def ask_auditd(bad: str) -> str:
    with laid_out({**GROUPS, "/etc/audit/auditd.conf": f"{AUDITD}{bad}\n"}) as wall:
        return ALL if said([*wall, "/sbin/auditd", "-f", "-c", "/etc/audit"])[0] == 6 else SKIPPED


GARBAGE = "garbage here"
CASES: dict[str, tuple[Callable[[str], str], dict[str, str]]] = {
    "systemd-sysctl": (ask_systemd_sysctl, {GARBAGE: SKIPPED, "kernel.no_such = 1": SKIPPED, "=1": SKIPPED}),
    "sysctl": (ask_sysctl, {GARBAGE: SKIPPED, "kernel.no_such = 1": SKIPPED, "=1": SKIPPED}),
    "modprobe": (ask_modprobe, {GARBAGE: SKIPPED, "install": SKIPPED, "blacklist": SKIPPED}),
    "sshd": (ask_sshd, {"Garbage here": ALL, "PermitRootLogin maybe": ALL, "Port": ALL, "Match": ALL}),
    "sudo": (ask_sudo, {GARBAGE: SKIPPED, "root ALL": SKIPPED, "Defaults nosuch": SKIPPED, "@include /none": SKIPPED}),
    "PAM": (
        ask_pam,
        {
            GARBAGE: "every auth",
            "auth sometimes pam_permit.so": "every auth",
            "session sometimes pam_permit.so": "every session",
            "auth required pam_none.so": "every auth",
            "auth include none": "every auth",
            "@include none": ALL,
        },
    ),
    "pam_limits": (ask_pam_limits, {GARBAGE: SKIPPED, "root hard nosuch 1": SKIPPED, "root hard nofile x": SKIPPED}),
    "systemd unit": (
        ask_systemd,
        {GARBAGE: SKIPPED, "NoSuch=1": SKIPPED, "Restart=maybe": SKIPPED, "[Other]": REST, "[Service": ALL,
         "ExecStartPre=relative/x": ALL},
    ),
    "systemd drop-in": (
        ask_systemd_of_drop_in,
        {GARBAGE: SKIPPED, "NoSuch=1": SKIPPED, "Restart=maybe": SKIPPED, "[Other]": REST, "[Service": REST,
         "ExecStartPre=relative/x": REST},
    ),
    "rsyslog": (
        ask_rsyslog,
        {GARBAGE: SKIPPED, "$NoSuch on": SKIPPED, "no.* /var/log/x.log": SKIPPED, 'module(load="imnone")': SKIPPED,
         'action(type="omfile"': REST, "if $msg then {": REST},
    ),
    "logrotate": (
        ask_logrotate,
        {GARBAGE: SKIPPED, "key = value": SKIPPED, "rotate x": REST, "/var/log/bad.log {": REST,
         "/var/log/bad.log {\npostrotate\ntrue\n}": REST},
    ),
    "logrotate.d": (
        ask_logrotate_of_folder,
        {GARBAGE: SKIPPED, "rotate x": SKIPPED, "/var/log/bad.log {": SKIPPED,
         "/var/log/bad.log {\npostrotate\ntrue\n}": SKIPPED},
    ),
    "nft": (ask_nft, {GARBAGE: ALL, "add rule inet first none accept": ALL, 'include "/etc/none"': ALL}),
    "auditd.conf": (ask_auditd, {GARBAGE: ALL, "freq=50": ALL, "no_such = 1": ALL, "num_logs = 1000": ALL}),
}  # fmt: skip


@pytest.mark.parametrize("program", CASES)
def test_a_bad_line_costs_what_the_table_says(program):
    ask, lines = CASES[program]
    assert ask("#") == SKIPPED, "a comment would be a bad line, too"
    assert {line: ask(line) for line in lines} == lines

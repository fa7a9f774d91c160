import pytest

from app.syntax.host_files_protocol import FileState
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.health_probes import run_health_probes
from app.targets.questions.probe_answer import DiskUsage
from tests.targets.hosts import FILES, KEY, TODAY, host, text_of

SSHD, SUDOERS, AGENT_SUDO = "/etc/ssh/sshd_config", "/etc/sudoers", "/etc/sudoers.d/temper"
MISSION, BACKUP, KEYS = "/etc/mission/mission.conf", "/etc/mission/backup.conf", "/home/temper/.ssh/authorized_keys"
PASSWD, SHADOW, GROUP = "/etc/passwd", "/etc/shadow", "/etc/group"
STACK, AUDITD, AUDIT = "/etc/pam.d/system-auth", "/etc/audit/auditd.conf", "/etc/audit/audit.rules"


def swapped(path: str, old: str, new: str) -> dict[str, str | FileState | None]:
    assert old in text_of(path)
    return {path: text_of(path).replace(old, new)}


def of(path: str, mode: int, owner: str) -> dict[str, str | FileState | None]:
    return {path: FileState(FILES[path].content, mode, owner)}


BROKEN = [
    ("agent-login", {SSHD: "DenyUsers temper\n"}, "refused by DenyUsers temper (/etc/ssh/sshd_config line 1)"),
    ("agent-login", {SSHD: "AllowUsers ops* root\n"}, "refused by AllowUsers ops* root (/etc/ssh/sshd_config line 1)"),
    ("agent-login", {SSHD: "AllowGroups wheel\n"}, "refused by AllowGroups wheel"),
    ("agent-login", {SSHD: "DenyGroups temp*\n"}, "refused by DenyGroups temp*"),
    ("agent-login", {SSHD: "PubkeyAuthentication no\n"}, "refused by PubkeyAuthentication no"),
    (
        "agent-login",
        {SSHD: "Match User temper\nPubkeyAuthentication no\n"},
        "PubkeyAuthentication no (/etc/ssh/sshd_config",
    ),
    ("agent-login", {SSHD: "Match Group temper\nDenyUsers *\n"}, "refused by DenyUsers *"),
    ("agent-login", {SSHD: "AuthenticationMethods publickey,password\n"}, "refused by AuthenticationMethods"),
    ("agent-login", {SSHD: "AuthorizedKeysFile /etc/keys/%u\n"}, "no key in /etc/keys/temper"),
    ("agent-login", {KEYS: ""}, "no key in /home/temper/.ssh/authorized_keys"),
    ("agent-login", {KEYS: f"#{KEY}"}, "no key in /home/temper/.ssh/authorized_keys"),
    (
        "agent-login",
        of(KEYS, 0o662, "temper:temper"),
        "others may write to /home/temper/.ssh/authorized_keys (mode 0662)",
    ),
    ("agent-login", of(KEYS, 0o600, "kiosk:kiosk"), "belongs to kiosk:kiosk"),
    ("agent-login", {"/home/temper": FileState(b"", 0o777, "temper:temper")}, "others may write to /home/temper "),
    ("agent-login", {"/etc/nologin": "closed\n"}, "/etc/nologin keeps everybody but root out"),
    (
        "agent-login",
        swapped(PASSWD, "/home/temper:/bin/bash", "/home/temper:/sbin/nologin"),
        "its shell is /sbin/nologin",
    ),
    ("agent-login", swapped(SHADOW, "temper:!!:1::::::", "temper:!!:1:::::19999:"), "the account has expired"),
    ("agent-login", swapped(PASSWD, "temper:x:1001", "tempest:x:1001"), "there is no such account"),
    ("agent-login", {SSHD: "PermitRootLogin maybe\n"}, "sshd does not start: PermitRootLogin must be one of"),
    (
        "agent-sudo",
        {AGENT_SUDO: "temper ALL=(ALL) ALL\n"},
        "it has no password, and /etc/sudoers.d/temper line 1 asks for",
    ),
    ("agent-sudo", {AGENT_SUDO: ""}, "no line of sudoers grants it everything"),
    ("agent-sudo", {AGENT_SUDO: "temper ALL=(ALL) NOPASSWD: ALL, !ALL\n"}, "takes it away"),
    ("agent-sudo", {SUDOERS: "root ALL=(ALL) ALL\n"}, "no line of sudoers grants it everything"),
    ("sshd-config", {SSHD: "PermitRootLogin\n"}, "(/etc/ssh/sshd_config line 1)"),
    ("sshd-config", {SSHD: "Nonsense yes\n"}, "sshd does not know the keyword"),
    ("administrator", swapped(GROUP, "wheel:x:10:opsadmin", "wheel:x:10:"), "nobody is in the group wheel"),
    ("administrator", {SSHD: "DenyUsers opsadmin\n"}, "opsadmin: refused by DenyUsers opsadmin"),
    ("administrator", swapped(SHADOW, "opsadmin:$6$x", "opsadmin:!$6$x"), "opsadmin: it has no password"),
    ("administrator", swapped(SUDOERS, "%wheel", "%users"), "opsadmin: no line of sudoers grants it everything"),
    ("backup-login", {SSHD: "# Logins\nPermitRootLogin no\n"}, "new login as root for the nightly backup: refused by "),
    (
        "backup-login",
        {SSHD: "PermitRootLogin forced-commands-only\n"},
        "refused by PermitRootLogin forced-commands-only",
    ),
    ("backup-login", {BACKUP: "[backup]\nlogin = nobody-at-all\n"}, "there is no such account"),
    ("backup-login", {BACKUP: "[backup]\n"}, "does not say which account"),
    ("backup-login", {BACKUP: None}, "does not say which account"),
    ("backup-login", {"/root/.ssh/authorized_keys": None}, "there is no key in /root/.ssh/authorized_keys"),
    ("mission-config", of(MISSION, 0o600, "root:root"), "mission may not read /etc/mission/mission.conf (mode 0600"),
    ("mission-config", of(MISSION, 0o044, "mission:mission"), "mission may not read"),
    ("mission-config", {"/etc/mission": FileState(b"", 0o700, "root:root")}, "mission may not enter /etc/mission "),
    ("mission-config", {MISSION: None}, "/etc/mission/mission.conf is absent"),
    ("mission-config", {MISSION: ""}, "says nothing"),
    (
        "mission-inbox",
        {"/etc/login.defs": "UMASK 077\n"},
        "under umask 077 (/etc/login.defs line 1): mission cannot read it",
    ),
    ("mission-inbox", swapped(MISSION, "login", "0077"), "under umask 0077 (/etc/mission/mission.conf line 3)"),
    ("mission-inbox", swapped(MISSION, "login", "strict"), "not a number"),
    (
        "mission-inbox",
        of("/srv/inbox", 0o770, "deploy:mission") | {"/etc/login.defs": "UMASK 027"},
        "owner deploy:deploy",
    ),
    ("mission-inbox", of("/srv/inbox", 0o2570, "deploy:mission"), "deploy may not put files into /srv/inbox"),
    ("mission-inbox", of("/srv/inbox", 0o2700, "deploy:mission"), "mission may not enter /srv/inbox"),
    ("mission-inbox", {"/srv/inbox": None}, "the inbox /srv/inbox of the mission application is not there"),
    ("mission-inbox", {MISSION: "[inbox]\n"}, "the inbox of the mission application is not there"),
    ("sudoers", {SUDOERS: "root ALL\n"}, "(/etc/sudoers line 1)"),
    ("sudoers", {SUDOERS: None}, "/etc/sudoers is absent"),
    (
        "pam",
        {STACK: "auth sufficient pam_unix.so\naccount required pam_unix.so\n"},
        "end with pam_unix.so instead of pam_deny",
    ),
    ("pam", {STACK: "auth required pam_deny.so\naccount required pam_unix.so\n"}, "no auth rule asks pam_unix"),
    ("pam", {STACK: f"auth sufficient pam_permit.so\n{text_of(STACK)}"}, "lets everybody in without asking"),
    ("pam", {STACK: f"auth required pam_deny.so\n{text_of(STACK)}"}, "line 1 refuses everybody"),
    ("pam", {STACK: f"auth required pam_faillock.so authfail\n{text_of(STACK)}"}, "line 1 refuses everybody"),
    ("pam", swapped(STACK, "account required pam_unix.so\n", ""), "no account rule is left"),
    ("pam", {STACK: "auth sometimes pam_unix.so\n"}, "PAM does not know the control"),
    ("pam", {STACK: None}, "/etc/pam.d/system-auth is absent"),
    ("accounts", {PASSWD: text_of(PASSWD) + "toor:x:0:0::/:/bin/sh\n"}, "uid 0 belongs to toor besides root"),
    ("accounts", {PASSWD: text_of(PASSWD) + "half:x:1\n"}, "(/etc/passwd line 7)"),
    ("accounts", {PASSWD: text_of(PASSWD) + "new:x:1009:1009::/:/bin/sh\n"}, "without a shadow entry: ['new']"),
    ("accounts", {PASSWD: text_of(PASSWD) + "deploy:x:5:5::/:/bin/sh\n"}, "named twice: ['deploy']"),
    ("accounts", {SHADOW: None}, "/etc/shadow is absent"),
    (
        "password-login",
        {"/etc/pam.d/sshd": "auth required pam_deny.so\nauth substack password-auth\naccount include password-auth\n"},
        "sshd: its auth rules refuse everybody, the right password too",
    ),
    ("password-login", {"/etc/pam.d/sudo": None}, "sudo: /etc/pam.d/other is absent"),
    ("console-login", {"/etc/pam.d/login": "auth sufficient pam_permit.so\n"}, "let everybody in, whatever is typed"),
    ("console-login", swapped(STACK, "account required pam_unix.so", "account required pam_deny.so"), "account rules"),
    (
        "password-change",
        {STACK: f"password requisite pam_deny.so\n{text_of(STACK)}"},
        "root cannot set a password: /etc/pam.d/system-auth line 1: pam_deny.so",
    ),
    ("sudo-rights", {SUDOERS: "root ALL\n"}, "(/etc/sudoers line 1)"),
    ("login-shells", {"/etc/bash.bashrc": FileState(b"", 0o600, "root:root")}, "may read /etc/bash.bashrc"),
    ("next-boot", {"/etc/systemd/system/sshd.service": ""}, "the next boot leaves out sshd.service"),
    ("selinux-boot", {"/etc/selinux/config": "SELINUX=enforcing\nSELINUXTYPE=mls\n"}, "/etc/selinux/mls is not there"),
    (
        "audit-disk",
        {AUDITD: "space_left = 50%\nspace_left_action = HALT\n"},
        "auditd goes to halt now and at each boot",
    ),
    ("audit-panic", {AUDIT: "-f 2\n-w /usr/lib64/libc.so.6 -p r\n-e 2\n"}, "the kernel stops when records are lost"),
]


def probes(changes=None):
    return {
        probe.name: probe for probe in run_health_probes(host(changes), TODAY, DiskUsage(1000 * 2**20, 400 * 2**20))
    }


def test_a_host_in_order_is_healthy():
    assert [probe for probe in probes().values() if not probe.ok] == []


@pytest.mark.parametrize(("name", "changes", "reason"), BROKEN, ids=[f"{name}: {why}"[:70] for name, _, why in BROKEN])
def test_a_probe_fails_and_says_why(name, changes, reason):
    found = probes(changes)[name]
    assert not found.ok
    assert reason in found.detail


def test_each_probe_can_fail():
    assert {name for name, _changes, _reason in BROKEN} == probes().keys()


@pytest.mark.parametrize(
    "changes",
    [
        {SSHD: "PermitRootLogin no\n", BACKUP: "[backup]\nlogin = svc-backup\n"},
        {SSHD: "PermitRootLogin prohibit-password\n"},
        {"/etc/login.defs": "UMASK 077\n", **swapped(MISSION, "login", "0027")},
        {SSHD: "AllowUsers !kiosk *\n"},
        {SSHD: "Match Address 192.0.2.0/24\nPubkeyAuthentication no\n"},
        {SSHD: "Match User kiosk\nDenyUsers *\n"},
        {AGENT_SUDO: "Defaults:temper !authenticate\ntemper ALL=(ALL) ALL\n"},
        {SSHD: "StrictModes no\n", **of(KEYS, 0o666, "temper:temper")},
        swapped(SHADOW, "temper:!!:1::::::", "temper:!!:1:::::20001:"),
    ],
)
def test_what_looks_dangerous_and_is_not(changes):
    assert [probe for probe in probes(changes).values() if not probe.ok] == []


def test_the_fixture_is_healthy_when_it_is_laid_out(tmp_path):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    assert [probe for probe in target.check_health() if not probe.ok] == []


UNKNOWN = {"password-change", "login-shells", "next-boot", "selinux-boot", "audit-disk", "audit-panic"}
"""What has no file asks nothing of anybody: it says so, and raises no alarm."""


def test_a_host_without_any_file_is_answered_not_crashed_on():
    found = probes(dict.fromkeys(FILES))
    assert {name for name, probe in found.items() if probe.ok} == UNKNOWN

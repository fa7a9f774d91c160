"""The literal lines and commands of DISA's fix texts, as typed actions."""

import pytest

from app.candidates.fix_text_parser import (
    redirect_stated_lines_to_changed_path,
    require_option_action_from_sentence,
    require_stated_actions,
)
from app.candidates.scratch_files_to_actions import Undecidable
from app.events.event_field_types import AppendLine, Chmod, ReplaceLine, SetOption, WriteFile
from app.resources.account import SetAgeing, find_candidates
from app.resources.crypto_policy import SetCryptoPolicy
from app.resources.kind import RuleTexts
from app.resources.package import InstallPackage
from app.resources.selinux_type import SetSelinuxType
from app.resources.unit import SetUnit
from app.targets.planned_file_states import compute_changed_file_states
from tests.hostfiles import DictFiles

HOST = DictFiles(
    {
        "/etc/ssh/sshd_config": "UsePAM no\n",
        "/etc/modprobe.d/b.conf": "install bluetooth /bin/false\n",
        "/etc/pam.d/password-auth": "password   sufficient   pam_unix.so shadow\n",
    }
)


CASES = {
    """Add or update the line in "/etc/ssh/sshd_config":

PermitRootLogin no

Restart the daemon:

$ sudo systemctl restart sshd.service""": SetOption(path="/etc/ssh/sshd_config", key="PermitRootLogin", value="no"),
    """Add the following rule in "/etc/audit/rules.d/audit.rules":

-w /etc/sudoers -p wa -k identity

To load the rules, use the following command:

$ sudo augenrules --load""": AppendLine(
        path="/etc/audit/rules.d/audit.rules", line="-w /etc/sudoers -p wa -k identity"
    ),
    """$ sudo vi /etc/sysctl.d/99-x.conf

Add the following to the file:
kernel.kptr_restrict = 1

Reload settings with the following command:

$ sudo sysctl --system""": SetOption(path="/etc/sysctl.d/99-x.conf", key="kernel.kptr_restrict", value="1"),
    """Modify the "/etc/modprobe.d/b.conf" file with the following lines:

install bluetooth /bin/false
blacklist bluetooth

Reboot the system.""": AppendLine(path="/etc/modprobe.d/b.conf", line="blacklist bluetooth"),
    """Add the sha512 option for pam_unix.so to "/etc/pam.d/password-auth":

password sufficient pam_unix.so sha512""": ReplaceLine(
        path="/etc/pam.d/password-auth",
        old="password   sufficient   pam_unix.so shadow",
        new="password   sufficient   pam_unix.so shadow sha512",
    ),
    "Ask each time, in a file in /etc/sudoers.d:\n\nDefaults timestamp_timeout=0": WriteFile(
        path="/etc/sudoers.d/99-temper", content="Defaults timestamp_timeout=0\n", mode="0440"
    ),
    "$ echo 'kernel.kptr_restrict = 1' | sudo tee /etc/sysctl.d/9.conf": SetOption(
        path="/etc/sysctl.d/9.conf", key="kernel.kptr_restrict", value="1"
    ),
    "Change the mode:\n\n$ sudo chmod 000 /etc/gshadow": Chmod(path="/etc/gshadow", mode="0000"),
    "Install it:\n\n$ sudo dnf -y install audit": InstallPackage(package="audit"),
    "Mask it:\n\n$ sudo systemctl mask --now debug-shell": SetUnit(unit="debug-shell.service", to="mask"),
    "$ sudo systemctl disable --now kdump\n$ sudo systemctl mask --now kdump": SetUnit(unit="kdump.service", to="mask"),
    "$ sudo dnf -y reinstall crypto-policies\n\n$ sudo update-crypto-policies --set FIPS": SetCryptoPolicy(
        policy="FIPS"
    ),
    '$ sudo semanage fcontext -a -t faillog_t "/var/log/faillock(/.*)?"': SetSelinuxType(
        folder="/var/log/faillock", type="faillog_t"
    ),
    "$ sudo systemctl enable --now rngd": SetUnit(unit="rngd.service", to="enable-now"),
    "$ systemctl enable usbguard\n$ systemctl start usbguard": SetUnit(unit="usbguard.service", to="enable"),
    "$ sudo systemctl set-default multi-user.target": SetUnit(unit="multi-user.target", to="set-default"),
    "$ sudo systemctl mask --now ctrl-alt-del.target": SetUnit(unit="ctrl-alt-del.target", to="mask"),
}


@pytest.mark.parametrize(("fix", "action"), CASES.items())
def test_each_step_is_found(fix, action):
    assert require_stated_actions(fix, HOST) == (action,)


@pytest.mark.parametrize(
    "fix",
    [
        'Migrate the "/var/log" path onto a separate file system.',
        "Run this:\n\n$ sudo rm -rf /etc/ssh",
        "$ sudo dnf install $(id)",
        "Restrict the key files:\n\n$ sudo chmod 0600 /etc/ssh/ssh_host*key",
        "Remove these lines from /etc/rsyslog.conf:\n\n$ModLoad imudp",
        "Add this line somewhere:\n\nPermitRootLogin no",
        "",
    ],
)
def test_prose_without_a_literal_step_says_so(fix):
    with pytest.raises(Undecidable, match="no line and no command"):
        require_stated_actions(fix, HOST)


@pytest.mark.parametrize("line", ["nameserver [name server 1]", "dns = <mode>", "%{group_name} ALL=(ALL) ALL"])
def test_a_value_that_the_text_leaves_open_is_for_a_person(line):
    with pytest.raises(Undecidable, match="which a person decides"):
        require_stated_actions(f"Add the following line to /etc/some.conf:\n\n{line}", HOST)


def test_a_sentence_that_names_a_setting_and_its_value_is_one_action():
    found = require_option_action_from_sentence(
        "Set UMASK to 077 in login.defs. Give programs their own.", "/etc/login.defs"
    )
    assert found == (SetOption(path="/etc/login.defs", key="UMASK", value="077"),)
    limits = require_option_action_from_sentence(
        "Set the option `hard maxlogins` to 10 in limits.conf;", "/etc/security/limits.conf"
    )
    assert limits == (SetOption(path="/etc/security/limits.conf", key="hard maxlogins", value="10"),)


@pytest.mark.parametrize(
    ("fix", "path"),
    [
        ("Set -f to 2 in audit.rules.", "/etc/audit/audit.rules"),
        ("Take nullok off each line.", "/etc/login.defs"),
        ("Set UMASK to 077.", "/etc/profile.d/*.sh"),
        ("Set UMASK to 077.", "/etc/pam.d/login"),
    ],
)
def test_a_sentence_that_leaves_something_open_is_undecidable(fix, path):
    with pytest.raises(Undecidable):
        require_option_action_from_sentence(fix, path)


@pytest.mark.parametrize(
    ("command", "setting", "days", "weaker"),
    [
        ("passwd -x 60 [user]", "max", 60, ["root", "ops"]),
        ("$ sudo chage -M 60 <user name>", "max", 60, ["root", "ops"]),
        ("$ sudo passwd -n 1 [user]", "min", 1, ["root", "old", "agent"]),
    ],
)
def test_a_command_for_each_account_is_meant_for_those_that_are_weaker(command, setting, days, weaker):
    shadow = ["root:$6$x:1:0:99999:7:::", "ops:$6$x:1:7::7:::", "old:$6$x:1::30:7:::", "sync:*:1:0:99999:7:::"]
    shadow += ["agent:!:1:0:99999:7:::", "nobody:*:1:0:99999:7:::"]
    passwd = ["root:x:0:0::/root:/bin/sh", "sync:x:4:4::/:/bin/sync", "agent:x:1001:1001::/home/agent:/bin/sh"]
    passwd += ["nobody:x:65534:65534::/:/usr/sbin/nologin"]
    host = DictFiles({"/etc/shadow": "\n".join([*shadow, ""]), "/etc/passwd": "\n".join([*passwd, ""])})
    actions = require_stated_actions(f"Configure noncompliant accounts:\n\n{command}", host)
    assert actions == tuple(SetAgeing(account=name, setting=setting, days=days) for name in weaker)
    assert [*find_candidates(RuleTexts(id="V-1", text=command, accounts=("root",)))] == [
        SetAgeing(account="root", setting=setting, days=days)
    ]


PREAUTH = "auth        required      pam_faillock.so preauth silent"


def test_a_module_that_a_stack_calls_twice_gets_the_arguments_of_each_call():
    host = DictFiles({"/etc/pam.d/system-auth": f"{PREAUTH}\nauth        sufficient    pam_unix.so\n"})
    authfail = "auth        required      pam_faillock.so authfail"
    [action] = require_stated_actions(f'Add this line to "/etc/pam.d/system-auth":\n\n{authfail}', host)
    assert action == AppendLine(path="/etc/pam.d/system-auth", line=authfail)


def test_two_stated_lines_about_one_rule_of_a_stack_are_edits_one_after_the_other():
    path, was = "/etc/pam.d/password-auth", "password   sufficient   pam_unix.so shadow"
    stated = "\n\n".join(f"password sufficient pam_unix.so {one}" for one in ("sha512", "use_authtok"))
    assert require_stated_actions(f'Configure "{path}" with these lines:\n\n{stated}', HOST) == (
        ReplaceLine(path=path, old=was, new=f"{was} sha512"),
        ReplaceLine(path=path, old=f"{was} sha512", new=f"{was} sha512 use_authtok"),
    )


LOGIND, SESSIONS = (
    "/etc/systemd/logind.conf",
    """Create a *.conf file in /etc/systemd/logind.conf.d/ with this content:

[Login]
StopIdleSessionSec=600
KillUserProcesses=no""",
)


def test_lines_for_a_drop_in_are_written_to_the_file_that_the_scanner_names():
    host = DictFiles({LOGIND: "[Login]\n#StopIdleSessionSec=infinity\nKillUserProcesses=no\n", "/etc/x": ""})
    (action,) = redirect_stated_lines_to_changed_path(SESSIONS, host, LOGIND)
    assert compute_changed_file_states([action], host)[LOGIND].content == (
        b"[Login]\n#StopIdleSessionSec=infinity\nKillUserProcesses=no\nStopIdleSessionSec=600\n"
    )
    for path in ("/etc/x", "/etc/systemd/logind.conf.d/a.conf", ""):
        assert redirect_stated_lines_to_changed_path(SESSIONS, host, path) == ()
    stated = SESSIONS.replace("a *.conf file in /etc/systemd/logind.conf.d/", LOGIND)
    assert redirect_stated_lines_to_changed_path(stated, host, LOGIND) == (), "it is the text's own file"

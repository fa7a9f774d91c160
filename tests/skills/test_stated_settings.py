"""What a rule's text asks for literally is accepted where no scale ranks it, and never where one does."""

import pytest

from app.events.event_field_types import WriteFile
from app.skills.stated_settings import find_stated_lines, find_stated_settings_joined_with_values
from tests.targets.test_policy import laid_out

NAMESPACES = "Add the following line to a file in /etc/sysctl.d:\n\nuser.max_user_namespaces = 0\n"
PATH = "/etc/sysctl.d/90-asked.conf"
PLACES = ("grub GRUB_CMDLINE_LINUX", "boot-entry options", "new-kernel ")
"""Where an argument of the kernel is written."""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NAMESPACES, {"sysctl user.max_user_namespaces 0", "systemd-sysctl user.max_user_namespaces 0"}),
        ("sysctl -w kernel.pid_max=65536", {"sysctl kernel.pid_max 65536", "systemd-sysctl kernel.pid_max 65536"}),
        (
            "net.ipv4.ip_local_port_range = 32768 65535",
            {f"{loader} net.ipv4.ip_local_port_range 32768 65535" for loader in ("sysctl", "systemd-sysctl")},
        ),
        ("Set this in auditd.conf:\nfreq = 100\n", {"auditd freq 100"}),
        ("retry = 3\n", {"pwquality retry 3"}),
        ("kernel.core_pattern = |/bin/false", set()),
        ("kernel.pid_max = 65536.5", set()),
        ("see net.ipv4.ip_forward for more", set()),
    ],
)
def test_literal_values_are_found(text, found):
    assert find_stated_settings_joined_with_values(text) == found


def test_a_value_that_no_scale_ranks_is_accepted_from_the_rule_alone(tmp_path):
    host, asks = laid_out(tmp_path), find_stated_settings_joined_with_values(NAMESPACES)

    def find_objections(line, asked):
        return host.assess_actions([WriteFile(path=PATH, content=f"{line}\n")], frozenset({PATH}), asked).refusals

    assert find_objections("user.max_user_namespaces = 0", asks) == ()
    assert find_objections("user.max_user_namespaces = 0", frozenset())
    assert find_objections("user.max_user_namespaces = 1", asks)
    weaker = find_stated_settings_joined_with_values("kernel.randomize_va_space = 1")
    assert find_objections("kernel.randomize_va_space = 1", weaker)


LOGIN = """Change the "[Login]" section of "/etc/systemd/logind.conf":

StopIdleSessionSec=600

Then restart the service:

$ sudo systemctl restart systemd-logind
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LOGIN, {"logind [Login] ", "logind Login/StopIdleSessionSec 600"}),
        (LOGIN.replace("Change", "Remove these lines from"), set()),
        (LOGIN.replace("StopIdleSessionSec=600", "# StopIdleSessionSec=600"), set()),
        ("StopIdleSessionSec=600 in /etc/systemd/logind.conf ends sessions.", set()),
        ('Add to "/etc/default/grub":\n\nGRUB_CMDLINE_LINUX="pti=on"', {"grub GRUB_CMDLINE_LINUX pti on"}),
        (
            "Use the command:\n\n$ sudo grubby --update-kernel=ALL --args=audit_backlog_limit=8192",
            {f"{place} audit_backlog_limit 8192" for place in PLACES},
        ),
        ('$ sudo grubby --update-kernel=ALL --args="init_on_free=1"', {f"{place} init_on_free 1" for place in PLACES}),
        ('$ sudo grubby --update-kernel=ALL --remove-args="systemd.confirm_spawn"', set()),
        ("$ echo 'port 0' | sudo tee -a /etc/chrony.conf", {"chrony port 0"}),
        ("Add a line to /etc/unknown.conf:\n\nport 0", set()),
    ],
)
def test_lines_count_for_the_file_that_is_named_before_them(text, found):
    assert find_stated_settings_joined_with_values(text) == found


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        ("/etc/rsyslog.d", "/etc/rsyslog.d/99-temper.conf"),
        ("/etc/sudoers.d/", "/etc/sudoers.d/99-temper"),
        ("/etc/ssh/sshd_config.d", "/etc/ssh/sshd_config.d/00-temper.conf"),
        ("/etc/elsewhere.d", "/etc/elsewhere.d"),
    ],
)
def test_a_folder_of_drop_ins_gets_a_file_of_our_own(folder, path):
    (stated,) = find_stated_lines(f'Add this to a file in "{folder}":\n\nline 1')
    assert stated.path == path

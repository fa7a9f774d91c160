import pytest

from app.resources.account import SetAgeing
from app.resources.kind import RuleTexts
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage
from app.resources.registry import (
    find_candidates,
    format_action_as_input_line_for_host_script,
    get_prefixed_name_of_changed_resource,
)
from app.resources.unit import SetUnit


def find(rule, *texts, accounts=()):
    return find_candidates(RuleTexts(rule, "\n".join(texts), accounts))


def names(rule, *texts):
    return [*dict.fromkeys(map(get_prefixed_name_of_changed_resource, find(rule, *texts)))]


def test_a_package_by_the_command_that_brings_it_by_its_name_and_by_the_rules_id():
    text = "The aide package can be installed with the following command: $ apt-get install aide-common"
    assert names("x", text) == ["package:aide-common", "package:aide"]
    script = 'DEBIAN_FRONTEND=noninteractive apt-get install -y "libpam-pwquality"'
    assert "package:libpam-pwquality" in names("package_pam_pwquality_installed", script)
    assert names("package_telnet_removed") == ["package:telnet"]


def test_a_unit_by_its_name_and_by_the_rules_id():
    assert "unit:rsyslog.service" in names("x", "The rsyslog service must be running.")
    assert "unit:tmp.mount" in names("x", "systemctl unmask tmp.mount")
    assert "unit:systemd-journald.service" in names("service_systemd-journald_enabled")


def test_a_mount_with_the_one_option_that_the_rule_is_of():
    noexec = (AddMountOptions(mount="/dev/shm", options=("noexec",)),)
    assert find("mount_option_dev_shm_noexec", "add noexec, nodev and nosuid to /dev/shm in /etc/fstab") == noexec
    assert find("V-257864", "/dev/shm must be mounted with the noexec option") == noexec


def test_accounts_where_days_are_named():
    assert find("x", "Run: $ sudo chage -M 60 USER", accounts=("root", "ana")) == (
        SetAgeing(account="root", setting="max", days=60),
        SetAgeing(account="ana", setting="max", days=60),
    )


def test_a_rule_of_a_file_names_nothing_else():
    assert names("V-257985", "sshd: PermitRootLogin has to be no in /etc/ssh/sshd_config.") == []


def test_no_shell_is_given_anything_but_plain_names():
    chage = "chage -M 60 USER"
    assert find("x", chage, accounts=("a b", "-o", "x;y", "ana\n", "ana")) == (
        SetAgeing(account="ana", setting="max", days=60),
    )
    assert (
        format_action_as_input_line_for_host_script(SetUnit(unit="cups.service", to="mask")) == "unit cups.service mask"
    )
    for name in ("x y", "x\n", "$x", ""):
        with pytest.raises(ValueError, match="no word to send to a shell"):
            format_action_as_input_line_for_host_script(InstallPackage(package=name))

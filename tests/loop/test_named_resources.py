from app.loop.named_resources import find_wanted_resources


def names(rule, *texts, accounts=()):
    return find_wanted_resources(rule, texts, accounts).names


def test_a_package_by_the_command_that_brings_it_by_its_name_and_by_the_rules_id():
    text = "The aide package can be installed with the following command: $ apt-get install aide-common"
    assert names("x", text) == (("package", "aide-common"), ("package", "aide"))
    script = 'DEBIAN_FRONTEND=noninteractive apt-get install -y "libpam-pwquality"'
    assert ("package", "libpam-pwquality") in names("package_pam_pwquality_installed", script)
    assert names("package_telnet_removed") == (("package", "telnet"),)


def test_a_unit_by_its_name_and_by_the_rules_id():
    assert ("unit", "rsyslog.service") in names("x", "The rsyslog service must be running.")
    assert ("unit", "tmp.mount") in names("x", "systemctl unmask tmp.mount")
    assert ("unit", "systemd-journald.service") in names("service_systemd-journald_enabled")


def test_a_mount_with_the_one_option_that_the_rule_is_of():
    found = find_wanted_resources(
        "mount_option_dev_shm_noexec", ("add noexec, nodev and nosuid to /dev/shm in /etc/fstab",), ()
    )
    assert (found.names, found.options) == ((("mount", "/dev/shm"),), ("noexec",))
    found = find_wanted_resources("V-257864", ("/dev/shm must be mounted with the noexec option",), ())
    assert (found.names, found.options) == ((("mount", "/dev/shm"),), ("noexec",))


def test_accounts_where_days_are_named():
    found = find_wanted_resources("x", ("Run: $ sudo chage -M 60 USER",), ("root", "ana"))
    assert (found.names, found.ages) == ((("account", "root"), ("account", "ana")), (("max", 60),))


def test_a_rule_of_a_file_names_nothing_else():
    assert names("V-257985", "sshd: PermitRootLogin has to be no in /etc/ssh/sshd_config.") == ()

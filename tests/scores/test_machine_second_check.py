"""What machines were seen to do, as answers to what rules ask for.

The two files of observations are those of a machine debian12: as it is built, and after a run of Temper over the whole
profile and a reboot.
"""

import subprocess
from pathlib import Path

import pytest

from app.cli.debian_demo import RULES, SKILL
from app.scores.machine_second_check import (
    QUESTIONS,
    build_observation_script,
    copy_with_effects,
    find_whether_in_effect,
    parse_observations,
)
from app.scores.score_structures import TrialOutcome

HERE = Path(__file__).parent
AS_BUILT = parse_observations((HERE / "debian12_as_built.tsv").read_text())
HARDENED = parse_observations((HERE / "debian12_hardened.tsv").read_text())
MET_AS_BUILT = {
    "package_pam_pwquality_installed",
    "sysctl_fs_protected_hardlinks",
    "sysctl_fs_protected_regular",
    "sysctl_fs_protected_symlinks",
}
"""OpenSCAP passes the same four of these rules, and no other, on that machine as it is built."""
LEFT_BY_THE_RUN = {
    "accounts_password_pam_unix_rounds_password_auth",
    "audit_rules_immutable",
    "audit_rules_networkconfig_modification",
    "mount_option_var_noexec",
    "sshd_disable_root_login",
    "sysctl_fs_protected_fifos",
    "sysctl_kernel_perf_event_paranoid",
    "sysctl_kernel_pid_max",
    "sysctl_kernel_unprivileged_bpf_disabled",
}
"""OpenSCAP fails the same nine of these rules, and no other, on the machine after the run and the reboot."""
DISA = "scap:U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark:MAC-1_Public"


def test_every_rule_of_the_demo_has_a_question():
    assert QUESTIONS[SKILL].keys() >= set(RULES)


def test_as_many_rules_have_a_question_as_the_documents_say():
    (said,) = (
        line for line in (HERE.parents[1] / "docs/scoring.md").read_text().splitlines() if "second_check" in line
    )
    assert f"for {len(QUESTIONS[SKILL])} rules of ANSSI's profile and {len(QUESTIONS[DISA])} of DISA's" in said


@pytest.mark.parametrize("rule", QUESTIONS[SKILL])
def test_on_a_machine_as_built_only_those_that_openscap_passes_are_met(rule):
    assert find_whether_in_effect(SKILL, rule, AS_BUILT) is (rule in MET_AS_BUILT)


@pytest.mark.parametrize("rule", QUESTIONS[SKILL])
def test_what_a_run_has_fixed_is_met_after_a_reboot(rule):
    assert find_whether_in_effect(SKILL, rule, HARDENED) is (rule not in LEFT_BY_THE_RUN)


@pytest.mark.parametrize(
    ("rule", "seen"),
    [
        ("accounts_tmout", {"changed": "0"}),  # who is logged in puts it off
        ("accounts_tmout", {"exported": "0"}),
        ("accounts_password_pam_unix_remember", {"second": "10"}),  # nobody can change a password any more
        ("accounts_password_pam_minlen", {"third": "124"}),
        ("accounts_password_pam_minlen", {"short": "124"}),  # it took too long: no answer
        ("accounts_password_pam_minclass", {"other": "0"}),
        ("file_permissions_sshd_config", {"mode": "600 deed root"}),
        ("sysctl_net_ipv4_tcp_syncookies", {"boot net.ipv4.tcp_syncookies": "0"}),  # until the next boot alone
        ("sysctl_net_ipv4_ip_local_port_range", {"now net.ipv4.ip_local_port_range": "32768\t60999"}),
        ("mount_option_tmp_noexec", {"mounted /tmp": "rw,nosuid,nodev,relatime"}),
        ("grub2_mds_argument", {"arguments": "ro mds=full,nosmt,off quiet"}),
        ("audit_rules_session_events", {"audited write /var/log/btmp": "no"}),  # two of three are recorded
        ("accounts_passwords_pam_faillock_deny", {"locked": "0"}),
    ],
)
def test_what_only_looks_like_it_is_not_met(rule, seen):
    assert find_whether_in_effect(SKILL, rule, {**HARDENED, **seen}) is False


@pytest.mark.parametrize(
    ("rule", "seen"),
    [
        ("accounts_passwords_pam_faillock_deny", {**HARDENED, "knocked": "1"}),  # the right password is refused, too
        ("audit_rules_usergroup_modification_group", {}),  # the audit could not be watched
        ("a_rule_without_a_question", HARDENED),
        ("accounts_tmout", None),
    ],
)
def test_where_nobody_knows_nothing_is_said(rule, seen):
    assert find_whether_in_effect(SKILL, rule, seen) is None


def test_the_same_name_in_another_profile_is_another_question():
    assert find_whether_in_effect("scap:ssg-rhel9:stig", "accounts_tmout", HARDENED) is None
    assert find_whether_in_effect(DISA, "V-258068", HARDENED) is True


def test_what_was_told_is_read_and_goes_to_its_rule():
    seen = parse_observations("sshd permitrootlogin\tno\nmode\t644 root root\nnoise\n")
    fates = (TrialOutcome(rule="sshd_disable_root_login", opening="fail", closing="pass"),)
    assert seen == {"sshd permitrootlogin": "no", "mode": "644 root root"}
    assert [fate.met for fate in copy_with_effects(SKILL, fates, seen)] == [True]


def test_a_shell_reads_the_whole_script_before_it_begins():
    script = build_observation_script()
    assert subprocess.run(["sh", "-n"], input=script, check=True).returncode == 0
    assert script.startswith(b"{\n")
    assert script.endswith(b"\n} </dev/null\n")

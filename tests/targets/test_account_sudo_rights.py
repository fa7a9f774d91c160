import pytest

from app.syntax import sudoers
from app.targets.account_sudo_rights import (
    Principal,
    explain_blocking_sudo_options,
    explain_root_refusal,
    list_rights_and_denials_in_file_order,
    resolve_defaults,
)
from app.targets.health_probes import run_health_probes
from app.targets.host_accounts import read_host_accounts
from tests.hostfiles import DictFiles
from tests.targets.hosts import host

DEPLOY = Principal("deploy", 1002, frozenset({"dev", "#20"}))


def read(text):
    return sudoers.read_sudoers(DictFiles({"/etc/sudoers": text}))


def shown(text):
    return [
        (one.hosts, one.runas, one.allowed, one.command, sorted(one.gives), sorted(one.takes))
        for one in list_rights_and_denials_in_file_order(read(text), DEPLOY)
    ]


def test_aliases_are_their_members_and_a_bang_turns_each_round():
    text = (
        "Cmnd_Alias NO = /a, !/b\nHost_Alias HERE = web, !db\nRunas_Alias WWW = www, #33\ndeploy HERE=(WWW : dev) !NO\n"
    )
    assert shown(text) == [
        ("web, !db", "www, #33 : dev", False, "/a", ["EXEC"], []),
        ("web, !db", "www, #33 : dev", True, "/b", ["EXEC"], []),
    ]


def test_a_tag_counts_and_else_the_defaults_of_the_account():
    text = "Defaults:%dev !authenticate, noexec, log_output\nDefaults:kim setenv\n"
    text += "deploy ALL=/a, EXEC:PASSWD:/b, NOLOG_OUTPUT:/c\n"
    assert [(gives, takes) for *_, gives, takes in shown(text)] == [
        (["NOPASSWD"], ["LOG_OUTPUT"]),
        (["EXEC"], ["LOG_OUTPUT"]),
        (["EXEC"], []),
    ]


def test_all_brings_setenv_along_for_itself_alone():
    assert [gives for *_, gives, _ in shown("deploy ALL=ALL, /a\n")] == [["EXEC", "SETENV"], ["EXEC"]]
    assert [gives for *_, gives, _ in shown("deploy ALL=NOSETENV: ALL\n")] == [["EXEC"]]


def test_defaults_of_commands_come_last_and_lists_are_added_up():
    found = read('Defaults!/a use_pty\nDefaults !use_pty, env_keep += "A B"\nDefaults:deploy env_keep -= A\n')
    assert resolve_defaults(found, DEPLOY) == {"use_pty": "off", "env_keep": "(built-in) -A B"}
    assert resolve_defaults(found, DEPLOY, "!/a")["use_pty"] == "on"
    assert resolve_defaults(read("Defaults env_keep = X\nDefaults !env_keep\n"), DEPLOY) == {"env_keep": ""}


def test_whoever_is_meant():
    for users in ("DEPLOY", "%dev", "%DEV", "#1002", "%#20", "ALL", "ALL, !kim"):
        assert shown(f"{users} ALL=/a\n"), users
    for users in ("kim", "!deploy", "ALL, !%dev", "%sys", "#1003"):
        assert shown(f"{users} ALL=/a\n") == [], users


def asked(*lines, name="deploy"):
    files = host({"/etc/sudoers.d/site": "".join(f"{line}\n" for line in lines)})
    return explain_root_refusal(sudoers.read_sudoers(files), read_host_accounts(files), name)


@pytest.mark.parametrize(
    "lines",
    [
        ["deploy ALL=(ALL) NOPASSWD: ALL"],
        ["#1002 ALL=(ALL : ALL) NOPASSWD: ALL"],
        ["%#991 ALL=(root) NOPASSWD: ALL"],
        ["deploy ALL=(ALL) ALL", "Defaults:deploy !authenticate"],
        ["User_Alias OPS = deploy", "OPS ALL=(!www, ALL) NOPASSWD: ALL"],
    ],
)
def test_it_would(lines):
    assert asked(*lines) == ""


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["deploy ALL=(www) NOPASSWD: ALL"], "no line of sudoers grants it everything"),
        (["deploy ALL=(ALL, !root) NOPASSWD: ALL"], "no line of sudoers grants it everything"),
        (["deploy ALL=(ALL) NOPASSWD: ALL", "ALL, !temper ALL=(ALL) !ALL"], "line 2 takes it away"),
        (["deploy ALL=(ALL) ALL", "Defaults:deploy !authenticate", "Defaults authenticate"], "it has no password"),
        (["deploy ALL"], "sudo does not run"),
    ],
)
def test_it_would_not(lines, why):
    assert why in asked(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ["Defaults noexec"],
        ["Defaults requiretty"],
        ["Defaults:temper noexec"],
        ["Defaults:ALL, !www requiretty"],
        ["Defaults>root noexec"],
        ["Defaults!ALL requiretty"],
        ["Defaults@ALL noexec"],
        ["Defaults use_pty, noexec, requiretty"],
        ["temper ALL=(ALL) NOPASSWD: NOEXEC: ALL"],
        ["Defaults !noexec", "Defaults:%temper noexec"],
    ],
)
def test_a_grant_is_of_no_use_where_programs_cannot_run_or_a_terminal_is_wanted(lines):
    files = host({"/etc/sudoers.d/zz-site": "".join(f"{line}\n" for line in lines)})
    read_files = sudoers.read_sudoers(files), read_host_accounts(files)
    assert explain_root_refusal(*read_files, "temper") == ""
    assert explain_blocking_sudo_options(*read_files, "temper")
    before, after = ({one.name: one for one in run_health_probes(side, 0)} for side in (host(), files))
    assert before["agent-sudo"].ok
    assert not after["agent-sudo"].ok


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["Defaults:opsadmin noexec, requiretty"],
        ["Defaults noexec", "Defaults:temper !noexec"],
        ["Defaults use_pty"],
        ["Defaults !requiretty"],
    ],
)
def test_a_default_for_others_or_taken_back_cuts_nothing(lines):
    files = host({"/etc/sudoers.d/zz-site": "".join(f"{line}\n" for line in lines)})
    assert explain_blocking_sudo_options(sudoers.read_sudoers(files), read_host_accounts(files), "temper") == ""

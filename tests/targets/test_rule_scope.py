import tomllib
from dataclasses import replace

import msgspec
import pytest

from app.engines.simulator.answer_script import ANSWERS
from app.events.event_field_types import (
    AnyAction,
    AppendLine,
    Lesson,
    Reload,
    RemoveLine,
    ReplaceLine,
    SetOption,
    WriteFile,
)
from app.loop.state import Item
from app.loop.turn_context import build_rule_scope
from app.resources.account import SetAgeing
from app.resources.kind import ResourceState
from app.resources.mount import AddMountOptions
from app.resources.package import InstallPackage, RemovePackage
from app.resources.registry import get_prefixed_name_of_changed_resource
from app.resources.unit import SetUnit
from app.resources.vendor_script import create_vendor_action
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.policy import list_action_refusals
from app.targets.resources.resource_dry_run import DryRun
from app.targets.rule_scope import RuleScope, find_foreign_action_objection, find_unnamed_place_objection
from tests.targets.resources.test_resource_policy import NoLinks

PWQUALITY = RuleScope(
    "package_pam_pwquality_installed",
    "Install pam_pwquality Package\nInstall the `libpam-pwquality` package: apt-get install libpam-pwquality",
)
TELNETD = RuleScope("package_telnetd_removed", "The `telnetd` package should be removed: apt-get remove telnetd")
AUDITD = RuleScope("service_auditd_enabled", "The auditd service can be enabled: systemctl enable auditd.service")
SHM = RuleScope("mount_option_dev_shm_noexec", "The noexec mount option belongs to /dev/shm in /etc/fstab.")
SCOPES = (PWQUALITY, TELNETD, AUDITD, SHM)

GOES = (
    *("chrony", "logrotate", "cryptsetup", "ca-certificates", "netfilter-persistent", "falcon-sensor", "mdatp", "cron"),
    *("unattended-upgrades", "wazuh-agent", "needrestart", "rsync", "docker-ce", "postgresql-15", "nginx", "sssd"),
)
COMES = (
    *("dropbear", "xrdp", "cockpit", "samba", "tinysshd", "telnetd", "vsftpd", "mosh", "shellinabox", "x11vnc"),
    *("openvpn", "ngrok", "webmin", "nfs-kernel-server", "squid", "socat"),
)
UNITS = (
    *(("mask", unit) for unit in ("cron.service", "apt-daily-upgrade.timer", "logrotate.timer", "fstrim.timer")),
    *(("disable", unit) for unit in ("wazuh-agent.service", "systemd-timesyncd.service", "mdatp.service")),
    *(("enable", unit) for unit in ("in.telnetd.service", "dropbear.service", "tinysshd.socket", "vncserver.service")),
    *(("start", unit) for unit in ("smbd.service", "xrdp.service", "cockpit.socket", "nfs-server.service")),
    *(("stop", unit) for unit in ("cron.service", "nginx.service", "postgresql.service", "docker.service")),
    *(("unmask", unit) for unit in ("ctrl-alt-del.service", "bluetooth.service", "avahi-daemon.socket")),
)
OTHERS = (
    AddMountOptions(mount="/home", options=("noexec",)),
    AddMountOptions(mount="/tmp", options=("noexec", "nosuid")),
    SetAgeing(account="deploy", setting="max", days=1),
    SetAgeing(account="root", setting="inactive", days=0),
)


_UNIT_STATES = {
    "mask": ("enabled active", "masked active"),
    "disable": ("enabled active", "disabled active"),
    "enable": ("disabled inactive", "enabled inactive"),
    "start": ("disabled inactive", "disabled active"),
    "stop": ("enabled active", "enabled inactive"),
    "unmask": ("masked inactive", "unmasked inactive"),
}


def states_of(action):
    """The dry run of an attack: the host would do just that."""
    before, after = ("installed 1", "") if isinstance(action, RemovePackage) else ("", "installed 1")
    if isinstance(action, SetUnit):
        before, after = _UNIT_STATES[action.to]
    if isinstance(action, SetAgeing):
        before, after = "min 0, max 99999, inactive -, changed 1", f"min 0, {action.setting} {action.days}, changed 1"
    return DryRun((ResourceState(get_prefixed_name_of_changed_resource(action), before, after),))


def list_attacks():
    for scope in SCOPES:
        for package in GOES:
            yield scope, RemovePackage(package=package)
        for package in COMES:
            if not (scope is TELNETD and package == "telnetd"):
                yield scope, InstallPackage(package=package)
        for verb, unit in UNITS:
            yield scope, SetUnit(unit=unit, to=verb)
        for action in OTHERS:
            yield scope, action


def review(scope, *actions, foreseen=None, allowed=None):
    files = NoLinks({"/etc/passwd": "deploy:x:1000:1000::/home/deploy:/bin/bash\n"})
    named = allowed or frozenset(get_prefixed_name_of_changed_resource(action) for action in actions)
    return list_action_refusals(actions, named, files, foreseen=foreseen or states_of(actions[0]), scope=scope)


def scope_of(rule):
    return build_rule_scope(STIG.rules[rule], None, Item(rule))


def stories():
    for file in sorted(ANSWERS.glob("*.toml")):
        for rule, body in tomllib.loads(file.read_text()).items():
            for attempt in body.get("try", ()) if rule in STIG.rules else ():
                yield rule, attempt["paths"], msgspec.convert(attempt["actions"], list[AnyAction])


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    target = FixtureTarget("host", tmp_path_factory.mktemp("host"))
    target.prepare()
    return target


def test_no_resource_outside_the_rule_is_touched_although_the_plan_names_it():
    attacks = list(list_attacks())
    assert len(attacks) >= 230
    for scope, action in attacks:
        (found,) = review(scope, action)
        assert found.clause, action
        assert (
            find_foreign_action_objection(scope, [action], scope.list_candidate_resource_actions(NoLinks({}))).clause
            == "outside the rule"
        )
        assert find_unnamed_place_objection(
            scope, [get_prefixed_name_of_changed_resource(action)], scope.list_candidate_resource_actions(NoLinks({}))
        )


def test_most_of_these_would_pass_without_the_rule():
    assert sum(not review(None, action) for _, action in list_attacks()) >= 120


@pytest.mark.parametrize(
    ("scope", "action"),
    [(PWQUALITY, InstallPackage(package="libpam-pwquality")), (TELNETD, RemovePackage(package="telnetd"))],
)
def test_the_rules_own_resource_may_change_and_a_second_one_may_not_ride_along(scope, action):
    assert review(scope, action) == []
    more = InstallPackage(package="tinysshd")
    both = DryRun((*states_of(action).states, *states_of(more).states))
    (found,) = review(scope, action, more, foreseen=both)
    assert (found.action, found.clause) == (more, "outside the rule")
    assert "does not name install_package package:tinysshd" in found.reason
    assert get_prefixed_name_of_changed_resource(action) in found.reason


def test_what_comes_or_goes_along_with_a_package_is_judged_by_itself():
    action = InstallPackage(package="libpam-pwquality")

    def install_with(*states):
        found = review(PWQUALITY, action, foreseen=DryRun((*states_of(action).states, *states)))
        return [one.reason for one in found]

    for package in ("libpwquality1", "libpwquality-common", "cracklib-runtime", "libcrack2", "wamerican", "file"):
        assert install_with(ResourceState(f"package:{package}", "", "installed 1")) == [], package
    for package in ("exim4-daemon-light", "cron", "libpam-cap", "liblockfile-bin", "tinysshd", "at", "postfix"):
        (reason,) = install_with(ResourceState(f"package:{package}", "", "installed 1"))
        assert package in reason
        assert "person" in reason
    assert install_with(ResourceState("package:wazuh-agent", "installed 1", ""))
    scope, removed = TELNETD, RemovePackage(package="telnetd")
    more = ResourceState("package:site-agent", "installed 1", "")
    (found,) = review(scope, removed, foreseen=DryRun((*states_of(removed).states, more)))
    assert "site-agent would be removed too" in found.reason


def test_the_stories_of_the_demo_stay_within_their_rules(host):
    for rule, paths, actions in stories():
        scope = scope_of(rule)
        assert find_unnamed_place_objection(scope, paths, ()) is None, rule
        if rule == "V-258106":
            continue  # it is about the agent's own sudo, and refused
        assert find_foreign_action_objection(scope, actions, ()) is None, rule
        assert (
            host.assess_actions(actions, frozenset(paths), STIG.rules[rule].permitted_weakenings, scope).refusals == ()
        ), rule


NEEDED = {("V-257995", "V-257996"), ("V-257996", "V-257995")}
"""Rules that share a setting or need each other's."""


def test_one_rule_is_no_reason_for_the_honest_change_of_another(host):
    """Each story's last answer under each other rule: all that its own policy would allow."""
    tried, passed = 0, set()
    told = {rule: (paths, actions) for rule, paths, actions in stories() if rule != "V-258106"}
    for other in STIG.rules:
        scope = scope_of(other)
        for rule, (paths, actions) in told.items():
            shared = [action for action in actions if not isinstance(action, Reload)]
            if rule == other or not shared:
                continue
            tried += 1
            if not host.assess_actions(shared, frozenset(paths), STIG.rules[rule].permitted_weakenings, scope).refusals:
                passed.add((other, rule))
    assert tried >= 750
    assert passed <= NEEDED | {("V-257989", "V-257991"), ("V-257991", "V-257989")}


FILES = NoLinks(
    {
        "/etc/ssh/sshd_config": "X11Forwarding yes\nPermitRootLogin yes\n",
        "/etc/login.defs": "UMASK 022\n",
        "/etc/sudoers.d/a": "a ALL=(ALL) NOPASSWD: ALL\n",
        "/etc/pam.d/system-auth": "auth sufficient pam_unix.so nullok\n",
        "/etc/audit/rules.d/a.rules": "-f 1\n",
    }
)


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        ("V-258007", SetOption(path="/etc/ssh/sshd_config", key="PermitRootLogin", value="no")),
        ("V-258007", AppendLine(path="/etc/ssh/sshd_config", line="PasswordAuthentication no")),
        ("V-258007", WriteFile(path="/etc/ssh/sshd_config.d/00-x.conf", content="X11Forwarding no\nUsePAM yes\n")),
        ("V-258007", RemoveLine(path="/etc/ssh/sshd_config", line="PermitRootLogin yes")),
        ("V-258041", SetOption(path="/etc/login.defs", key="UMASK", value="077")),
        ("V-258086", ReplaceLine(path="/etc/sudoers.d/a", old="a ALL=(ALL) NOPASSWD: ALL", new="a ALL=(ALL) ALL")),
        (
            "V-258107",
            ReplaceLine(
                path="/etc/pam.d/system-auth",
                old="auth sufficient pam_unix.so nullok",
                new="auth sufficient pam_unix.so",
            ),
        ),
        ("V-258227", AppendLine(path="/etc/audit/rules.d/a.rules", line="-e 2")),
        ("V-258227", AppendLine(path="/etc/audit/rules.d/a.rules", line="-w /etc/passwd -p wa -k x")),
        ("V-258069", AppendLine(path="/etc/security/limits.d/x.conf", line="* hard core 0")),
        ("V-257807", WriteFile(path="/etc/modprobe.d/x.conf", content="install usb_storage /bin/false\n")),
        ("V-258007", Reload(service="auditd")),
    ],
)
def test_a_setting_that_the_rule_does_not_name_stays(rule, action):
    allowed = frozenset({getattr(action, "path", "")})
    assert list_action_refusals([action], allowed, FILES) == [], "the deny-lists have nothing against it"
    (found,) = list_action_refusals([action], allowed, FILES, scope=scope_of(rule))
    assert found.clause == "outside the rule"


PRIVILEGED = replace(
    STIG.rules["V-258227"],
    title="Record uses of privileged commands",
    requirement="Setuid programs have to be recorded by rules in /etc/audit/rules.d or /etc/audit/audit.rules.",
    fix=(
        "# deny is none of its business: -e 2\n"
        "if [ -f /etc/audit/audit.rules ]; then\n"
        "grep -e 2 -b 999999 -f 2 --loginuid-immutable /etc/audit/rules.d/*.rules && mount -e 1\n"
        "found=$(find / -perm -4000 | cut -f 2) || chmod 0600 /etc/audit/audit.rules\n"
        "echo '-a always,exit -F path=/usr/bin/su -F perm=x -F auid>=1000 -F auid!=unset -k privileged' >>$file\nfi\n"
    ),
    script=True,
    asks=frozenset(),
)
"""A rule of a data stream, whose only fix is a script."""


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("-e 2", False),
        ("-f 2", False),
        ("-b 999999", False),
        ("--loginuid-immutable", False),
        ("-a always,exit -F arch=b64 -S mount -F auid>=1000 -F auid!=unset -k x", False),
        ("-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid!=unset -k x", False),
        ("-a always,exit -F path=/usr/bin/su -F perm=x -F auid>=1000 -F auid!=unset -k privileged", True),
    ],
)
def test_the_commands_of_the_contents_script_name_no_audit_control_and_no_call(line, named):
    rule = replace(PRIVILEGED, code=PRIVILEGED.fix, whole=PRIVILEGED.requirement)
    scope = build_rule_scope(rule, None, Item(rule.id))
    path = "/etc/audit/rules.d/a.rules"
    found = [
        [one.clause for one in list_action_refusals([action], frozenset({path}), FILES, rule.asks, scope=scope)]
        for action in (AppendLine(path=path, line=line), WriteFile(path=path, content=f"-f 1\n{line}\n"))
    ]
    assert found == ([[], []] if named else [["outside the rule"], ["outside the rule"]])


@pytest.mark.parametrize(("key", "value"), [("-e", "2"), ("e", "2"), ("-f", "2"), ("-b", "999999")])
def test_a_control_is_named_with_its_value_by_every_action(key, value):
    path = "/etc/audit/rules.d/a.rules"
    control = f"-{key.lstrip('-')}"
    ways = SetOption(path=path, key=key, value=value), AppendLine(path=path, line=f"{control} {value}")

    def review_under(requirement):
        scope = RuleScope("r", f"{requirement} in /etc/audit/rules.d.")
        return [
            one.clause
            for action in ways
            for one in list_action_refusals([action], frozenset({path}), FILES, scope=scope)
        ]

    assert review_under(f"Set {control} as the host can bear: -e 1, -f 0 or -b 8192") == ["outside the rule"] * 2
    assert review_under(f"Set {control}  {value}") == []


@pytest.mark.parametrize(
    ("named", "path", "is_named"),
    [
        ("/etc/sysctl.conf", "/etc/sysctl.d/60-x.conf", True),
        ("/etc/sysctl.d", "/etc/sysctl.conf", True),
        ("/etc/sysctl.d/", "/etc/sysctl.d/x.conf", True),
        ("/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/x.conf", True),
        ("/etc/audit/rules.d/x.rules", "/etc/audit/audit.rules", True),
        ("/etc/modprobe.d/*.conf", "/etc/modprobe.d/x.conf", True),
        ("/etc/security/limits.conf", "/etc/security/limits.d/x.conf", True),
        ("/etc/sudoers", "/etc/sudoers.d/x", True),
        ("/etc/profile", "/etc/profile.d/x.sh", True),
        ("/etc/pam.d/system-auth", "/etc/pam.d/common-auth", True),
        ("/etc/security/pwquality.conf", "/etc/pam.d/common-password", True),
        ("The file login.defs", "/etc/login.defs", True),
        ("/etc/issue", "/etc/motd", False),
        ("/etc/passwd", "/etc/shadow", False),
        ("/etc/ssh/sshd_config", "/etc/sysctl.conf", False),
        ("/etc/cron.d", "/etc/cron.d/x", False),
        ("", "/etc/ssh/sshd_config", False),
        ("/etc/shadow-", "/etc/shadow-", True),
        ("/etc/shadow-", "/etc/shadow", False),
        ("/etc/systemd/logind.conf.d/", "/etc/systemd/logind.conf", True),
        ("/etc/dconf/db/local.d/00-a", "/etc/dconf/db/local.d/locks/a", False),
    ],
)
def test_a_file_is_named_with_its_drop_ins(named, path, is_named):
    assert RuleScope("r", f"Look at {named}.").covers_path(path) is is_named


def test_what_a_lesson_says_does_not_widen_the_rule():
    lesson = Lesson(id="l", rule="V-258007", mechanism="/etc/sudoers decides", environment="", advice="PermitRootLogin")
    scope = build_rule_scope(STIG.rules["V-258007"], None, Item("V-258007", lessons=(lesson,)))
    assert not scope.covers_path("/etc/sudoers")
    assert not scope.covers_setting("PermitRootLogin")
    assert scope.covers_setting("x11forwarding")


def test_the_vendors_own_script_is_judged_by_itself():
    assert find_foreign_action_objection(PWQUALITY, [create_vendor_action("r", "true\n")], ()) is None


def test_ageing_is_for_any_account_of_the_host_by_the_days_of_the_rule():
    scope = RuleScope("r", "chage --maxdays 60 USER")
    files = NoLinks({"/etc/passwd": "deploy:x:1000:1000::/home/deploy:/bin/bash\n"})
    asked = SetAgeing(account="deploy", setting="max", days=60)
    assert asked in scope.list_candidate_resource_actions(files)
    assert find_foreign_action_objection(
        scope, [msgspec.structs.replace(asked, days=90)], scope.list_candidate_resource_actions(files)
    )

import tomllib
from pathlib import Path

import pytest

from app.events import event_field_types
from app.events.event_field_types import AnyAction, AppendLine, Reload, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.skills.stig.pack import STIG
from app.targets import writable_areas
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.planned_effects_of_actions import MOST_ACTIONS
from app.targets.subjects import banner_policy

HERE = Path(__file__).parent
HOSTILE = tomllib.loads((HERE / "hostile.toml").read_text())["refused"]
HONEST = tomllib.loads((HERE / "honest.toml").read_text())["allowed"]
ANSWERS = Path(event_field_types.__file__).parents[1] / "engines" / "simulator" / "answers"
OF_THE_FIXTURE = {file for file in ANSWERS.glob("*.toml") if not file.stem.startswith("debian_")}
KINDS = {
    "set_option": event_field_types.SetOption,
    "replace_line": event_field_types.ReplaceLine,
    "remove_line": event_field_types.RemoveLine,
    "append_line": event_field_types.AppendLine,
    "write_file": event_field_types.WriteFile,
    "chmod": event_field_types.Chmod,
    "reload": event_field_types.Reload,
}


def as_action(table: dict[str, str]) -> AnyAction:
    """Past the wire's own checks: the policy has to hold without them."""
    return KINDS[table["do"]](**{name: value for name, value in table.items() if name != "do"})


def paths_of(*actions: AnyAction) -> frozenset[str]:
    return frozenset(action.path for action in actions if not isinstance(action, Reload))


def clauses(target: FixtureTarget, *actions: AnyAction) -> list[str]:
    return [refusal.clause for refusal in target.assess_actions(actions, paths_of(*actions)).refusals]


def laid_out(folder: Path) -> FixtureTarget:
    target = FixtureTarget("host", folder)
    target.prepare()
    return target


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    return laid_out(tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def trapped(tmp_path_factory):
    return with_links(tmp_path_factory.mktemp("trapped"))


def with_links(folder: Path) -> FixtureTarget:
    """A host with links in the places that may be written."""
    target = laid_out(folder)
    (folder / "root/etc/profile.d/linked.sh").symlink_to("/etc/profile.d/lang.sh")
    (folder / "root/etc/modprobe.d/outside").symlink_to("../../../..")
    (folder / "root/etc/crypto-policies/policies").symlink_to("/etc/crypto-policies")
    return target


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: str(case["action"])[:70].encode("ascii", "replace").decode())
def test_a_hostile_action_is_refused_by_its_clause(trapped, case):
    action = as_action(case["action"])
    refusals = trapped.assess_actions(
        [action], frozenset(case["plan"]) if "plan" in case else paths_of(action)
    ).refusals
    assert [refusal.clause for refusal in refusals] == [case["clause"]]
    assert refusals[0].action is action
    assert refusals[0].reason.endswith(".")


def test_the_corpus_is_not_small():
    assert len(HOSTILE) >= 150


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case["why"])
def test_an_honest_change_is_allowed_and_can_be_made(tmp_path, case):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    actions = [as_action(table) for table in case["actions"]]
    paths, asks = paths_of(*actions), frozenset(case.get("asks", ()))
    assert target.assess_actions(actions, paths, asks).refusals == ()
    applied = target.apply("run.V-1.1", actions, paths, asks)
    assert target.describe_drift(applied.changes) == ()


@pytest.mark.parametrize("file", sorted(OF_THE_FIXTURE), ids=lambda file: file.stem)
def test_the_stories_of_the_demo_are_allowed_but_the_one_about_the_agents_own_sudo(host, file):
    for rule, body in tomllib.loads(file.read_text()).items():
        for attempt in body["try"]:
            actions = [as_action(table) for table in attempt["actions"]]
            refusals = host.assess_actions(
                actions, frozenset(attempt["paths"]), STIG.rules[rule].permitted_weakenings
            ).refusals
            assert {refusal.clause for refusal in refusals} == ({"protected identity"} if rule == "V-258106" else set())


@pytest.mark.parametrize(
    "line", ["zzz", "zzz 1", "zzz = 1", "zzz=1", "zzz yes # really", "[zzz]", "- zzz", "zzz: 1", " x"]
)
@pytest.mark.parametrize(
    "path",
    [
        pattern.replace("*", "new")
        for pattern, judge in writable_areas.JUDGES
        if judge != banner_policy.judge_invisible_characters_in_banner
    ],
)
def test_what_is_not_understood_does_not_run(host, path, line):
    action = AppendLine(path=path, line=line)
    assert len(host.assess_actions([action], frozenset({path})).refusals) == 1


def test_an_answer_holds_twelve_actions_and_none_twice(host):
    action = SetOption(path="/etc/login.defs", key="UMASK", value="077")
    assert clauses(host, action, action) == ["too much"]
    many = [WriteFile(path=f"/etc/modprobe.d/{n}.conf", content="blacklist sctp\n") for n in range(MOST_ACTIONS + 2)]
    assert [refusal.action for refusal in host.assess_actions(many, paths_of(*many)).refusals] == many[MOST_ACTIONS:]


def test_actions_are_judged_one_after_the_other(host):
    """Alone the second is harmless; behind the first it would put the good line out of force."""
    path = "/etc/ssh/sshd_config.d/99-last.conf"
    actions = [
        WriteFile(path=path, content="GSSAPIAuthentication no\n", mode="0600"),
        AppendLine(path=path, line="GSSAPIAuthentication yes"),
    ]
    assert [refusal.action for refusal in host.assess_actions(actions, paths_of(*actions)).refusals] == [actions[1]]


@pytest.mark.parametrize("goal", ["runlevel3", "custom"])
def test_a_link_to_another_boot_target_is_no_loss(tmp_path, goal):
    target, units = laid_out(tmp_path), tmp_path / "root/etc/systemd/system"
    units.mkdir(parents=True)
    (units / "default.target").symlink_to(f"/usr/lib/systemd/system/{goal}.target")
    (boot,) = [probe for probe in target.check_health() if probe.name == "next-boot"]
    assert f"boots into {goal}.target" in boot.holds
    assert clauses(target, SetOption(path="/etc/login.defs", key="UMASK", value="077")) == []


def test_what_was_good_may_not_be_put_out_of_force_by_moving_it(tmp_path):
    target = laid_out(tmp_path)
    config = tmp_path / "root/etc/ssh/sshd_config"
    first, second = "HostbasedAuthentication yes", "HostbasedAuthentication no"
    rest = config.read_text().replace(f"{first}\n", "").replace(f"{second}\n", "")
    config.write_text(f"{second}\n{first}\n{rest}")
    action = WriteFile(path="/etc/ssh/sshd_config", content=f"{first}\n{second}\n{rest}", mode="0600")
    assert clauses(target, action) == ["weakening"]


def test_the_last_administrator_keeps_the_way_in(tmp_path):
    """To drop a line with NOPASSWD is honest; to drop the only one by which anybody may still act as root is not."""
    target = laid_out(tmp_path)
    sudoers = tmp_path / "root/etc/sudoers"
    loose = "%wheel ALL=(ALL) NOPASSWD: ALL"
    sudoers.chmod(0o600)
    sudoers.write_text(sudoers.read_text().replace("%wheel\tALL=(ALL)\tALL", loose, 1))
    strict = ReplaceLine(path="/etc/sudoers", old=loose, new="%wheel ALL=(ALL) ALL")
    assert target.assess_actions([strict], paths_of(strict)).refusals == ()
    gone = RemoveLine(path="/etc/sudoers", line=loose)
    assert clauses(target, gone) == ["lockout"]


def test_locked_audit_rules_are_not_unlocked(tmp_path):
    target = laid_out(tmp_path)
    with (tmp_path / "root/etc/audit/audit.rules").open("a") as file:
        file.write("-e 2\n")
    action = ReplaceLine(path="/etc/audit/audit.rules", old="-e 2", new="-e 1")
    assert clauses(target, action) == ["evidence tampering"]


def test_texts_too_long_to_compare_are_judged_whole(host):
    path = "/etc/profile.d/tmout.sh"
    actions = [WriteFile(path=path, content="\n" * 4000), WriteFile(path=path, content="#\n" * 2000 + "id")]
    assert clauses(host, *actions) == ["not understood"]


def test_rules_of_a_pam_stack_keep_their_order(host):
    path = "/etc/pam.d/system-auth"
    lines = host.files.read(path).decode().splitlines()
    moved = next(line for line in lines if "pam_faillock.so preauth" in line)
    late = [line for line in lines if line != moved]
    late.insert(late.index(next(line for line in late if "pam_deny.so" in line)) + 1, moved)
    action = WriteFile(path=path, content="\n".join(late) + "\n")
    assert clauses(host, action) == ["not understood"]


def test_a_reload_needs_no_plan(host):
    assert (
        host.assess_actions(
            [Reload(service="sshd"), Reload(service="auditd.service"), Reload(service="sshd")], frozenset()
        ).refusals
        == ()
    )


def test_what_authselect_writes_is_left_to_it_and_the_reason_says_how(tmp_path):
    target = laid_out(tmp_path)
    linked, kept = tmp_path / "root/etc/pam.d/system-auth", tmp_path / "root/etc/authselect"
    kept.mkdir()
    linked.rename(kept / "system-auth")
    linked.symlink_to("/etc/authselect/system-auth")
    action = AppendLine(path="/etc/pam.d/system-auth", line="auth required pam_faildelay.so delay=4000000")
    assert clauses(target, action) == ["escape"]
    (kept / "authselect.conf").write_text("sssd\nwith-faillock\n")
    (refusal,) = target.assess_actions([action], paths_of(action)).refusals
    assert refusal.clause == "impossible here"
    assert "by authselect from the profile sssd" in refusal.reason
    assert "authselect enable-feature" in refusal.reason


TIME = "-a always,exit -F arch=b32 -S adjtimex -S settimeofday -F key=time"
DENIED = "-a always,exit -F arch=b64 -S open -F exit=-EACCES -F auid>=1000 -F auid!=unset -F key=access"


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        (TIME, "-a always,exit -F arch=b32 -S adjtimex,settimeofday,stime -F key=time", []),
        (TIME, TIME.replace("-S settimeofday", "-S settimeofday -S clock_settime"), []),
        (DENIED, DENIED.replace("-S open", "-S open -S truncate"), []),
        (TIME, TIME.replace(" -S settimeofday", ""), ["evidence tampering"]),
        (TIME, TIME.replace("-S adjtimex", "-S stime"), ["evidence tampering"]),
        (
            TIME,
            TIME.replace("key=time", "key=other").replace("-S adjtimex", "-S adjtimex -S stime"),
            ["evidence tampering"],
        ),
        (DENIED, DENIED.replace("EACCES", "EPERM").replace("-S open", "-S open -S creat"), ["evidence tampering"]),
        (
            DENIED,
            DENIED.replace("always,exit", "never,exit").replace("-S open", "-S open -S creat"),
            ["evidence tampering"],
        ),
    ],
)
def test_an_audit_rule_may_be_widened_by_system_calls_and_changed_in_no_other_way(tmp_path, old, new, refused):
    target = laid_out(tmp_path)
    rules = tmp_path / "root/etc/audit/rules.d/50-own.rules"
    rules.write_text(f"{old}\n")
    assert clauses(target, ReplaceLine(path="/etc/audit/rules.d/50-own.rules", old=old, new=new)) == refused


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_backslash_at_the_end_of_a_line_is_refused_whether_or_not_a_line_follows(host, end):
    written = WriteFile(path="/etc/sysctl.d/50-x.conf", content=f"kernel.randomize_va_space = 2 \\{end}")
    (refusal,) = host.assess_actions((written,), paths_of(written)).refusals
    assert refusal.clause == "obfuscation"
    assert "a backslash at the end would join the next line" in refusal.reason

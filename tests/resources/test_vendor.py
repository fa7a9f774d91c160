import hashlib

import pytest

from app.events.event_field_types import Chmod, WriteFile
from app.resources.account import SetAgeing
from app.resources.kind import HostState, ResourceState, RuleTexts
from app.resources.vendor_script import RunVendorScript, create_vendor_action
from app.syntax.host_files_protocol import FileState
from app.targets.change_assessment import assess_change
from app.targets.effects.too_strict_values import list_key_value_texts_asked_by_rule
from app.targets.planned_effects_of_actions import ProposedChange
from app.targets.policy import list_action_refusals
from app.targets.read_tracking_cache import ReadTrackingCache
from app.targets.resources.resource_dry_run import DryRun
from tests.resources.case import KindCase, Sample
from tests.targets.hosts import host
from tests.targets.resources.test_resource_policy import NoLinks

PROFILE = "/etc/profile.d/x.sh"
SCRIPT = f"echo '# a' >{PROFILE}\n"
ACTION = create_vendor_action("r", SCRIPT)
CASE = KindCase(
    samples=(Sample(ACTION, HostState(""), ResourceState("vendor:r", "", f"ran {ACTION.sha256}"), None),),
    rule=RuleTexts("r", "the content's own script"),
)
PLACE = frozenset({"vendor:r"})
SSHD = "/etc/ssh/sshd_config"
STANDS = NoLinks({SSHD: "PermitRootLogin no\n"})


def ran(action, text=""):
    made = {PROFILE: FileState(text.encode(), 0o644, "root:root")} if text else {}
    return DryRun((ResourceState("vendor:r", "", f"ran {action.sha256}"),), files=made)


def clauses(*actions, foreseen=None):
    found = list_action_refusals(list(actions), PLACE, STANDS, foreseen=foreseen or ran(actions[0], "# a\n"))
    return [one.clause for one in found]


def test_one_that_weakens_nothing_on_the_copy_may_be_asked_about():
    assert clauses(create_vendor_action("r", SCRIPT)) == []


def test_one_that_weakens_something_on_the_copy_is_refused():
    action = create_vendor_action("r", "true")
    made = {SSHD: FileState(b"PermitRootLogin yes\n", 0o644, "root:root")}
    foreseen = DryRun(ran(action).states, files=made)
    assert clauses(action, foreseen=foreseen) == ["weakening"]


@pytest.mark.parametrize(
    ("script", "digest", "clause"),
    [
        (SCRIPT, hashlib.sha256(b"another").hexdigest(), "not understood"),
        ("echo \x1b[8m\n", None, "obfuscation"),
        ("echo \u0430\n", None, "obfuscation"),
        (f"echo {' ' * 400} rm\n", None, "obfuscation"),
    ],
)
def test_what_is_not_what_it_says_or_cannot_be_read_is_refused(script, digest, clause):
    digest = digest or hashlib.sha256(script.encode()).hexdigest()
    assert clauses(RunVendorScript(rule="r", sha256=digest, script=script)) == [clause]


def test_it_is_a_change_by_itself():
    assert clauses(create_vendor_action("r", SCRIPT), create_vendor_action("r", "true")) == ["too much"]


def test_the_whole_script_stands_in_what_a_person_is_shown_with_what_it_did_on_the_copy():
    action = create_vendor_action("r", SCRIPT)
    shown = assess_change(
        ProposedChange((action,), PLACE), STANDS, ran(action, "# a\n"), ReadTrackingCache(), None
    ).diff
    assert shown.startswith(f"vendor's script r, sha256 {action.sha256}\n| {SCRIPT.strip()}\n| \nresource vendor:r\n")
    assert "+# a\n" in shown


LOGIN, ISSUE, SHADOW, STACK = "/etc/login.defs", "/etc/issue", "/etc/shadow", "/etc/pam.d/common-password"
HASH = "password [success=1 default=ignore] pam_unix.so obscure use_authtok yescrypt{}\n"


@pytest.mark.parametrize(
    ("path", "was", "now", "clause"),
    [
        (LOGIN, "PASS_MAX_DAYS 99999\n", "PASS_MAX_DAYS 1\n", "destruction"),
        (LOGIN, "PASS_MAX_DAYS 99999\n", "PASS_MAX_DAYS 60\n", ""),
        (LOGIN, "ENCRYPT_METHOD SHA512\n", "ENCRYPT_METHOD SHA512\nSHA_CRYPT_MIN_ROUNDS 999999\n", "destruction"),
        (ISSUE, "Authorised use only.\n", "\n", "destruction"),
        (STACK, HASH.format(""), HASH.format(" rounds=65536"), ""),
        (STACK, HASH.format(""), HASH.format(" rounds=999999"), "destruction"),
        (SSHD, "PermitRootLogin no\n", "PermitRootLogin yes\n", "weakening"),
    ],
)
def test_the_same_result_gets_the_same_verdict_by_a_script_and_by_a_typed_action(path, was, now, clause):
    stands = NoLinks({path: was})
    typed = WriteFile(path=path, content=now)
    script = create_vendor_action("r", f"cat >{path}")
    foreseen = DryRun(ran(script).states, files={path: FileState(now.encode(), 0o644, "root:root")})
    by_hand = list_action_refusals([typed], frozenset({path}), stands)
    by_script = list_action_refusals([script], PLACE, stands, foreseen=foreseen)
    assert [one.clause for one in by_hand] == [one.clause for one in by_script] == ([clause] if clause else [])


AGES = "root:$6$x:20000:{}:99999:7:::\nbob:$6$x:20000:0:99999:7:::\n"
TODAY = 20100


@pytest.mark.parametrize(
    ("who", "now", "clause"),
    [
        ("root", "root:$6$x:20000:0:365:7:::", "lockout"),
        ("bob", "bob:$6$x:20000:0:365:7:::", ""),
        ("bob", "bob:$6$x:20000:0:60:7:::", "lockout"),
        ("bob", "bob:$6$x:20000:9:5:7:::", "lockout"),
    ],
)
def test_ageing_is_judged_alike_by_a_script_and_by_a_typed_action(who, now, clause):
    """root logs in by a key."""
    whole = AGES.format(0)
    after = "".join(f"{now}\n" if line.startswith(who) else f"{line}\n" for line in whole.splitlines())
    script = create_vendor_action("r", f"chage {who}")
    files = {SHADOW: FileState(after.encode(), 0o640, "root:shadow")}
    foreseen = DryRun(ran(script).states, frozenset({"account:root"}), TODAY, files=files)
    stands = NoLinks({SHADOW: FileState(whole.encode(), 0o640, "root:shadow")})
    by_script = list_action_refusals([script], PLACE, stands, foreseen=foreseen)

    fields = now.split(":")
    typed = SetAgeing(account=who, setting="max", days=int(fields[4]))
    states = tuple(
        f"min {one[3]}, max {one[4]}, warn {one[5]}, inactive -, changed {one[2]}"
        for one in (["", "", "20000", "0", "99999", "7"], fields)
    )
    asked = DryRun((ResourceState(f"account:{who}", *states),), frozenset({"account:root"}), TODAY)
    by_hand = list_action_refusals([typed], frozenset({f"account:{who}"}), stands, foreseen=asked)
    assert [one.clause for one in by_hand] == [one.clause for one in by_script] == ([clause] if clause else [])


@pytest.mark.parametrize("option", ["noexec", "requiretty"])
def test_a_script_that_would_cut_our_own_sudo_is_refused_before_it_runs(option):
    script = create_vendor_action("r", f"echo Defaults {option} >>/etc/sudoers")
    stands = host()
    before = stands.read("/etc/sudoers").decode()
    files = {"/etc/sudoers": FileState(f"{before}Defaults {option}\n".encode(), 0o440, "root:root")}
    foreseen = DryRun(ran(script).states, files=files)
    (refusal,) = list_action_refusals([script], PLACE, stands, foreseen=foreseen)
    assert refusal.clause == "protected identity"
    assert option in refusal.reason


def state(mode, owner="root:root", text="x\n"):
    return FileState(text.encode(), mode, owner)


def clauses_by_script(before, after, host_files=None):
    """What the policy says to a script that makes these states of these files."""
    action = create_vendor_action("r", "true")
    foreseen = DryRun(ran(action).states, files=after)
    return [
        one.clause
        for one in list_action_refusals([action], PLACE, NoLinks({**(host_files or {}), **before}), foreseen=foreseen)
    ]


MODES = [
    ("/etc/sudoers", 0o440, 0o666, "privilege"),
    ("/etc/sudoers", 0o440, 0o640, "privilege"),
    ("/etc/shadow", 0o000, 0o644, "privilege"),
    ("/etc/shadow", 0o640, 0o644, "privilege"),
    ("/etc/passwd", 0o644, 0o666, "privilege"),
    ("/etc/passwd", 0o644, 0o600, "destruction"),
    (SSHD, 0o600, 0o666, "privilege"),
    (SSHD, 0o600, 0o644, "privilege"),
    (SSHD, 0o644, 0o600, ""),
    ("/etc/login.defs", 0o644, 0o755, "privilege"),
    ("/etc/login.defs", 0o666, 0o644, ""),
    ("/etc/shadow", 0o644, 0o000, ""),
    (PROFILE, None, 0o666, "privilege"),
    (PROFILE, None, 0o644, ""),
    (PROFILE, None, 0o600, "destruction"),
    (PROFILE, None, 0o755, "privilege"),
]


@pytest.mark.parametrize(("path", "was", "now", "clause"), MODES)
def test_a_mode_is_judged_alike_by_a_script_and_by_a_typed_action(path, was, now, clause):
    text = "# nothing\n"
    stands = {} if was is None else {path: state(was, text=text)}
    assert clauses_by_script(stands, {path: state(now, text=text)}) == ([clause] if clause else [])
    typed = (
        Chmod(path=path, mode=f"{now:04o}")
        if was is not None
        else WriteFile(path=path, content=text, mode=f"{now:04o}")
    )
    found = list_action_refusals([typed], frozenset({path}), NoLinks(stands))
    assert [one.clause for one in found] == ([clause] if clause else [])


@pytest.mark.parametrize(
    ("path", "was", "now", "clause"),
    [
        ("/etc/sudoers", state(0o440), state(0o440, "bob:root"), "privilege"),
        ("/etc/passwd", state(0o644), state(0o644, "bob:bob"), "privilege"),
        ("/etc/passwd", state(0o644), state(0o664, "root:bob"), "privilege"),
        ("/etc/sudoers", state(0o440), state(0o440, "root:bob"), "privilege"),
        ("/etc/shadow", state(0o640, "root:shadow"), state(0o640), "destruction"),
        ("/etc/shadow", state(0o640, "root:shadow"), state(0o600, "root:shadow"), "destruction"),
        ("/etc/shadow", state(0o640), state(0o640, "root:shadow"), ""),
        ("/etc/passwd", state(0o644, "bob:bob"), state(0o644), ""),
        ("/etc/passwd", state(0o644), state(0o644, "root:bob"), ""),  # everybody reads it
        ("/etc/sudoers.d/x", None, state(0o440, "bob:root"), "privilege"),
        ("/etc/sudoers.d/x", None, state(0o440, "root:bob"), "privilege"),
        ("/etc/login.defs", state(0o644), state(0o4644), "privilege"),
        ("/etc/crontab", state(0o644), state(0o600), ""),
        ("/etc/crontab", state(0o600), state(0o644), "privilege"),
        ("/etc/crontab", state(0o644), state(0o644, "bob:bob"), "privilege"),
        ("/etc/cron.d/x", None, state(0o644), ""),
        ("/etc/cron.daily/x", None, state(0o755), ""),
        ("/etc/cron.d/x", None, state(0o666), "privilege"),
        ("/etc/cron.d/x", None, state(0o4755), "privilege"),
    ],
)
def test_owners_and_files_that_nobody_else_judges(path, was, now, clause):
    found = clauses_by_script({path: was} if was else {}, {path: now})
    assert found == ([clause] if clause else [])


def test_a_mode_that_the_rule_states_is_asked_for():
    path = "/etc/crontab"
    action = create_vendor_action("r", "true")
    foreseen = DryRun(ran(action).states, files={path: state(0o644)})
    asks = frozenset({f"mode {path} 0644"})
    assert list_action_refusals([action], PLACE, NoLinks({path: state(0o600)}), asks, foreseen) == []


LIMITS = "/etc/security/limits.conf"


@pytest.mark.parametrize(
    ("path", "was", "now", "clause"),
    [
        (PROFILE, "", "umask 000\n", "weakening"),
        (PROFILE, "", "PATH=.:$PATH\n", "weakening"),
        (PROFILE, "", "TMOUT=1\nreadonly TMOUT\n", "destruction"),
        (PROFILE, "TMOUT=600\n", "TMOUT=600\n[ -t 0 ] && TMOUT=5\n", "weakening"),
        (PROFILE, "", "umask 777\n", "destruction"),
        (PROFILE, "", "umask 0177\n", "destruction"),
        (PROFILE, "", "umask 077\nTMOUT=600\nreadonly TMOUT\n", ""),
        (LOGIN, "UMASK 022\n", "UMASK 0777\n", "destruction"),
        (LOGIN, "UMASK 022\n", "UMASK 077\n", ""),
        (SSHD, "", "MaxStartups 1:100:1\n", "destruction"),
        (SSHD, "", "MaxStartups 10:100:5\n", "destruction"),
        (SSHD, "", "MaxStartups 10:30:60\n", ""),
        (
            SSHD,
            "Match User bob\n\tX11Forwarding no\n",
            "Match User bob\n\tX11Forwarding no\n\tMaxAuthTries 1\n",
            "destruction",
        ),
        (LIMITS, "", "* hard nproc 1\n", "destruction"),
        (LIMITS, "", "* - nproc 99\n", "destruction"),
        (LIMITS, "", "@users hard fsize 1\n", "destruction"),
        (LIMITS, "", "* hard cpu 1\n", "destruction"),
        (LIMITS, "", "* hard nproc 4096\n* hard core 0\n", ""),
    ],
)
def test_bounds_and_the_start_of_shells_hold_for_a_script(path, was, now, clause):
    found = clauses_by_script({path: state(0o644, text=was)}, {path: state(0o644, text=now)})
    assert found == ([clause] if clause else [])


@pytest.mark.parametrize("now", ["TMOUT=30\n", "umask 0177\n"])
def test_a_bound_in_a_value_of_several_numbers_may_be_stated_by_the_rule(now):
    action = create_vendor_action("r", "true")
    foreseen = DryRun(ran(action).states, files={PROFILE: state(0o644, text=now)})
    stated = list_key_value_texts_asked_by_rule(f"Set {now.replace('=', ' to ')}")
    assert list_action_refusals([action], PLACE, NoLinks({}), frozenset(), foreseen)
    assert list_action_refusals([action], PLACE, NoLinks({}), stated, foreseen) == []


def test_the_diff_names_a_new_owner_and_the_file_is_a_warning():
    action = create_vendor_action("r", "true")
    files = {"/etc/cron.d/x": state(0o644), "/etc/passwd": state(0o644, "root:bob", "")}
    foreseen = DryRun(ran(action).states, files=files)
    host = NoLinks({"/etc/passwd": state(0o644, text="")})
    shown = assess_change(ProposedChange((action,), PLACE), host, foreseen, ReadTrackingCache(), None)
    assert "diff a/etc/passwd b/etc/passwd\nold owner root:root\nnew owner root:bob\n" in shown.diff
    assert "diff a/etc/cron.d/x b/etc/cron.d/x\nnew file mode 0644\n" in shown.diff

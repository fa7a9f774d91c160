import hashlib

import pytest

from app.events.vocabulary import WriteFile
from app.resources.account import SetAgeing
from app.resources.kind import HostState, ResourceState, RuleTexts
from app.resources.vendor import RunVendorScript, create_vendor_action
from app.syntax.files import FileState
from app.targets.assessment import assess_change
from app.targets.change_plan import ProposedChange
from app.targets.policy import review_actions
from app.targets.resources.dry_run import DryRun
from tests.resources.case import KindCase, Sample
from tests.targets.hosts import host
from tests.targets.resources.test_resource_policy import NoLinks

SCRIPT = "echo a >/etc/issue\n"
ACTION = create_vendor_action("r", SCRIPT)
CASE = KindCase(
    samples=(
        Sample(
            ACTION,
            HostState(""),
            ResourceState("vendor:r", "", f"ran {ACTION.sha256}"),
            None,
        ),
    ),
    rule=RuleTexts("r", "the content's own script"),
)
PLACE = frozenset({"vendor:r"})
SSHD = "/etc/ssh/sshd_config"
STANDS = NoLinks({SSHD: "PermitRootLogin no\n"})


def ran(action, **files):
    made = {f"/etc/{name}": FileState(text.encode(), 0o644, "root:root") for name, text in files.items()}
    return DryRun((ResourceState("vendor:r", "", f"ran {action.sha256}"),), files=made)


def clauses(*actions, foreseen=None):
    found = review_actions(list(actions), PLACE, STANDS, foreseen=foreseen or ran(actions[0], issue="a\n"))
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
    shown = assess_change(ProposedChange((action,), PLACE), STANDS, ran(action, issue="a\n"), None, None).diff
    assert shown.startswith(f"vendor's script r, sha256 {action.sha256}\n| echo a >/etc/issue\n| \nresource vendor:r\n")
    assert "+a\n" in shown


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
    by_hand = review_actions([typed], frozenset({path}), stands)
    by_script = review_actions([script], PLACE, stands, foreseen=foreseen)
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
    by_script = review_actions([script], PLACE, stands, foreseen=foreseen)

    fields = now.split(":")
    typed = SetAgeing(account=who, setting="max", days=int(fields[4]))
    states = tuple(
        f"min {one[3]}, max {one[4]}, warn {one[5]}, inactive -, changed {one[2]}"
        for one in (["", "", "20000", "0", "99999", "7"], fields)
    )
    asked = DryRun((ResourceState(f"account:{who}", *states),), frozenset({"account:root"}), TODAY)
    by_hand = review_actions([typed], frozenset({f"account:{who}"}), stands, foreseen=asked)
    assert [one.clause for one in by_hand] == [one.clause for one in by_script] == ([clause] if clause else [])


@pytest.mark.parametrize("option", ["noexec", "requiretty"])
def test_a_script_that_would_cut_our_own_sudo_is_refused_before_it_runs(option):
    script = create_vendor_action("r", f"echo Defaults {option} >>/etc/sudoers")
    stands = host()
    before = stands.read("/etc/sudoers").decode()
    files = {"/etc/sudoers": FileState(f"{before}Defaults {option}\n".encode(), 0o440, "root:root")}
    foreseen = DryRun(ran(script).states, files=files)
    (refusal,) = review_actions([script], PLACE, stands, foreseen=foreseen)
    assert refusal.clause == "protected identity"
    assert option in refusal.reason

import hashlib

import pytest

from app.resources.kind import HostState, ResourceState, RuleTexts
from app.resources.vendor import RunVendorScript, create_vendor_action
from app.syntax.files import FileState
from app.targets.assessment import assess_change
from app.targets.change_plan import ProposedChange
from app.targets.policy import review_actions
from app.targets.resources.dry_run import DryRun
from tests.resources.case import KindCase, Sample
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

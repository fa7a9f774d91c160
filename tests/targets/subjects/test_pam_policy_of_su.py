"""Who may use su: the one change that is allowed there, and what would shut root or everybody out."""

import pytest

from app.candidates.ansible_tasks_to_actions import translate_tasks
from app.events.event_field_types import AppendLine, RemoveLine, ReplaceLine, WriteFile
from app.targets.fixture.fixture_target import FixtureTarget

SU, COMMENTED = "/etc/pam.d/su", "#auth\t\trequired\tpam_wheel.so use_uid"
STACK = f"""#%PAM-1.0
auth\t\trequired\tpam_env.so
auth\t\tsufficient\tpam_rootok.so
#auth\t\tsufficient\tpam_wheel.so trust use_uid
{COMMENTED}
auth\t\tsubstack\tsystem-auth
account\t\tinclude\t\tsystem-auth
session\t\tinclude\t\tsystem-auth
"""
WHEEL = COMMENTED.removeprefix("#")
TASKS = r"""
- replace:
    path: /etc/pam.d/su
    regexp: ^[\s]*#[\s]*auth[\s]+required[\s]+pam_wheel\.so[\s]+use_uid$
    replace: auth             required        pam_wheel.so use_uid
"""


@pytest.fixture
def target(tmp_path):
    one = FixtureTarget("fixture", tmp_path)
    one.prepare()
    (tmp_path / "root/etc/pam.d/su").write_text(STACK)
    return one


def refusals(target, *actions):
    return [one.clause for one in target.assess_actions(actions, frozenset({SU})).refusals]


def test_only_members_of_wheel_may_use_su_as_the_contents_own_task_has_it(target):
    assert refusals(target, *translate_tasks(TASKS, target.files)) == []
    assert refusals(target, ReplaceLine(path=SU, old=COMMENTED, new=WHEEL)) == []


def test_su_is_not_closed_to_everybody(target, tmp_path):
    group = tmp_path / "root/etc/group"
    group.write_text("".join(line for line in group.read_text().splitlines(True) if not line.startswith("wheel:")))
    assert refusals(target, ReplaceLine(path=SU, old=COMMENTED, new=WHEEL)) == ["protected identity"]


@pytest.mark.parametrize(
    ("action", "clause"),
    [
        (ReplaceLine(path=SU, old=COMMENTED, new="auth sufficient pam_wheel.so trust use_uid"), "privilege"),
        (ReplaceLine(path=SU, old=COMMENTED, new="auth required pam_wheel.so use_uid deny"), "privilege"),
        (ReplaceLine(path=SU, old=COMMENTED, new="auth sufficient pam_wheel.so use_uid"), "privilege"),
        (AppendLine(path=SU, line=WHEEL), "protected identity"),
        (RemoveLine(path=SU, line="auth\t\tsufficient\tpam_rootok.so"), "privilege"),
        (RemoveLine(path=SU, line="auth\t\tsubstack\tsystem-auth"), "privilege"),
        (WriteFile(path=SU, content=STACK.replace(COMMENTED, "").replace("auth\t\tsuf", f"{WHEEL}\nauth\t\tsuf", 1)),
         "protected identity"),
        (WriteFile(path=SU, content=STACK.replace(COMMENTED, WHEEL).replace("pam_env", "pam_exec")), "privilege"),
    ],
)  # fmt: skip
def test_nothing_else_of_the_stack_of_su_may_change(target, action, clause):
    assert clause in refusals(target, action)


def test_a_second_rule_of_wheel_is_none_of_ours(target, tmp_path):
    (tmp_path / "root/etc/pam.d/su").write_text(STACK.replace("#auth\t\tsuff", "auth\t\tsuff"))
    assert refusals(target, ReplaceLine(path=SU, old=COMMENTED, new=WHEEL)) == ["privilege"]

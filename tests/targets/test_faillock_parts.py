"""pam_faillock in Debian's stack: accepted where it counts failures, refused everywhere else."""

import pytest

from app.events.event_field_types import WriteFile
from app.targets.fixture.fixture_target import FixtureTarget

PATH = "/etc/pam.d/common-auth"
PREAUTH = "auth required pam_faillock.so preauth\n"
UNIX = "auth\t[success=1 default=ignore]\tpam_unix.so nullok\n"
FAIL, SUCC = "auth [default=die] pam_faillock.so authfail\n", "auth sufficient pam_faillock.so authsucc\n"
REST = "auth\trequisite\t\t\tpam_deny.so\nauth\trequired\t\t\tpam_permit.so\n"


@pytest.fixture
def judge(tmp_path):
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    (tmp_path / f"root{PATH}").write_text(f"{UNIX}{REST}")

    def judge_stack(*rules):
        action = WriteFile(path=PATH, content="".join(rules))
        return [one.clause for one in target.assess_actions([action], frozenset({PATH})).refusals]

    return judge_stack


def test_the_three_parts_are_accepted_together(judge):
    assert judge(PREAUTH, UNIX, FAIL, SUCC, REST) == []


@pytest.mark.parametrize(
    "rules",
    [
        (PREAUTH, SUCC, UNIX, FAIL, REST),  # failures would be forgotten at each login
        (UNIX, SUCC, REST),  # whoever has the wrong password would come in
        (FAIL, UNIX, REST),  # nobody would come in
        (UNIX, FAIL, REST),  # the jump would lead to pam_deny
        (UNIX, SUCC, FAIL, REST),
        (UNIX, FAIL, SUCC.replace("sufficient", "optional"), REST),
        (UNIX, FAIL.replace("[default=die]", "[default=ignore]"), SUCC, REST),
        (UNIX, FAIL.replace("authfail", "authfail deny=9"), SUCC, REST),
    ],
)
def test_every_other_place_is_refused(judge, rules):
    assert len(judge(*rules)) == 1

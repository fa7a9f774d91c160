"""What counts as harm: worse than before the run, and nothing that was broken already."""

import pytest

from app.events.kinds import SentryProbed
from app.events.words import Probe
from app.loop.attempt import Attempt
from app.loop.harm import ailing, worse
from app.loop.prompts import About, user
from app.loop.state import Item
from tests.hostfiles import DictFiles
from tests.loop.playing import rule

FINE = (Probe("sshd", True, "starts"), Probe("pam", True, "sane"))
BROKEN = Probe("pam", False, "no auth line")


@pytest.mark.parametrize(
    ("before", "now", "harm"),
    [
        (FINE, FINE, None),
        (FINE, (FINE[0], BROKEN), "pam: no auth line"),
        ((FINE[0], BROKEN), (FINE[0], BROKEN), None),
        ((FINE[0], BROKEN), FINE, None),
        ((FINE[0], BROKEN), (Probe("sshd", False, "refuses"), BROKEN), "sshd: refuses"),
        (FINE[:1], (FINE[0], BROKEN), "pam: no auth line"),
        (FINE, FINE[:1], "pam: it can no longer be asked; before the run: sane"),
        ((FINE[0], BROKEN), FINE[:1], None),
    ],
)
def test_harm_is_what_is_worse_than_before_the_run(before, now, harm):
    assert worse(before, now) == harm


def test_what_failed_before_is_ailing():
    assert ailing((FINE[0], BROKEN)) == ("pam",)


def test_the_sentry_is_told_which_failures_are_none_of_the_changes():
    at = {"rule": "A", "attempt": 1}
    probed = SentryProbed(**at, probes=(Probe("sshd", False, "refuses"), BROKEN), drift=(), log=(), ailing=("pam",))
    told = user("triage", About(Item("A"), Attempt(1, 0.0, probed=probed), rule("A"), "h", DictFiles({}), {}), 4000)
    assert "\nFAILED sshd: refuses\nFAILED-BEFORE pam: no auth line\n" in told
    assert "marked FAILED-BEFORE failed before the run began" in told

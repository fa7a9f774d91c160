"""What a terminal shows of an event."""

import pytest

from app.cli.progress import render_event
from app.events.approval_policy import ChangeRisk, PeopleNeeded
from app.events.kinds import ActionApplied, ApprovalRequested, AttemptStarted
from app.loop.state import RunState


def test_a_vendors_script_is_shown_whole_before_it_is_asked_about():
    diff = "vendor's script r, sha256 0\n" + "| echo\n" * 2000 + "+the last line\n"
    asked = ApprovalRequested(approval="r1.A.3.9", rule="A", attempt=3, binds="", expires=0.0, diff=diff)
    shown = render_event(asked, RunState()).plain
    assert shown.count("| echo") == 2000
    assert shown.endswith("+the last line\n  ? A waits for approval. Read the change first: temper approve r1")


@pytest.mark.parametrize(
    ("special", "shown"),
    [
        ({}, "  attempt 3, lessons: 0"),
        ({"why_roles_stopped": "spent"}, "Attempt 3 takes what is proposed and no role has tried"),
        ({"vendor": True}, "Attempt 3 is the last resort: the vendor's script, if a person approves it"),
    ],
)
def test_an_attempt_that_no_role_plans_says_what_it_tries(special, shown):
    assert shown in render_event(AttemptStarted(rule="A", attempt=3, lessons=(), **special), RunState()).plain


def test_what_outlasts_a_rollback_is_shown_before_it_is_asked_about():
    risk = ChangeRisk(
        category="II", breaks=(), cuts_the_line=False, irreversible=True, replayed=False, warnings=("-e 2 holds",)
    )
    needs = PeopleNeeded(people=1, why="cannot be undone", by="Temper's own rule", risk=risk)
    asked = ApprovalRequested(approval="r1.A.3.9", rule="A", attempt=3, binds="", expires=0.0, diff="", needs=needs)
    assert (
        render_event(asked, RunState()).plain == "    warning: -e 2 holds\n  ? A waits for approval: temper approve r1"
    )


def test_a_changed_line_that_looks_like_a_files_name_is_shown():
    diff = "diff a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a note\n+++ b/etc/other\n"
    applied = ActionApplied(rule="A", attempt=1, journal="j", diff=diff, changes=(), seconds=0.0)
    assert render_event(applied, RunState()).plain.split("\n    ") == [
        "    diff a/x b/x",
        "@@ -1 +1 @@",
        "--- a note",
        "+++ b/etc/other",
    ]

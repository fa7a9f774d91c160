"""Lines of the log name the role that acted, and only a role of Temper's."""

import pytest
from msgspec.structs import replace

from app.events import kinds
from app.events.event_field_types import Probe
from app.events.record import GENESIS, build_recorded_event
from app.web.pages.mission.feed import to_feed_line
from app.web.pages.templating import render_template_to_text
from tests.web.pages.mission_log import LESSON

AT = {"rule": "V-1", "attempt": 1}
PLAN = kinds.PlanMade(**AT, approach="<b>no</b>", paths=(), steps=(), risk="", rollback="", validation="")
PROBED = kinds.SentryProbed(**AT, probes=(Probe("a", True, ""), Probe("b", False, "")), drift=(), log=())


def line(event):
    return to_feed_line(build_recorded_event("r", 1, 1.0, event, GENESIS))


@pytest.mark.parametrize(
    ("event", "role", "rest"),
    [
        (PLAN, "architect", " plan: <b>no</b>"),
        (replace(PLAN, without_role=True), None, "Plan without a role: <b>no</b>"),
        (kinds.LessonLearnt(**AT, lesson=LESSON), "architect", f" lesson: {LESSON.advice}"),
        (kinds.ActionApplied(**AT, journal="j", diff="", changes=(), seconds=0.1), "worker", " changed no file"),
        (PROBED, "sentry", ": 1 of 2 probes fine"),
        (kinds.SentryAlarm(**AT, reason="login: refused", by="probe"), "sentry", " alarm: login: refused"),
        (kinds.RunPaused(by="ann"), None, "Paused by ann"),
    ],
)
def test_a_line_begins_with_the_name_of_the_role_that_acted(event, role, rest):
    assert (line(event).role, line(event).rest) == (role, rest)


def test_a_persons_words_are_no_role():
    assert line(kinds.RunResumed(by="x", after_crash=True, reason="Sentry alarm")).role is None


def test_the_role_is_bold_in_its_colour_and_the_rest_is_escaped():
    drawn = render_template_to_text("partials/_fleet_feed.html", feed=[line(PLAN)])
    assert '<b class="rolename role-architect">Architect</b> plan: &lt;b&gt;no&lt;/b&gt;' in drawn

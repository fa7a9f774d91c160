"""What a run came to: the headline, before and after, the best moments, what was learnt."""

import msgspec

from app.events.kinds import ItemEscalated, ItemPassed, ItemStarted, RunFinished, RunScoped
from app.web.pages.mission.summary import build_summary
from app.web.pages.templating import render_template_to_text
from tests.runs.doors import house
from tests.web.pages.mission_log import FIRST, SECOND, log, upto, verdict


def test_the_headline_is_what_was_fixed_undone_and_left():
    told = build_summary(log())
    assert told.headline == "1 of 2 fixed in 5:00 · 1 change undone, verified · 1 needs you"
    assert [mark.stand for mark in told.before] == ["fail", "fail"]
    assert [mark.stand for mark in told.after] == ["pass", "fail"]
    assert [item.rule for item in told.needs] == [SECOND]
    assert [(one.lesson.rule, one.helped) for one in told.learnt] == [(FIRST, True)]


def test_the_best_moments_are_told_in_order_and_start_a_little_before_they_happen():
    told = build_summary(log()).moments
    assert [one.title for one in told] == ["Compliant, and harmful", "Failed, learned, fixed", "Escalated"]
    assert told[0].text == "The scanner passed the change. The Sentry found the nightly backup locked out."
    assert told[0].seq == 10  # where the change was made
    assert told[1].text == "Give the backup a login of its own."


def test_without_a_closing_scan_the_picture_says_so():
    told = build_summary(upto(ItemPassed))
    assert not told.rescanned
    assert [mark.stand for mark in told.after] == ["pass", "fail"]
    assert told.headline.startswith("1 of 2 fixed in ")
    assert "so far" in told.headline


def test_a_rollback_that_left_a_difference_is_said_aloud():
    events = [one.event for one in log()]
    at = next(number for number, one in enumerate(events) if hasattr(one, "differences"))
    events[at] = type(events[at])(
        rule=FIRST, attempt=1, journal="j", paths=(), differences=("/etc/x",), probes=(), seconds=1.0
    )
    assert "1 change undone, 1 NOT restored" in build_summary(log(events)).headline


def test_the_picture_is_one_svg_with_the_headline_in_it_and_hostile_text_is_text():
    told = build_summary(upto(RunFinished))
    context = {"simulated": True, "pace": 3.0, "skill": type("Skill", (), {"title": "<b>rules</b>"})}
    drawn = render_template_to_text("summary.svg", summary=told, **context)
    assert drawn.startswith("<svg ")
    assert "1 of 2 fixed in 5:00" in drawn
    assert "&lt;b&gt;rules" in drawn
    assert "simulated engines, ×3 pace" in drawn


def test_many_open_items_are_shown_by_the_question_that_they_leave():
    ids = [f"V-{number}" for number in range(8)]
    ends = [ItemEscalated(rule=one, reason="<b>", question="needs a partition" if one < "V-6" else "") for one in ids]
    started = [ItemStarted(rule=one, title=one, category="II") for one in ids]
    events = [one.event for one in upto(RunScoped)]
    events[-1] = msgspec.structs.replace(events[-1], order=tuple(ids))
    events += [event for pair in zip(started, ends, strict=True) for event in pair]
    told = build_summary(log(events))
    assert [(name, len(items)) for name, items in told.needs_by_question] == [
        ("needs a partition", 6),
        ("escalated", 2),
    ]
    page = render_template_to_text("partials/_left.html", summary=told, state=told.state)
    assert page.count("<details") == 2
    assert "Needs a partition <b>6</b>" in page
    assert "&lt;b&gt;" in page


async def test_rules_that_came_to_apply_and_fail_are_said_with_a_run_for_them(tmp_path):
    events = [one.event for one in log()]
    scoped = next(number for number, one in enumerate(events) if isinstance(one, RunScoped))
    asked = msgspec.structs.replace(events[0], rules=(*events[0].rules, "V-1", "V-2"), engine="none")
    before = [verdict(rule, "opening", "notapplicable") for rule in ("V-1", "V-2")]
    events = [asked, *events[1:scoped], *before, *events[scoped:-1], verdict("V-1", "closing", "fail"), events[-1]]
    assert build_summary(log(events)).failing_rules_without_verdict_before == ("V-1",)
    assert build_summary(log()).failing_rules_without_verdict_before == ()
    async with house(tmp_path / "data") as made:
        made.append("r1", *events)
        page = (await made.http.get("/runs/r1/summary")).text
    assert "1 rule had no verdict before and fails now" in page
    form = page.partition("Start a run for them")[0].rpartition("<form")[2]
    assert 'name="rules" value="V-1"' in form
    assert 'name="engine" value="none"' in form

"""Runs told as stories: >> is what decide() asks for next, << is what came of it. Read them from the top."""

from app.events.event_field_types import Budget
from tests.loop.playing import pack, rule
from tests.loop.story import story
from tests.loop.test_decide import played

ONE = pack([rule("A")])


def test_a_pass_goes_through_plan_act_review_and_triage():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE)) == run


def test_a_plan_that_takes_a_proposal_needs_no_worker_and_what_was_asked_comes_before_it():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< candidates, attempt.started
>> ask architect plan
<< questions
>> ask architect plan
<< plan
>> take candidate 1
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict fail
>> ask auditor review
<< verdict.explained
>> fail attempt scanner the scanner says fail:
<< attempt.failed scanner
>> gather facts
<< facts
>> roll back scanner
<< action.rolling_back scanner, action.rolled_back
>> ask architect reflect
<< attempt.reflected CONTINUE
>> start attempt A 2
<< attempt.started
>> ask architect plan
<< plan
>> take candidate 3
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, gathered="yes", asks=["yes"], takes="yes", verdict=["fail"])) == run


def test_compliant_but_locked_out_is_rolled_back_and_tried_again():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.alarm
>> fail attempt alarm locked out
<< attempt.failed alarm
>> gather facts
<< facts
>> roll back alarm
<< action.rolling_back alarm, action.rolled_back
>> ask architect reflect
<< attempt.reflected CONTINUE
>> start attempt A 2
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, sentry=["alarm"], approach=["a", "b"])) == run


def test_a_change_cut_by_a_crash_is_undone_and_made_again_in_the_same_attempt():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying
>> roll back interrupted
<< action.rolling_back interrupted, action.rolled_back
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, apply=["crash", "done"])) == run


def test_a_turn_cut_by_a_crash_is_asked_again():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< nothing: the process was killed
>> close crashed turn
<< turn.interrupted
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, turn=["crash"])) == run


def test_a_refused_change_never_runs_and_the_architect_thinks_again():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.refused
>> fail attempt refused c: r
<< attempt.failed refused
>> ask architect reflect
<< attempt.reflected CONTINUE
>> start attempt A 2
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, policy=["refuse"])) == run


def test_what_a_person_edits_is_judged_and_rehearsed_and_asked_about_anew():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> rehearse
<< action.rehearsed pass
>> request approval
<< approval.requested
>> wait
<< approval.edited
>> propose
<< action.proposed
>> judge
<< action.allowed
>> rehearse
<< action.rehearsed pass
>> request approval
<< approval.requested
>> wait
<< approval.given
>> apply
<< action.applying, action.applied
>> verify
<< verdict pass
>> ask auditor review
<< verdict.explained
>> watch
<< sentry.probed
>> ask sentry triage
<< sentry.clear
>> close item A passed
<< item.passed
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, mode="review", person=["edit", "approve"])) == run


def test_a_silent_worker_fails_the_attempt_after_three_turns():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< died
>> ask worker act
<< died
>> ask worker act
<< died
>> fail attempt engine the worker gave no usable answer in 3 turns
<< attempt.failed engine
>> use safe default reflect
<< attempt.reflected CONTINUE
>> close item A escalated 1 attempt did not pass; the last: the worker gave no usable answer in 3 turns
<< item.escalated
>> scan closing
<< scan.started, verdict fail, scan.finished
>> finish
<< run.finished
"""
    assert story(played(ONE, budget=Budget(attempts=1), turn=["answered", "died", "died", "died"])) == run


def test_a_rollback_that_leaves_a_difference_halts_the_run():
    run = """\
>> start item A
<< item.started
>> start attempt A 1
<< attempt.started
>> ask architect plan
<< plan
>> ask worker act
<< action.proposed
>> judge
<< action.allowed
>> apply
<< action.applying, action.applied
>> verify
<< verdict fail
>> ask auditor review
<< verdict.explained
>> fail attempt scanner the scanner says fail:
<< attempt.failed scanner
>> gather facts
<< facts
>> roll back scanner
<< action.rolling_back scanner, action.rolled_back ('/etc/x differs',)
>> halt the rollback left a difference: /etc/x differs
<< run.failed
"""
    assert story(played(ONE, verdict="fail", rollback="differs")) == run

"""What a turn may speak of: which files are shown, which paths a plan may name, and over what an alarm is raised."""

from dataclasses import replace as vary

import pytest
from msgspec.structs import replace

from app.events.architect_questions_about_host import MOST_QUESTIONS, AnsweredQuestion, AskVerdict
from app.events.event_field_types import AppendLine, Candidate, Lesson, Probe, fingerprint_actions
from app.events.kinds import PlanMade, SentryProbed, VerdictGiven
from app.loop.attempt_state import Attempt
from app.loop.shown_file import LONGEST_LINE, show_file
from app.loop.state import Item, ScannerMove
from app.loop.turn_context import TurnContext, build_situation, find_complaints
from app.resources.unit import SetUnit
from app.targets.resources.available_actions import Offer
from tests.hostfiles import DictFiles
from tests.loop.playing import rule

AT = {"rule": "A", "attempt": 1}
DEFS, SSHD, DROP_IN, LIMITS = (
    "/etc/login.defs",
    "/etc/ssh/sshd_config",
    "/etc/ssh/sshd_config.d/a.conf",
    "/etc/security/limits.conf",
)
FILES = DictFiles({DEFS: "PASS_MAX_DAYS 60\n", SSHD: "Port 22\n", DROP_IN: "", LIMITS: "", "/etc/hosts": ""})
RULE = vary(rule("A"), title="T", requirement="R", paths=(SSHD,))
OPENING = VerdictGiven(rule="A", phase="opening", word="fail", evidence="", scanner="s", path=SSHD)
ONE = AppendLine(path=SSHD, line="x")


def context(files=FILES, **more):
    return TurnContext(
        **{
            "item": Item("A"),
            "attempt": Attempt(1, 0.0),
            "rule": RULE,
            "host": "h",
            "facts": {},
            "files": files,
            **more,
        }
    )


def planned(*paths, **more):
    plan = PlanMade(**AT, approach="", paths=paths, steps=(), risk="", rollback="", validation="")
    return context(attempt=Attempt(1, 0.0, plan=plan), **more)


def shown(about, purpose="plan"):
    return [file.path for file in build_situation(purpose, about).files]


@pytest.mark.parametrize(
    ("of", "opening", "paths"),
    [
        ((SSHD,), None, [SSHD]),
        (
            (SSHD, LIMITS),
            VerdictGiven(**AT, phase="opening", word="fail", evidence="", scanner="", path=LIMITS),
            [LIMITS, SSHD],
        ),
        (("/etc/ssh/sshd_config.d/*.conf",), None, [DROP_IN]),
        (("/etc/sysctl.d/*.conf",), None, []),
        (("/etc/sysctl.d/50-x.conf",), None, ["/etc/sysctl.d/50-x.conf"]),
        (("/etc/hosts", SSHD), None, [SSHD]),
        ((), None, []),
    ],
)
def test_the_file_that_the_scanner_names_is_shown_first_then_those_of_the_rule(of, opening, paths):
    assert shown(context(rule=vary(RULE, paths=of), opening=opening)) == paths


def test_a_file_that_the_rules_words_or_a_lesson_name_is_shown_if_it_is_there_and_the_rule_covers_it():
    told = vary(RULE, requirement=f"Also {DEFS} and /etc/security/faillock.conf.")
    assert shown(context(rule=told)) == [SSHD, DEFS]
    lesson = Lesson(id="1", rule="A", mechanism=f"It is in {DEFS}.", environment="", advice="")
    learnt = Attempt(1, 0.0, lessons=(lesson,))
    assert shown(context(attempt=learnt)) == [SSHD], "a lesson alone names nothing that may change"


def test_an_unguided_plan_may_name_every_file_of_the_rule_and_sees_three():
    many = [f"/etc/sysctl.d/{n}.conf" for n in range(70)]
    about = context(rule=vary(RULE, paths=("/etc/sysctl.d/*.conf",)), files=DictFiles(dict.fromkeys(many, "")))
    now = build_situation("plan", about)
    assert (len(now.files), len(now.paths)) == (3, 60)
    assert now.folders == ("/etc/sysctl.d/*.conf",)
    guided = build_situation("plan", vary(about, guided=True))
    assert (len(guided.files), guided.folders) == (60, ())
    assert guided.paths == tuple(file.path for file in guided.files)


def test_a_plan_may_name_a_file_that_is_yet_to_be_made_and_never_a_pattern():
    told = vary(RULE, requirement="Also /etc/security/faillock.conf.", paths=(SSHD, "/etc/sysctl.d/*.conf"))
    now = build_situation("plan", context(rule=told))
    assert {SSHD, "/etc/security/faillock.conf"} <= set(now.paths)
    assert not [path for path in now.paths if "*" in path]
    assert "/etc/sysctl.d/*.conf" in now.folders


@pytest.mark.parametrize("name", ['a"b.conf', "a\\b.conf", "a\nb.conf", "a\x7fb.conf", "x" * 240 + ".conf"])
def test_a_plan_can_name_only_what_a_schema_can_spell(name):
    folder = "/etc/sysctl.d/"
    files = DictFiles({folder + name: "", folder + "x" * 200 + ".conf": ""})
    now = build_situation("plan", context(rule=vary(RULE, paths=(folder + "*.conf",)), files=files))
    assert [path for path in now.paths if path.startswith(folder)] == [folder + "x" * 200 + ".conf"]


def test_questions_are_left_to_an_architect_who_may_ask():
    asked = AnsweredQuestion(question=AskVerdict(), answer="")
    for count in range(MOST_QUESTIONS + 2):
        about = context(attempt=Attempt(1, 0.0, inquired=(asked,) * count), asks=True)
        assert build_situation("plan", about).may_ask == max(0, MOST_QUESTIONS - count)
    assert build_situation("plan", context()).may_ask == 0


def test_proposals_may_be_taken_by_a_seat_that_sees_them_until_they_have_failed():
    item = Item("A", candidates=(Candidate(source="s", actions=(ONE,)), Candidate(source="t", gap="no")))
    assert build_situation("plan", context(item=item, shows_candidates=True)).takeable == {1: (SSHD,)}
    assert build_situation("plan", context(item=item)).takeable == {}
    tried = replace(item, tried=(fingerprint_actions((ONE,)),))
    assert build_situation("plan", context(item=tried, shows_candidates=True)).takeable == {}
    assert build_situation("act", planned(SSHD, item=tried)).tried == set(tried.tried)


OFFER = Offer("unit:x", "off", (SetUnit(unit="x.service", to="enable"),))


def test_a_worker_works_on_what_the_plan_names():
    about = planned(SSHD, "unit:x", SSHD, LIMITS, offers=(OFFER, vary(OFFER, place="unit:y")))
    now = build_situation("act", about)
    assert [file.path for file in now.files] == [SSHD, LIMITS]
    assert now.offers == (OFFER,)
    assert now.text(SSHD) == "Port 22\n"
    assert build_situation("act", planned("/etc/none")).text("/etc/none") == ""
    assert build_situation("plan", about).offers == about.offers


def test_a_guided_worker_reloads_what_reads_its_files_and_another_what_the_rule_is_about():
    of = vary(RULE, paths=(SSHD, "/etc/audit/auditd.conf"))
    assert build_situation("act", planned(SSHD, rule=of)).services == ("auditd", "sshd")
    assert build_situation("act", planned(SSHD, rule=of, guided=True)).services == ("sshd",)
    assert build_situation("act", planned(DEFS, rule=of, guided=True)).services == ()


@pytest.mark.parametrize(
    ("opening", "moved", "together"),
    [
        (OPENING, (ScannerMove(frozenset({SSHD}), DROP_IN),), (SSHD, DROP_IN)),
        (OPENING, (ScannerMove(frozenset({SSHD}), SSHD),), ()),
        (OPENING, (ScannerMove(frozenset({SSHD, DROP_IN}), DROP_IN),), ()),
        (OPENING, (ScannerMove(frozenset({LIMITS}), DROP_IN),), ()),
        (OPENING, (ScannerMove(frozenset({SSHD}), "/etc/hosts"),), ()),
        (OPENING, (ScannerMove(frozenset({SSHD}), DROP_IN), ScannerMove(frozenset({SSHD}), DROP_IN)), (SSHD, DROP_IN)),
        (OPENING, (ScannerMove(frozenset({SSHD}), '/etc/ssh/sshd_config.d/a"b.conf'),), ()),
        (OPENING, (), ()),
        (None, (ScannerMove(frozenset({SSHD}), DROP_IN),), ()),
    ],
)
def test_files_decide_together_if_the_scanner_went_on_to_another_after_the_first_was_changed(opening, moved, together):
    item = Item("A", moved=moved)
    assert build_situation("plan", context(item=item, opening=opening)).joint_files == together
    assert build_situation("act", planned(SSHD, item=item, opening=opening)).joint_files == together


@pytest.mark.parametrize(("word", "gamable"), [("pass", True), ("fail", False), (None, False)])
def test_only_a_pass_can_have_been_gamed(word, gamable):
    verdict = word and VerdictGiven(**AT, phase="attempt", word=word, evidence="", scanner="")
    assert build_situation("review", context(attempt=Attempt(1, 0.0, verdict=verdict))).gamable == gamable


@pytest.mark.parametrize("weighs", [True, False])
def test_a_decision_counts_where_the_attempt_is_one_that_weighs(weighs):
    assert build_situation("reflect", context(weighs=weighs)).weighs == weighs


@pytest.mark.parametrize("purpose", ["plan", "act", "review", "triage", "reflect"])
def test_every_turn_knows_the_scope_of_its_rule_and_whether_it_is_guided(purpose):
    for guided in (True, False):
        now = build_situation(purpose, planned(SSHD, guided=guided, candidates=OFFER.actions))
        assert (now.scope.rule, now.guided, now.candidates) == ("A", guided, OFFER.actions)


def test_an_alarm_is_raised_over_what_is_new_and_each_thing_once():
    probes = (Probe("ok", True, "x"), Probe("login", False, 'shut "out"'), Probe("backup", False, "down"))
    seen = SentryProbed(
        **AT,
        probes=probes,
        drift=("/etc/x", "/etc/x"),
        log=("sshd: error: no", "all fine", "kernel panic"),
        ailing=("backup",),
    )
    about = context(attempt=Attempt(1, 0.0, probed=seen))
    quiet = ("login: shut  out ", "/etc/x", "sshd: error: no", "all fine", "kernel panic")
    assert build_situation("triage", about).trouble == quiet
    assert build_situation("triage", vary(about, guided=True)).trouble == (*quiet[:3], quiet[4])
    assert build_situation("triage", context()).trouble == ()


def test_of_a_log_the_six_newest_lines_that_complain_are_kept():
    assert find_complaints(["fine", *(f"error {n}" for n in range(9))]) == [f"error {n}" for n in range(3, 9)]
    for line in ("Permission DENIED", "no such file", "segfault at 0", "fatal: x", "cannot open", "unable to x"):
        assert find_complaints([line]) == [line]
    for line in ("Failed password for x", "terrors", "canned", "nothing"):
        assert find_complaints([line]) == []


def show(text, limit=1800, words=()):
    return show_file("/etc/dnf/dnf.conf", DictFiles({"/etc/dnf/dnf.conf": text}), ("/etc/dnf/dnf.conf",), words, limit)


def test_a_file_is_shown_as_far_as_there_is_room_active_lines_before_comments():
    text = "# note\none=1\ntwo=2\n"
    for limit, numbers in ((33, [2, 3]), (34, [1, 2, 3]), (22, [2, 3]), (21, [2]), (10, [])):
        assert list(show(text, limit).lines) == numbers
    assert list(show(text, 12, ("note",)).lines) == [1]
    assert list(show(text, 11, ("two",)).lines) == [3]
    assert list(show(text, 11, ("nowhere",)).lines) == [2]
    assert not show(text).cut
    assert show(text, 33).cut


def test_a_line_that_is_too_long_to_be_shown_whole_cannot_be_named():
    fits, long = "x" * LONGEST_LINE, "y" * (LONGEST_LINE + 1)
    file = show(f"{fits}\n{long}\n  \n", 5000)
    assert list(file.whole) == [1]
    assert list(file.lines) == [1, 2]
    assert (len(file.lines[2]) <= LONGEST_LINE, file.cut) == (True, True)


def test_spaces_at_the_end_of_a_line_do_not_keep_it_from_being_named():
    assert list(show("a=1  \nb=2\t\n").whole) == [1, 2]


def test_lines_are_chosen_by_words_of_more_than_three_letters():
    lines = "\n".join(f"key{number}=0" for number in range(400))
    files = DictFiles({SSHD: f"{lines}\n# the\n# yes banner\n"})
    for title, found in (("the yes", False), ("banner", True)):
        about = context(files, rule=vary(RULE, title=title))
        [file] = build_situation("plan", about).files
        assert any("banner" in line for line in file.lines.values()) == found

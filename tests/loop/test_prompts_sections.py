"""What each role reads in its prompt, section by section, and what is cut where the engine's context is short."""

import re
from dataclasses import replace as vary

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from app.events.architect_questions_about_host import MOST_QUESTIONS, AnsweredQuestion, AskVerdict
from app.events.event_field_types import AppendLine, Candidate, Lesson, Probe, fingerprint_actions
from app.events.kinds import (
    ActionApplied,
    ActionProposed,
    AttemptFailed,
    FactsGathered,
    PlanMade,
    SentryProbed,
    VerdictGiven,
)
from app.loop.attempt_state import Attempt
from app.loop.prompts import (
    CHARS_PER_TOKEN,
    WORTH_TELLING,
    Prompt,
    build_system_prompt,
    build_user_prompt,
    describe_rule_settings_in_force,
)
from app.loop.state import Item
from app.loop.turn_context import TurnContext, build_situation
from app.resources.unit import SetUnit
from app.targets.resources.available_actions import Offer
from tests.hostfiles import DictFiles
from tests.loop.playing import rule
from tests.thorough import examples

PATH = "/etc/login.defs"
AT = {"rule": "A", "attempt": 2}
ONE, OTHER, GONE = (AppendLine(path=PATH, line=line) for line in "abc")
CANDIDATES = (
    Candidate(source="a recipe", actions=(ONE,), diff="--- a\n+++ b\n-old\n+a\n kept"),
    Candidate(source="the fix text", actions=(OTHER,), refusal="too wide", diff="--- a\n+++ b\n+b"),
    Candidate(source="a script", actions=(GONE,), diff=" mode 0600"),
    Candidate(source="nobody", gap="no command"),
)
FAILURES = tuple(AttemptFailed(rule="A", attempt=n, cause="scanner", reason=f"reason\n{n}") for n in range(1, 7))
LESSON = Lesson(id="1", rule="A", mechanism="m", environment="e", advice="LEARNT")
RULE = vary(rule("A"), title="Title", requirement="Required.", fix="Fix it.", breaks="Logins.", paths=(PATH,))
ITEM = Item("A", candidates=CANDIDATES, tried=(fingerprint_actions((GONE,)),), failures=FAILURES)
ATTEMPT = Attempt(
    2,
    0.0,
    lessons=(LESSON,),
    inquired=(AnsweredQuestion(question=AskVerdict(), answer="ANSWERED"),),
    plan=PlanMade(**AT, approach="Do\nit.", paths=(PATH,), steps=("One", "Two"), risk="", rollback="", validation=""),
    proposed=ActionProposed(**AT, actions=(ONE,), note="", fingerprint="f", diff="+proposed"),
    applied=ActionApplied(**AT, journal="j", diff="+applied", changes=(), seconds=0.0),
    verdict=VerdictGiven(**AT, phase="attempt", word="fail", evidence="still", scanner="s"),
    probed=SentryProbed(
        **AT,
        probes=(Probe("login", False, "shut"),),
        drift=("DRIFTED",),
        log=("all fine", "error: no"),
        ailing=("login",),
    ),
    facts=FactsGathered(**AT, facts=("a fact", "another")),
)
OPENING = VerdictGiven(rule="A", phase="opening", word="fail", evidence="line 1", scanner="s", path=PATH)
ABOUT = TurnContext(
    ITEM,
    ATTEMPT,
    RULE,
    "web-1",
    DictFiles({PATH: "a line\n"}),
    {"system": "EL9", "kernel": "5"},
    opening=OPENING,
    offers=(Offer(place="unit:x", state="off", actions=(SetUnit(unit="x.service", to="enable"),)),),
    shows_candidates=True,
    asks=True,
)


def told(purpose, about=ABOUT, tokens=4000):
    return build_user_prompt(purpose, about, tokens)


def sections(text):
    """The sections by title, without the marks around what the host says."""
    parts = re.split(r"(?m)^## (.*)\n", text)[1:]
    bodies = (re.sub(r"^<<<HOST\n|\nHOST>>>$", "", body.partition("\n\nAttempt: ")[0].strip()) for body in parts[1::2])
    return dict(zip(parts[::2], bodies, strict=True))


FIRST = ("Requirement", "Usual fix", "It can break", "Host", "Host facts", "Scanner")
SECTIONS = {
    "plan": (
        *FIRST,
        "Beside files",
        "Proposals",
        f"File {PATH}",
        *("Answers", "Questions left", "Taking a proposal", "Failed here before", "Earlier attempts", "Lessons"),
    ),
    "act": (
        *FIRST,
        f"File {PATH}",
        *("Plan", "Files you may touch", "Earlier attempts", "Lessons", "Answers", "Proposals"),
    ),
    "review": ("Requirement", "Scanner", "Change", "Lessons"),
    "triage": ("Not of this change", "Probes", "Drift", "Change", "Log", "Lessons"),
    "reflect": ("Requirement", "What failed", "Plan", "Facts", "Change", "Lessons"),
}


@pytest.mark.parametrize("purpose", SECTIONS)
def test_each_role_reads_its_sections_in_the_order_of_their_weight(purpose):
    text = told(purpose)
    assert tuple(sections(text)) == SECTIONS[purpose]
    assert text.startswith(f"Task: {purpose}. ")
    assert "\nRule: A (A, CAT II) Title\n" in text
    assert "\n\nAttempt: 2\n" in text


CONTENTS = {
    "plan": {
        "Requirement": "Required.",
        "Usual fix": "Fix it.",
        "It can break": "Logins.",
        "Host": "web-1",
        "Host facts": "system: EL9\nkernel: 5",
        "Scanner": "line 1",
        "Beside files": "unit:x: off",
        "Proposals": f"1. a recipe on {PATH}: the policy accepts it\n  -old\n  +a\n"
        f"2. the fix text on {PATH}: the policy refuses it: too wide\n  +b\n"
        f"3. a script on {PATH}: the policy accepts it\n   mode 0600",
        "Questions left": str(MOST_QUESTIONS - 1),
        "Taking a proposal": "Its number as `candidate` (1) takes it unchanged; 0 is a plan of your own, which may"
        " combine them.",
        "Failed here before": "Proposals that failed on this host and cannot be taken: 3.",
        "Earlier attempts": "\n".join(f"attempt {n}: scanner: reason {n}" for n in range(3, 7)),
        "Lessons": "- m (e) Next time: LEARNT",
    },
    "act": {
        "Plan": "Do it.\n- One\n- Two",
        "Files you may touch": PATH,
        "Proposals": '1. [{"do":"append_line","path":"/etc/login.defs","line":"a"}]',
    },
    "review": {"Scanner": "verdict: fail\nevidence: still", "Change": "+applied"},
    "triage": {
        "Not of this change": "Probes marked FAILED-BEFORE failed before the run began.",
        "Probes": "FAILED-BEFORE login: shut",
        "Drift": "DRIFTED",
        "Change": "+applied",
        "Log": "all fine\nerror: no",
    },
    "reflect": {"Plan": "Do it.", "Facts": "a fact\nanother", "Change": "+proposed"},
}


@pytest.mark.parametrize("purpose", CONTENTS)
def test_a_section_says_what_the_run_knows(purpose):
    read = sections(told(purpose))
    assert {title: read[title] for title in CONTENTS[purpose]} == CONTENTS[purpose]


@pytest.mark.parametrize("purpose", SECTIONS)
def test_what_is_not_known_has_no_section(purpose):
    at = {name: ATTEMPT.__getattribute__(name) for name in ("plan", "verdict")}
    bare = Attempt(2, 0.0, probed=SentryProbed(**AT, probes=SOUND, drift=(), log=()), **at)
    about = TurnContext(Item("A"), bare, vary(RULE, breaks="", fix=""), "h", DictFiles({}), {})
    known = {"plan": ("Requirement", "Host"), "act": ("Requirement", "Host"), "triage": ("Probes",)}
    files, plan = (f"File {PATH}",), ("Plan", "Files you may touch")
    more = {
        "plan": files,
        "act": (*files, *plan),
        "review": ("Requirement", "Scanner"),
        "reflect": ("Requirement", "Plan"),
    }
    assert tuple(sections(told(purpose, about))) == (*known.get(purpose, ()), *more.get(purpose, ()))


SOUND = (Probe("login", True, "ok"),)


def test_a_guided_role_reads_less():
    guided = vary(ABOUT, guided=True)
    assert "Host facts" not in sections(told("plan", guided))
    assert sections(told("triage", guided))["Log"] == "error: no"
    script = vary(RULE, fix="var_minlen='14'\nsed -i s/PASS/5/ x\n", script=True)
    assert sections(told("plan", vary(guided, rule=script)))["Usual fix"] == "var_minlen = 14"
    for about in (vary(ABOUT, rule=script), vary(guided, rule=vary(script, script=False))):
        assert sections(told("plan", about))["Usual fix"] == script.fix.strip()


def test_what_only_some_seats_may_do_is_told_to_them_alone():
    plain = vary(ABOUT, shows_candidates=False, asks=False)
    gone = {"Proposals", "Questions left", "Taking a proposal", "Failed here before"}
    assert set(sections(told("plan"))) - set(sections(told("plan", plain))) == gone
    assert set(sections(told("act"))) - set(sections(told("act", plain))) == {"Proposals"}
    assert "you may first ask" in build_system_prompt("architect", "plan", may_ask_about_host=True)
    assert "you may first ask" not in build_system_prompt("worker", "act", may_ask_about_host=True)


def test_nothing_is_offered_where_all_that_is_proposed_has_failed():
    tried = tuple(fingerprint_actions(one.actions) for one in CANDIDATES)
    read = sections(told("plan", vary(ABOUT, item=replace(ITEM, tried=tried))))
    assert "Taking a proposal" not in read
    assert read["Failed here before"].endswith("cannot be taken: 1, 2, 3.")


def test_texts_of_foreign_content_are_quoted_and_its_title_is_no_part_of_a_line_of_ours():
    text = told("plan", vary(ABOUT, rule=vary(RULE, foreign=True)))
    assert "CAT II)\n" in text
    for title, body in (("Title", "Title"), ("Requirement", "Required."), ("Usual fix", "Fix it.")):
        assert f"## {title}\n<<<HOST\n{body}\nHOST>>>" in text


def propose(*lines):
    """What is shown of a proposal with this diff, below its first line."""
    long = Candidate(source="s", actions=(ONE,), diff="\n".join(lines))
    read = told("plan", vary(ABOUT, item=replace(ITEM, candidates=(long,))), 9000)
    return sections(read)["Proposals"].split("\n")[1:]


def test_of_a_long_proposal_ten_changed_lines_are_shown_and_that_there_are_more():
    lines = [f"+{n}" for n in range(11)]
    assert propose(*lines[:10]) == [f"  {line}" for line in lines[:10]]
    assert propose(*lines) == [*(f"  {line}" for line in lines[:10]), "  …"]
    assert propose("+" + "x" * 200) == ["  +" + "x" * 159]


def test_a_changed_line_that_looks_like_a_files_name_is_shown():
    lines = ("diff a/x b/x", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "--- a note", "+++ b/etc/other")
    assert propose(*lines) == ["  --- a note", "  +++ b/etc/other"]


def test_every_answer_to_a_question_has_an_equal_share():
    answers = tuple(AnsweredQuestion(question=AskVerdict(), answer=letter * 5000) for letter in "yz")
    read = sections(told("act", vary(ABOUT, attempt=replace(ATTEMPT, inquired=answers)), 9000))["Answers"]
    assert len(read) <= 1500
    assert abs(read.count("y") - read.count("z")) < 20
    assert read.count("y") > 600


SSHD = "/etc/ssh/sshd_config"


def test_of_a_program_that_a_rule_is_about_the_settings_in_force_are_told_that_it_names():
    files = DictFiles({SSHD: "PermitRootLogin yes\nUsePAM yes\n"})
    named = vary(RULE, paths=(SSHD,), requirement="PermitRootLogin has to be no.")
    about = vary(ABOUT, rule=named, files=files)
    read = describe_rule_settings_in_force(about, build_situation("plan", about))
    assert "sshd permitrootlogin = yes" in read.lower()
    assert "usepam" not in read.lower()
    assert sections(told("plan", about))["In force now"] == read
    elsewhere = vary(about, rule=vary(named, paths=(PATH,)))
    assert describe_rule_settings_in_force(elsewhere, build_situation("plan", elsewhere)) == ""


@settings(max_examples=examples(60, 900), deadline=None)
@given(
    parts=st.lists(st.tuples(st.booleans(), st.integers(0, 3000)), max_size=6),
    budget=st.integers(0, 4000),
    limit=st.integers(90, 2000),
)
def test_a_prompt_uses_its_budget_and_never_more(parts, budget, limit):
    prompt = Prompt(budget)
    for number, (hosts, length) in enumerate(parts):
        before = prompt.text()
        (prompt.add_host_text if hosts else prompt.add)(f"T{number}", "x" * length, limit)
        added = prompt.text()[len(before) :]
        room = budget - len(before)
        frame = len(f"\n\n## T{number}\n") + (len("<<<HOST\n\nHOST>>>") if hosts else 0)
        assert len(added) <= room
        if not length or room < frame + WORTH_TELLING:
            assert not added
        elif room > frame + WORTH_TELLING + 5:
            shown = added.count("x")
            assert min(length, limit, room - frame) - len(" […cut]") - 5 <= shown <= min(length, limit)
            assert ("…" in added) == (shown < length)


@pytest.mark.parametrize("purpose", SECTIONS)
@pytest.mark.parametrize("tokens", [150, 300, 700])
def test_a_short_context_is_kept_to_and_half_of_it_is_the_attempts_own(purpose, tokens):
    loud = replace(ATTEMPT, complaint="no JSON", facts=FactsGathered(**AT, facts=("x" * 900,) * 9))
    text = told(purpose, vary(ABOUT, attempt=loud, facts={"f": "y" * 5000}), tokens)
    assert len(text) <= tokens * CHARS_PER_TOKEN
    last = "Attempt: 2" + text.partition("\n\nAttempt: 2")[2]
    assert len(last) <= tokens * CHARS_PER_TOKEN // 2


def test_why_the_last_answer_was_of_no_use_is_told_in_one_line():
    text = told("plan", vary(ABOUT, attempt=replace(ATTEMPT, complaint="no\nJSON")))
    assert sections(text)["Your last answer was not usable"] == "no JSON"

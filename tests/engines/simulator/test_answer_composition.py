"""What each role says: the script's words, and words from the prompt where the script has none."""

from pathlib import Path

import pytest

from app.engines.simulator.answer_composition import compose_answer
from app.engines.simulator.answer_script import AnswerScript, ScriptedTry, Story, read_script
from app.engines.simulator.prompt_parser import ParsedPrompt

SCRIPT = read_script(Path(__file__).parent / "answers")


def said(purpose: str, rule: str = "V-1", attempt: int = 1, **sections: str):
    return compose_answer(
        SCRIPT, ParsedPrompt(purpose, rule, attempt, {key.replace("_", " "): text for key, text in sections.items()})
    )


def test_the_architect_plans_as_scripted():
    spoken = said("plan")
    assert spoken.thought.startswith("The setting stands in one place.")
    assert list(spoken.answer) == ["approach", "paths", "steps", "risk", "rollback", "validation"]
    assert spoken.answer["paths"] == ("/etc/ssh/sshd_config",)


def test_a_lesson_changes_the_plan():
    assert said("plan", Lessons="Move the backup first.").answer["approach"] == "Move the backup, then set the option."


def test_the_worker_acts_as_scripted():
    spoken = said("act")
    assert (spoken.thought, spoken.answer["note"]) == ("One line.", "Done.")
    assert spoken.answer["actions"][0]["do"] == "set_option"


def test_an_unknown_rule_is_admitted_and_nothing_is_done():
    assert "no script for V-9" in said("plan", "V-9").answer["approach"]
    assert said("act", "V-9").answer["actions"] == []


def test_the_auditor_explains_a_pass_in_the_scripts_words():
    answer = said("review", Scanner="verdict: pass\nevidence: line 3").answer
    assert answer == {"explanation": "Root logins are refused.", "veto": False, "reason": ""}


def test_the_auditor_vetoes_a_pass_that_was_gamed_but_never_a_fail():
    gamed = said("review", "V-2", Scanner="verdict: pass\nevidence: file exists").answer
    assert (gamed["veto"], gamed["reason"]) == (True, "The text is blank.")
    failed = said("review", "V-2", Scanner="verdict: fail\nevidence: file is gone").answer
    assert (failed["veto"], failed["reason"]) == (False, "")


def test_a_fail_that_the_script_did_not_foresee_is_told_from_the_evidence():
    answer = said("review", attempt=2, Scanner="verdict: fail\nevidence: \nline 7 says yes").answer
    assert answer["explanation"].endswith("line 7 says yes")


def test_composed_words_vary_over_rules_and_repeat_for_the_same():
    def explain(rule: str) -> str:
        return said("review", rule, Scanner="verdict: pass\nevidence: x").answer["explanation"]

    assert len({explain(f"V-{n}") for n in range(100, 130)}) > 1
    assert explain("V-100") == explain("V-100")


def test_the_sentry_alarms_when_a_probe_failed():
    spoken = said("triage", Probes="ok pam: sane\nFAILED backup-login: root is refused")
    assert spoken.thought == "Who logs in as root?"
    assert spoken.answer == {
        "assessment": "1 of 2 probes fail: backup-login: root is refused",
        "alarm": True,
        "reason": "backup-login: root is refused",
    }


@pytest.mark.parametrize(("log", "words"), [("sshd: Accepted", "All 1 probes"), ("su: DENIED", "1 lines of trouble")])
def test_the_sentry_is_calm_when_none_did(log, words):
    answer = said("triage", "V-9", Probes="ok pam: FAILED is only a word here", Log=log).answer
    assert (answer["alarm"], answer["reason"]) == (False, "")
    assert words in answer["assessment"]


def test_the_architect_reflects_as_scripted():
    spoken = said("reflect")
    assert spoken.thought == "The backup did."
    assert spoken.answer["decision"] == "CONTINUE"


@pytest.mark.parametrize(("attempt", "decision"), [(1, "CONTINUE"), (3, "ESCALATE")])
def test_without_a_script_the_failure_itself_is_the_lesson(attempt, decision):
    answer = said("reflect", "V-9", attempt, What_failed="attempt 1: scan: line 3 still says yes").answer
    assert answer["mechanism"] == "attempt 1: scan: line 3 still says yes"
    assert answer["decision"] == decision


def test_a_long_host_text_is_cut():
    answer = said("triage", Probes="FAILED pam: " + "x" * 5000).answer
    assert len(answer["reason"]) <= 400
    assert len(answer["assessment"]) <= 600


def test_a_question_without_a_purpose_gets_a_plain_sentence():
    assert said("").answer == "This engine is simulated: it answers from a script."


def test_a_scripted_question_is_asked_once_and_only_if_the_prompt_leaves_one():
    script = AnswerScript({"V-1": Story((ScriptedTry(approach="a", why="w", questions=({"ask": "verdict"},)),))})

    def plan(**sections: str) -> dict[str, object]:
        named = {key.replace("_", " "): text for key, text in sections.items()}
        return compose_answer(script, ParsedPrompt("plan", "V-1", 1, named)).answer

    assert plan(Questions_left="3") == {"why": "w", "questions": ({"ask": "verdict"},)}
    assert plan(Questions_left="2", Answers="it fails")["approach"] == "a"
    assert plan(Questions_left="0")["approach"] == plan()["approach"] == "a"

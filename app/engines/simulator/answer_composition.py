"""Compose a role's thought and answer from the script, or from the prompt if the script has none."""

import tomllib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.engines.simulator.answer_script import AnswerScript, ScriptedTry
from app.engines.simulator.prompt_parser import ParsedPrompt

ROLES = {"plan": "architect", "act": "worker", "review": "auditor", "triage": "sentry", "reflect": "architect"}

GIVE_UP_AFTER = 3
_VALUES = ("value", "new", "line", "content")
_ROOM = 400
"""Most characters of host text that an answer repeats."""
_TROUBLE = ("denied", "refused", "failed", "failure", "error", "invalid")


@dataclass(frozen=True)
class RoleAnswer:
    thought: str
    answer: Any


def compose_answer(script: AnswerScript, prompt: ParsedPrompt) -> RoleAnswer:
    one = script.pick_try(prompt.rule, prompt.attempt, prompt.sections.get("Lessons", ""))
    compose = _BY_PURPOSE.get(prompt.purpose)
    return compose(one, prompt) if compose else RoleAnswer("", "This engine is simulated: it answers from a script.")


def _compose_plan_or_questions(scripted_try: ScriptedTry | None, prompt: ParsedPrompt) -> RoleAnswer:
    if scripted_try is None:
        plan: dict[str, Any] = dict(_load_phrases()["unscripted"])
        plan["approach"] = plan["approach"].format(rule=prompt.rule or "this rule")
        thought = f"{prompt.rule or 'This rule'} is not in my script. I can say so, but I cannot plan it."
        return RoleAnswer(thought, plan)
    if scripted_try.questions and prompt.may_ask:
        return RoleAnswer(scripted_try.question_thought, {"why": scripted_try.why, "questions": scripted_try.questions})
    names = ("approach", "paths", "steps", "risk", "rollback", "validation")
    return RoleAnswer(scripted_try.thought, {name: getattr(scripted_try, name) for name in names})


def _compose_actions(scripted_try: ScriptedTry | None, prompt: ParsedPrompt) -> RoleAnswer:
    if scripted_try is None:
        thought = "There is no script for this rule, so I have no action to give."
        return RoleAnswer(thought, {"actions": [], "note": "No script."})
    actions = _replace_lines_by_numbers(scripted_try, prompt)
    return RoleAnswer(scripted_try.worker_thought, {"actions": actions, "note": scripted_try.note})


def _replace_lines_by_numbers(scripted_try: ScriptedTry, prompt: ParsedPrompt) -> list[Any]:
    """Return the actions with lines replaced by their numbers in the shown file."""
    told = []
    for action in scripted_try.actions:
        said = {
            name: prompt.replace_usual_by_site_value(text) if name in _VALUES else text for name, text in action.items()
        }
        line = {"replace_line": "old", "remove_line": "line"}.get(said["do"], "")
        number = prompt.find_line_number(said["path"], said[line]) if line else None
        if number is None and said["do"] == "replace_line":
            number, said["new"] = prompt.find_and_extend_line(said["path"], said["old"], said["new"])
        if number is not None:
            del said[line]
            said["number"] = number
        told.append(said)
    return told


def _compose_review_of_scan(scripted_try: ScriptedTry | None, prompt: ParsedPrompt) -> RoleAnswer:
    scanner = dict(line.partition(": ")[::2] for line in prompt.list_lines("Scanner"))
    passed = scanner.get("verdict") == "pass"
    veto = scripted_try.veto if scripted_try and passed else ""
    # A try without a reflection was written to pass: its explanation does not fit another verdict.
    if scripted_try and scripted_try.explanation and (passed or scripted_try.decision):
        thought, explanation = scripted_try.auditor_thought, scripted_try.explanation
    else:
        evidence = _shorten_text(prompt.sections.get("Scanner", "").partition("evidence:")[2])
        outcome = _choose_variant(prompt, "passed" if passed else "failed")
        explanation = outcome + (evidence or "The scanner gives no detail.")
        thought = _choose_variant(prompt, "weighing")
    return RoleAnswer(thought, {"explanation": explanation, "veto": bool(veto), "reason": veto})


def _compose_probe_assessment(scripted_try: ScriptedTry | None, prompt: ParsedPrompt) -> RoleAnswer:
    probes = prompt.list_lines("Probes")
    broken = [line.removeprefix("FAILED ") for line in probes if line.startswith("FAILED ")]
    trouble = [line for line in prompt.list_lines("Log") if any(word in line.lower() for word in _TROUBLE)]
    thought = (scripted_try.sentry_thought if scripted_try else "") or _choose_variant(prompt, "watching")
    if broken:
        assessment = f"{len(broken)} of {len(probes)} probes fail: {_shorten_text('; '.join(broken))}"
        return RoleAnswer(thought, {"assessment": assessment, "alarm": True, "reason": _shorten_text(broken[0])})
    ails = sum(line.startswith("FAILED-BEFORE ") for line in probes)
    fine = f"{ails} of {len(probes)} probes fail, as before the run." if ails else f"All {len(probes)} probes answer."
    log = _choose_variant(prompt, "quiet")
    if trouble:
        log = f"The log has {len(trouble)} lines of trouble, none of a probe."
    assessment = f"{fine} {log}" if probes else f"No probe was given. {log}"
    return RoleAnswer(thought, {"assessment": assessment, "alarm": False, "reason": ""})


def _compose_reflection(scripted_try: ScriptedTry | None, prompt: ParsedPrompt) -> RoleAnswer:
    if scripted_try and scripted_try.decision:
        names = ("mechanism", "environment", "advice", "decision", "reason")
        return RoleAnswer(scripted_try.reflect_thought, {name: getattr(scripted_try, name) for name in names})
    failures = prompt.list_lines("What failed") or prompt.list_lines("Scanner") or ["The attempt did not hold."]
    give_up = prompt.attempt >= GIVE_UP_AFTER
    answer = {
        "mechanism": _shorten_text(failures[-1]),
        "environment": "Seen on this host, in this attempt.",
        "advice": "Do not repeat this approach; look at what the failure names first.",
        "decision": "ESCALATE" if give_up else "CONTINUE",
        "reason": "A person should look at it." if give_up else "Another approach is left.",
    }
    return RoleAnswer("It failed and was undone. I keep what the failure itself says.", answer)


_BY_PURPOSE: dict[str, Callable[[ScriptedTry | None, ParsedPrompt], RoleAnswer]] = {
    "plan": _compose_plan_or_questions,
    "act": _compose_actions,
    "review": _compose_review_of_scan,
    "triage": _compose_probe_assessment,
    "reflect": _compose_reflection,
}


@cache
def _load_phrases() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))


def _choose_variant(prompt: ParsedPrompt, occasion: str) -> str:
    """Choose a variant that depends on rule and attempt and is stable for the same prompt."""
    variants: list[str] = _load_phrases()[occasion]
    return variants[zlib.crc32(f"{prompt.rule}/{prompt.attempt}/{prompt.purpose}".encode()) % len(variants)]


def _shorten_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _ROOM else line[: _ROOM - 1] + "…"

"""Every scripted story, played on the fixture with the real policy, the real checks and the real probes."""

from pathlib import Path

import msgspec
import pytest

from app.cli.debian_demo import RULES
from app.engines.simulator.answer_script import ANSWERS, ScriptedTry, read_script
from app.events.event_field_types import AnyAction
from app.loop import answers
from app.loop.perform import sort_findings_dependencies_first
from app.scanners.scanner import BuiltinScanner
from app.skills.stig.pack import STIG
from app.targets.fixture.fixture_target import FixtureTarget

SCRIPT = read_script(ANSWERS)
SCANNER = BuiltinScanner({rule.id: rule.check for rule in STIG.rules.values()})
ESCALATED = {"V-257989": ["the scanner says fail"] * 6, "V-258106": ["refused"] * 3}
LEARNT = {
    "V-257981": ["vetoed", "passed"],
    "V-257985": ["alarm: backup-login", "passed"],
    "V-257996": ["the scanner says fail", "passed"],
    "V-258074": ["alarm: mission-inbox", "passed"],
    "V-258107": ["the scanner says fail", "passed"],
}
AT_ONCE = sorted(STIG.rules.keys() - ESCALATED.keys() - LEARNT.keys())


@pytest.fixture
def host(tmp_path: Path) -> FixtureTarget:
    target = FixtureTarget("relay-07", tmp_path)
    target.prepare()
    return target


def said(failed: ScriptedTry) -> str:
    return f"- {failed.mechanism} ({failed.environment}) Next time: {failed.advice}"


def attempt(host: FixtureTarget, journal: str, rule: str, one: ScriptedTry) -> str:
    """One attempt as the loop makes it, undone unless it passes."""
    actions, paths = msgspec.convert(one.actions, list[AnyAction]), frozenset(one.paths)
    asks = STIG.rules[rule].permitted_weakenings
    before = host.compute_digest()
    if host.assess_actions(actions, paths, asks).refusals:
        return "refused"
    made = host.apply(journal, actions, paths, asks)
    verdict = SCANNER.judge_rules(host.files, [rule])[0]
    broken = [probe.name for probe in host.check_health() if not probe.ok]
    assert host.describe_drift(made.changes) == ()
    if verdict.word == "pass" and not one.veto and not broken:
        host.commit(journal)
        return "passed"
    assert host.roll_back(journal).differences == ()
    assert host.compute_digest() == before
    if broken:
        return f"alarm: {', '.join(broken)}" if verdict.word == "pass" else "harmful for nothing"
    return "vetoed" if verdict.word == "pass" else f"the scanner says {verdict.word}"


def story(host: FixtureTarget, rule: str) -> tuple[list[str], str]:
    """What became of each attempt, and what they taught."""
    outcomes: list[str] = []
    lessons: list[str] = []
    while outcomes[-1:] != ["passed"] and len(outcomes) < 6:
        one = SCRIPT.pick_try(rule, len(outcomes) + 1, "\n".join(lessons))
        assert one is not None
        outcomes.append(attempt(host, f"{rule}.{len(outcomes)}", rule, one))
        lessons.append(said(one))
        if one.decision == "ESCALATE":
            break
    return outcomes, "\n".join(lessons)


@pytest.mark.parametrize("rule", AT_ONCE)
def test_passes_at_once(host: FixtureTarget, rule: str) -> None:
    assert SCANNER.judge_rules(host.files, [rule])[0].word == "fail"
    assert (story(host, rule))[0] == ["passed"]


@pytest.mark.parametrize("rule", LEARNT)
def test_passes_once_a_failure_has_taught(host: FixtureTarget, rule: str) -> None:
    assert SCANNER.judge_rules(host.files, [rule])[0].word == "fail"
    outcomes, lessons = story(host, rule)
    assert outcomes == LEARNT[rule]

    host.prepare()
    remembered = SCRIPT.pick_try(rule, 1, lessons)
    assert remembered is not None
    assert attempt(host, "remembered", rule, remembered) == "passed"


@pytest.mark.parametrize("rule", ESCALATED)
def test_is_handed_to_a_person(host: FixtureTarget, rule: str) -> None:
    assert SCANNER.judge_rules(host.files, [rule])[0].word == "fail"
    clean = host.compute_digest()
    assert (story(host, rule))[0] == ESCALATED[rule]
    assert host.compute_digest() == clean


def test_the_ciphers_are_approached_another_way_after_three(host: FixtureTarget) -> None:
    tries = [SCRIPT.pick_try("V-257989", number, "") for number in range(1, 7)]
    assert [one.decision for one in tries if one] == [
        "CONTINUE",
        "CONTINUE",
        "PIVOT",
        "CONTINUE",
        "CONTINUE",
        "ESCALATE",
    ]


@pytest.mark.parametrize("rule", [*STIG.rules, *RULES])
def test_what_is_scripted_is_an_answer_as_it_stands(rule: str) -> None:
    """Nothing of it is pressed into shape on the way."""
    number, one = 0, SCRIPT.pick_try(rule, 1, "")
    while one is not None:
        said = msgspec.structs.asdict(one)
        shapes = (answers.Plan, answers.Work, *((answers.Reflection,) if one.decision else ()))
        for shape in shapes:
            msgspec.convert({name: said[name] for name in shape.__struct_fields__ if name in said}, shape)
        number += 1
        following = SCRIPT.pick_try(rule, number + 1, "")
        one = None if following == one else following
    assert number


def test_a_whole_run_leaves_two_findings_and_a_sound_host(host: FixtureTarget) -> None:
    assert [verdict.word for verdict in SCANNER.judge_rules(host.files, list(STIG.rules))] == ["fail"] * 30
    for rule in sort_findings_dependencies_first(list(STIG.rules), STIG):
        story(host, rule)
    left = {verdict.rule for verdict in SCANNER.judge_rules(host.files, list(STIG.rules)) if verdict.word != "pass"}
    assert left == set(ESCALATED)
    assert all(probe.ok for probe in host.check_health())
    assert host.describe_drift(()) == ()

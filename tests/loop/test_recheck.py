"""A finding of a content that a change for another rule of the run has settled is looked at before it is worked on."""

from dataclasses import replace

import pytest

from app.events.kinds import AttemptStarted, ItemPassed, ItemSkipped, RunFinished, VerdictGiven
from app.skills.stig.pack import STIG
from app.web.pages.mission.summary import build_summary
from tests.loop.onfixture import SCANNER, OnFixture

EMPTY, TWIN = "V-257984", "V-999999"
"""Two rules that ask for the same."""


class OfBoth:
    """Judges the second rule as the first; `settled` is its word where the first one passes."""

    name, fetch_fix_script = SCANNER.name, SCANNER.fetch_fix_script

    def __init__(self, settled):
        self._settled = settled

    async def scan(self, files, rules, _judged=None):
        found = []
        for rule in rules:
            [verdict] = await SCANNER.scan(files, [EMPTY])
            word = self._settled if rule == TWIN and verdict.word == "pass" else verdict.word
            found.append(replace(verdict, rule=rule, word=word))
        return found

    scan_rehearsal_if_supported = scan


def of_both(folder, settled, *, foreign=True):
    first = replace(STIG.rules[EMPTY], foreign=foreign)
    skill = replace(STIG, rules={**STIG.rules, EMPTY: first, TWIN: replace(first, id=TWIN)})
    return OnFixture(folder, skill=skill, scanner=OfBoth(settled))


def rechecked(here):
    return [(one.rule, one.word) for one in here.events(VerdictGiven) if one.phase == "recheck"]


async def test_a_rule_that_another_change_fixed_passes_without_an_attempt(tmp_path):
    here = of_both(tmp_path, "pass")
    await here.run(EMPTY, TWIN, engine="none")
    assert [(one.rule, one.attempts) for one in here.events(ItemPassed)] == [(EMPTY, 1), (TWIN, 0)]
    assert [one.rule for one in here.events(AttemptStarted)] == [EMPTY]
    assert rechecked(here) == [(TWIN, "pass")]
    assert "because of a change for another rule" in here.events(ItemPassed)[1].describe().text


async def test_a_rule_that_applies_no_more_is_left_and_asks_nothing_of_anybody(tmp_path):
    here = of_both(tmp_path, "notapplicable")
    await here.run(EMPTY, TWIN, engine="none")
    [skipped] = here.events(ItemSkipped)
    assert skipped.rule == TWIN
    assert skipped.reason.startswith("a change for another rule made this one not applicable: ")
    assert (here.events(RunFinished)[0].passed, here.events(RunFinished)[0].skipped) == (1, 1)
    assert build_summary(here.kept.lines).needs == ()


@pytest.mark.parametrize(("foreign", "mode"), [(False, "auto"), (True, "dry-run")])
async def test_rules_that_name_what_they_depend_on_and_runs_without_changes_need_no_second_look(
    tmp_path, foreign, mode
):
    here = of_both(tmp_path, "pass", foreign=foreign)
    await here.run(EMPTY, TWIN, engine="none", mode=mode)
    assert rechecked(here) == []


async def test_a_rule_that_still_fails_is_worked_on(tmp_path):
    here = of_both(tmp_path, "fail")
    await here.run(EMPTY, TWIN, engine="none")
    assert rechecked(here) == [(TWIN, "fail")]
    assert [one.rule for one in here.events(AttemptStarted)][:2] == [EMPTY, TWIN]


class LaterInapplicable(OfBoth):
    """The first rule no longer applies once the run has closed its items."""

    def __init__(self):
        super().__init__("pass")
        self._scans = 0

    async def scan(self, files, rules, _judged=None):
        self._scans += 1
        found = await super().scan(files, rules)
        last = len(rules) > 1 and self._scans > 1
        return [replace(one, word="notapplicable") if last and one.rule == EMPTY else one for one in found]


async def test_a_rule_that_passed_and_applies_no_more_at_the_end_is_no_regression(tmp_path):
    first = replace(STIG.rules[EMPTY], foreign=True)
    skill = replace(STIG, rules={**STIG.rules, EMPTY: first, TWIN: replace(first, id=TWIN)})
    here = OnFixture(tmp_path, skill=skill, scanner=LaterInapplicable())
    await here.run(EMPTY, TWIN, engine="none")
    closing = {one.rule: one.word for one in here.events(VerdictGiven) if one.phase == "closing"}
    assert closing == {EMPTY: "notapplicable", TWIN: "pass"}
    assert here.events(RunFinished)[0].regressions == ()

from types import SimpleNamespace

import pytest

from app.errors import Unusable
from app.events.log import RunLog
from app.loop.effects import Scan
from app.loop.perform import perform
from app.loop.run import Means, Run
from app.loop.state import RunState
from app.scanners.verdict import Verdict
from app.targets.thread import TargetThread
from tests.loop.playing import pack, request, rule
from tests.loop.test_approvals import Kept

SKILL = pack([rule("V-1"), rule("V-2")])
ABSENT = "OpenSCAP is not installed there"


class Says:
    name = "OpenSCAP"

    def __init__(self, *words):
        self.words = words

    async def scan(self, _files, rules):
        return [Verdict(rule, word, why) for rule, (word, why) in zip(rules, self.words, strict=True)]


async def scanned(phase, *words):
    kept = Kept()
    means = Means(
        SKILL,
        TargetThread(SimpleNamespace(name="h", simulated=True, files=None)),
        Says(*words),
        {},
        SimpleNamespace(),
        "w",
    )
    run = Run(RunState(), RunLog("r", kept), means)
    run.append(request(SKILL))
    try:
        await perform(run, Scan(phase))
    finally:
        assert [one.event.word for one in kept.lines if hasattr(one.event, "word")] == [word for word, _ in words]


async def test_an_opening_scan_in_which_nothing_could_be_judged_says_why_and_ends_the_run():
    with pytest.raises(Unusable, match=f"Nothing could be judged, so nothing is begun: {ABSENT}"):
        await scanned("opening", ("error", ABSENT), ("error", ABSENT))


@pytest.mark.parametrize(
    ("phase", "second"),
    [("opening", ("error", "another reason")), ("opening", ("pass", ABSENT)), ("closing", ("error", ABSENT))],
)
async def test_what_could_be_judged_in_part_or_is_a_run_that_has_been_goes_on(phase, second):
    await scanned(phase, ("error", ABSENT), second)

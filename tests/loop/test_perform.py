import shutil
from asyncio import get_running_loop, run_coroutine_threadsafe
from types import SimpleNamespace

import msgspec
import pytest

from app.errors import EnvironmentUnusable
from app.events.event_field_types import ParameterUsed
from app.events.hosts_of_waiver_or_site_value import HostScope
from app.events.kinds import RunPreparing, ScanProgressed, get_event_kind
from app.events.log_writer import RunLog
from app.events.waiver_in_force import Waiver
from app.loop.effects import Scan, Start
from app.loop.perform import compute_pause, perform_effect
from app.loop.run_in_progress import Run, RunServices
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import RunState, fold_events
from app.scanners.scanner import Verdict
from app.skills.skill import apply_parameters, hash_rulebook
from app.skills.stig.pack import STIG as STIG_PACK
from app.targets.running_settings_report import InForceReport
from app.targets.target_thread import TargetThread
from tests.loop.playing import SOUND, pack, request, rule
from tests.loop.test_approvals import Kept
from tests.scanners.openscap.content import STIG

SKILL = pack([rule("V-1"), rule("V-2")])
ABSENT = "OpenSCAP is not installed there"


class Says:
    name = "OpenSCAP"

    def __init__(self, *words):
        self.words = words

    async def scan(self, _files, rules, _judged=None):
        return [Verdict(rule, word, why) for rule, (word, why) in zip(rules, self.words, strict=True)]


async def scanned(phase, *words):
    kept = Kept()
    means = RunServices(
        SKILL, TargetThread(SimpleNamespace(name="h", simulated=True, files=None)), Says(*words), {}, "w"
    )
    run = Run(RunState(), RunLog("r", kept), means)
    run.append(request(SKILL))
    try:
        await perform_effect(run, Scan(phase))
    finally:
        assert [one.event.word for one in kept.lines if hasattr(one.event, "word")] == [word for word, _ in words]
    return [one.event.evidence for one in kept.lines if hasattr(one.event, "evidence")]


async def test_an_opening_scan_in_which_nothing_could_be_judged_says_why_and_ends_the_run():
    with pytest.raises(
        EnvironmentUnusable, match=f"The scanner could judge no rule, so the run changed nothing: {ABSENT}"
    ):
        await scanned("opening", ("error", ABSENT), ("error", ABSENT))


async def test_evidence_is_kept_without_what_papers_and_their_checker_read_differently():
    told = await scanned(
        "closing", ("fail", "PermitRootLogin yes\r\n\x1b[1mUsePAM\x00 no\u202e"), ("pass", "x" * 30_000)
    )
    assert told == ["PermitRootLogin yes\nUsePAM no", "x" * 30_000]


@pytest.mark.parametrize(
    ("phase", "second"),
    [("opening", ("error", "another reason")), ("opening", ("pass", ABSENT)), ("closing", ("error", ABSENT))],
)
async def test_what_could_be_judged_in_part_or_is_a_run_that_has_been_goes_on(phase, second):
    await scanned(phase, ("error", ABSENT), second)


class Slow(Says):
    """It goes on once the log says how far it is."""

    def __init__(self, kept):
        self._kept = kept

    async def scan(self, _files, rules, judged=None):
        judged(1)
        await self._kept.until(ScanProgressed, count=1)
        return [Verdict(rule, "fail", "") for rule in rules]


async def test_a_scan_that_takes_longer_says_how_far_it_is():
    kept = Kept()
    host = TargetThread(SimpleNamespace(name="h", simulated=True, files=None))
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, host, Slow(kept), {}, "w"))
    run.append(request(SKILL))
    await perform_effect(run, Scan("closing"))
    (said,) = [one.event for one in kept.lines if isinstance(one.event, ScanProgressed)]
    assert (said.phase, said.judged, said.rules) == ("closing", 1, 2)
    upto = kept.lines.index(next(one for one in kept.lines if one.event is said)) + 1
    assert fold_events(kept.lines[:upto]).scanning == said
    assert run.state.scanning is None


class Sound:
    """A host that is ready and well."""

    name, simulated, confinement = "h", True, "none"

    def prepare(self, **_):
        pass

    def check_health(self):
        return SOUND

    def check_in_force(self):
        return InForceReport()


class SlowHost(Sound):
    """It goes on once the log says that it is being read."""

    def __init__(self, kept):
        self._kept, self._loop = kept, get_running_loop()

    def prepare(self, **_):
        run_coroutine_threadsafe(self._kept.until(RunPreparing, count=1), self._loop).result(30)


async def test_a_host_that_takes_longer_to_read_is_no_run_in_the_queue(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    kept = Kept()
    run = Run(RunState(), RunLog("r", kept), RunServices(SKILL, TargetThread(SlowHost(kept)), Says(), {}, "w"))
    run.append(request(SKILL))
    await perform_effect(run, Start())
    assert [get_event_kind(one.event) for one in kept.lines][:3] == ["run.queued", "run.preparing", "run.started"]
    assert [fold_events(kept.lines[:upto]).status for upto in (1, 2, 3)] == ["queued", "running", "running"]
    assert run.state.started_at == kept.lines[2].at


def test_a_fault_that_comes_again_is_looked_at_more_and_more_seldom_up_to_a_limit():
    assert [compute_pause(waits) for waits in ([], [1], [3, 1], [5], [6], [2000])] == [0.25, 0.5, 2.0, 8.0, 15.0, 15.0]


async def test_a_run_begins_with_the_waivers_of_its_host(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    asked, kept = [], Kept()
    here = Waiver(id="w", rule="V-1", scope=HostScope(), owner="o", reason="r", ticket="", since="", until="2099-01-01")

    def on(host, now):
        asked.append((host, now))
        return (here, msgspec.structs.replace(here, rule="V-9"))

    target = SimpleNamespace(
        name="h",
        simulated=True,
        confinement="none",
        prepare=lambda **_: None,
        check_health=lambda: SOUND,
        check_in_force=InForceReport,
    )
    run = Run(
        RunState(),
        RunLog("r", kept),
        RunServices(
            SKILL,
            TargetThread(target),
            Says(),
            {},
            "w",
            history=SimpleNamespace(list_active_waivers=on),
            clock=lambda: 7.0,
        ),
    )
    run.append(request(SKILL))
    await perform_effect(run, Start())
    assert asked == [(run.state.request.host, 7.0)]
    assert run.state.started.waivers == (here,)


async def test_a_run_begins_with_the_sites_values_and_goes_on_by_them(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    used = ParameterUsed(name="minlen", value="20", sha256="", rules=("V-258107",), where="group web")
    skill, kept = apply_parameters(STIG_PACK, (used,)), Kept()
    run = Run(RunState(), RunLog("r", kept), RunServices(skill, TargetThread(Sound()), Says(), {}, "w"))
    run.append(msgspec.structs.replace(request(skill), skill="stig"))
    await perform_effect(run, Start())
    assert run.state.started.parameters == (used,)
    assert run.state.started.rulebook == hash_rulebook(skill)
    assert run.state.started.rulebook != hash_rulebook(STIG_PACK)
    again = load_skill_with_run_parameters(fold_events(kept.lines))
    assert again.rules["V-258107"].requirement == skill.rules["V-258107"].requirement
    assert hash_rulebook(again) == hash_rulebook(skill)


async def test_a_run_begins_with_what_the_benchmark_at_hand_calls_its_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    shutil.copy(STIG, folder)
    kept, skill = Kept(), pack([rule("V-257985"), rule("V-2")])
    run = Run(RunState(), RunLog("r", kept), RunServices(skill, TargetThread(Sound()), Says(), {}, "w"))
    run.append(request(skill))
    await perform_effect(run, Start())
    given = run.state.started.published
    assert [(one.rule, one.id) for one in given.rules] == [("V-257985", "SV-257985r1000001_rule")]

"""For how long the log of a run may be silent, by what the run is doing."""

from dataclasses import replace

import pytest

from app.loop.state import SILENT_SECONDS
from app.runtime.stalled_run_detection import GRACE, HOST_STEP, STARTING, RunProgress, find_silences, get_silence_limit
from app.scanners.openscap.scanner import SECONDS_SILENT
from app.targets.ssh.ssh_resource_changes import SECONDS

NOW = 1_000_000.0
AT_WORK = RunProgress("r1", "web", "running", NOW, step="verdict", stall_seconds=60.0)


@pytest.mark.parametrize(
    ("step", "seconds"),
    [
        ("turn.started", 60.0),
        ("turn.delta", 60.0),
        ("scan.started", SECONDS_SILENT),
        ("action.applying", SECONDS),
        ("action.rolling_back", SECONDS),
        ("turn.finished", HOST_STEP.seconds),
        ("run.resumed", HOST_STEP.seconds),
    ],
)
def test_a_run_is_silent_only_after_the_limit_of_its_step(step, seconds):
    doing = replace(AT_WORK, step=step)
    assert list(find_silences([doing], NOW + seconds + GRACE)) == []
    (silence,) = find_silences([doing], NOW + seconds + GRACE + 0.1)
    assert (silence.kind, silence.run, silence.since, silence.limit) == (
        "progress",
        "r1",
        NOW,
        get_silence_limit(doing),
    )


def test_a_queue_at_another_node_is_not_known_here_so_its_run_may_be_silent_for_longer():
    assert get_silence_limit(replace(AT_WORK, is_elsewhere=True)).seconds == SILENT_SECONDS
    assert get_silence_limit(replace(AT_WORK, is_elsewhere=True, step="turn.delta")).seconds == 60.0


def test_a_run_that_may_wait_or_is_paused_is_never_silent():
    waits = [
        replace(AT_WORK, may_wait=True),
        replace(AT_WORK, status="paused"),
        replace(AT_WORK, is_held=False, may_wait=True),
    ]
    assert list(find_silences(waits, NOW + 1e6)) == []


@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_run_that_no_process_takes_up_in_time_is_told(status):
    left = replace(AT_WORK, status=status, is_held=False)
    assert list(find_silences([left], NOW + STARTING)) == []
    (silence,) = find_silences([left], NOW + STARTING + 0.1)
    assert (silence.kind, silence.status) == ("queue", status)

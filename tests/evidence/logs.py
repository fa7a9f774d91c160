"""Logs made by hand: a run on the STIG's rules with the verdicts that a test wants, and what it wants in between."""

from app.events.event_field_types import Budget, Probe, SeatTaken
from app.events.kinds import RunFailed, RunFinished, RunQueued, RunScoped, RunStarted, ScanFinished, VerdictGiven
from app.events.record import GENESIS, build_recorded_event
from app.evidence.run_record import read_run_record

BEGAN = 1_790_000_000.0
EVERY_WORD = {
    "V-257984": "pass",
    "V-257986": "fail",
    "V-257985": "notapplicable",
    "V-257983": "unknown",
    "V-257981": "error",
}
SEAT = SeatTaken(
    role="worker",
    engine="big",
    model="m",
    precision="nvfp4",
    vllm="0.19.0",
    replicas=1,
    temperature=0.1,
    max_tokens=100,
    max_model_len=4096,
)


def queued(rules, **more):
    asked = {"host": "web-1", "skill": "stig", "mode": "auto", "budget": Budget(), "lineup": "l", "by": "ada"}
    return RunQueued(**{**asked, "simulated": False, "rules": tuple(rules), **more})


def started(**more):
    probes = (Probe("agent-login", True, ""),)
    said = {
        "worker": "w",
        "confinement": "none",
        "scanner": "built-in",
        "probes": probes,
        "temper": "9",
        "simulated": False,
        "seats": (SEAT,),
    }
    return RunStarted(**{**said, **more})


def verdicts(phase, words, scanner="built-in"):
    given = [
        VerdictGiven(rule=rule, phase=phase, word=word, evidence=f"{rule} was seen", scanner=scanner)
        for rule, word in words.items()
    ]
    return [*given, ScanFinished(phase=phase, seconds=0.1)]


def scoped(words):
    return RunScoped(order=tuple(rule for rule, word in words.items() if word == "fail"), compliant=(), undecided=())


def finished():
    return RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


def chain(events, run="0a1b2c3d"):
    log, previous = [], GENESIS
    for seq, event in enumerate(events, 1):
        log.append(build_recorded_event(run, seq, BEGAN + seq, event, previous))
        previous = log[-1].hash
    return log


def plain_log(opening, closing=None, between=(), **request):
    """`closing` None: it failed before the closing scan."""
    begun = request.pop("begun", {})
    end = [*verdicts("closing", closing), finished()] if closing is not None else [RunFailed(reason="the disk is full")]
    return chain(
        [
            queued(request.pop("rules", opening), **request),
            started(**begun),
            *verdicts("opening", opening),
            scoped(opening),
            *between,
            *end,
        ]
    )


def plain_case(*args, **more):
    return read_run_record(plain_log(*args, **more))

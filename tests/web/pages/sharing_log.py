"""Three hosts that one engine answers, turn by turn: who begins and ends when, in which run."""

from app.events.event_field_types import Budget
from app.events.kinds import RunQueued, RunStarted, TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.events.record import GENESIS, build_recorded_event

HOSTS = {"aaaa1111": "web3", "bbbb2222": "db1", "cccc3333": "mail"}


def queued(host):
    return RunQueued(
        host=host, skill="stig", rules=("V-257985",), mode="auto", budget=Budget(), lineup="simulated", simulated=True
    )


def began(turn, role):
    said = {"rule": "V-257985", "attempt": 1, "purpose": "plan", "model": "m", "replica": 0, "max_tokens": 1}
    return TurnStarted(turn=turn, role=role, engine="gemma-31b", prompt=("", ""), **said)


def token(turn, role):
    return TurnDelta(turn=turn, role=role, channel="thought", text="x", tokens=1)


def done(turn, role, ttft):
    said = {"purpose": "plan", "outcome": "answered", "detail": "", "thought": "x", "answer": "", "ttft": ttft}
    return TurnFinished(turn=turn, role=role, **said)


BEGUN = RunStarted(worker="w", confinement="none", scanner="built-in", probes=())
EVENTS = [
    *((1000.0 + place, run, event) for run, host in HOSTS.items() for place, event in enumerate((queued(host), BEGUN))),
    (1010.0, "aaaa1111", began("a1", "architect")),
    (1012.0, "aaaa1111", token("a1", "architect")),
    (1020.0, "aaaa1111", done("a1", "architect", 2.0)),
    (1021.0, "bbbb2222", began("b1", "architect")),
    (1022.0, "aaaa1111", began("a2", "worker")),
    (1024.0, "bbbb2222", token("b1", "architect")),
    (1030.0, "aaaa1111", done("a2", "worker", 1.0)),
    (1031.0, "cccc3333", began("c1", "worker")),
    (1040.0, "bbbb2222", TurnInterrupted(turn="b1", reason="stopped")),
    (1044.0, "cccc3333", done("c1", "worker", 3.0)),
]


def write(store, told):
    for at, run, event in told:
        last = store.read_last_link(run)
        store.append([build_recorded_event(run, last[0] + 1 if last else 1, at, event, last[1] if last else GENESIS)])

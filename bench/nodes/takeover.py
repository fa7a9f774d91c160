"""A node is killed at work: which runs it had, when each went on elsewhere, and whether all of them ended once."""

import os
import signal
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg

from app.events.record import check_chain_and_get_head

ENDS = ("run.finished", "run.failed", "run.stopped")


@dataclass
class Takeover:
    at: float
    """By the clock."""
    runs: Sequence[str]
    """Of the node that was killed, and not ended."""
    went_on: dict[str, float] = field(default_factory=dict)
    """Seconds after the kill."""

    @property
    def over(self) -> bool:
        return len(self.went_on) == len(self.runs)

    def look(self, connection: psycopg.Connection) -> None:
        query = "select run, min(at) from event where run = any(%s) and at > %s group by run"
        found = connection.execute(query, (list(self.runs), self.at)).fetchall()
        self.went_on = {run: at - self.at for run, at in found}

    def told(self) -> str:
        waits = sorted(self.went_on.values())
        if not waits:
            return f"killed with {len(self.runs)} runs in hand: none has gone on"
        middle, longest = statistics.median(waits), waits[-1]
        return (
            f"killed with {len(self.runs)} runs in hand: {len(waits)} went on elsewhere, "
            f"the first after {waits[0]:.1f} s, half of them after {middle:.1f} s, the last after {longest:.1f} s"
        )


def killed(connection: psycopg.Connection, node: subprocess.Popen[str]) -> Takeover:
    query = (
        "select lease.name from lease join run on run.id = lease.name join node on node.name = lease.node"
        " where node.pid = %s and run.started_at is not null and run.ended_at is null"
    )
    os.kill(node.pid, signal.SIGKILL)
    at = time.time()
    node.wait()
    return Takeover(at, [run for (run,) in connection.execute(query, (node.pid,)).fetchall()])


def ended_once(connection: psycopg.Connection, rollout: str, hosts: int) -> str:
    """What must hold of the log when a rollout is through, or AssertionError."""
    runs = [run for (run,) in connection.execute("select id from run").fetchall()]
    [(had,)] = connection.execute("select count(distinct host) from run").fetchall()
    assert len(runs) == had == hosts, f"{len(runs)} runs on {had} of {hosts} hosts"
    for kinds in (ENDS, ("item.passed", "item.escalated", "item.skipped", "item.deferred")):
        query = "select run, count(*) from event where kind = any(%s) group by run having count(*) <> 1"
        wrong = connection.execute(query, (list(kinds),)).fetchall()
        assert not wrong, f"{kinds}: {wrong[:5]}"
    noted = "select count(*), count(distinct line) from event where run = %s and kind = 'rollout.host_ended'"
    [(ends, _)] = connection.execute(noted, (rollout,)).fetchall()
    assert ends == hosts, f"{ends} ends of hosts are noted"
    for run in (*runs, rollout):
        lines = connection.execute("select seq, line, hash from event where run = %s order by seq", (run,))
        check_chain_and_get_head(((seq, bytes(line), digest) for seq, line, digest in lines), run)
    [(passed,)] = connection.execute("select sum(passed) from run").fetchall()
    return f"{len(runs)} runs, one a host, each ended once, {passed} findings passed, every chain unbroken"

"""Disposable Debians hardened by one rollout, one of them set up so that a change harms it: it pauses and asks.

    python bench/debians.py [--hosts 10] [--at-once 3] [--rules V-257984,...] [--folder DIR]

SIMULATED engines without a pace; all else is real: Debian 12 in namespaces, each with an sshd of its own, OpenSCAP on
each host, `temper run --hosts` as a person types it. On the host in the middle somebody else's agent locks root's
nightly backup out as soon as sshd's settings change, and does not take that back: the Sentry sees it, the rollback does
not help, the run halts, and the rule of the rollout pauses the rest. Then a person, here this script, lets it go on.

What OpenSCAP passes is asked of each host before and at the close, by the enhanced profile of ANSSI. Memory is PSS, a
page that several share counted once, sampled every two seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from processes import family, pss

from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs

ROOT = Path(__file__).parent.parent
RULES = "V-257984,V-257985,V-257992,V-257993,V-257995,V-258003,V-258007,V-258041"
CONTENT, PROFILE = "ssg-debian12", "anssi_bp28_enhanced"
FILE = f"usr/share/xml/scap/ssg/content/{CONTENT}-ds.xml"
SAMPLED_EVERY = 2.0
AGENT = """was=$(cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/* 2>/dev/null | sha256sum)
while [ "$was" = "$(cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/* 2>/dev/null | sha256sum)" ]; do sleep 0.2; done
: >/root/.ssh/authorized_keys"""


class Site:
    """A data folder, and `temper` over it."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self._environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT)}

    def line(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "app", *words, "--data", str(self.data)]

    def temper(self, *words: str, fails: Sequence[int] = (0,)) -> str:
        ran = subprocess.run(
            self.line(*words), capture_output=True, text=True, check=False, env=self._environment, cwd=ROOT
        )
        assert ran.returncode in fails, f"{words}: {ran.returncode}: {ran.stderr}{ran.stdout}"
        return ran.stdout

    def bring(self, content: Path) -> None:
        line = [sys.executable, "-m", "app", "scap", "add", str(content)]
        subprocess.run(line, check=True, capture_output=True, env=self._environment, cwd=ROOT)

    def begun(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(self.line(*words), stdout=subprocess.PIPE, text=True, env=self._environment, cwd=ROOT)

    def know(self, machine: Rootfs, *, watched: bool) -> None:
        at, root = machine.get_access(), machine.get_access("root")
        place, known = f"{at.account}@127.0.0.1:{at.port}", ("--key", str(at.key), "--known-hosts", str(at.known_hosts))
        self.temper("host", "add", machine.name, place, *known, *(("--watch", f"root={root.key}") if watched else ()))

    def passed(self, host: str) -> set[str]:
        said = self.temper("scan", host, "--content", CONTENT, "--profile", PROFILE, "--json", fails=(0, 2))
        return {one["rule"] for one in json.loads(said) if one["openscap"] == "pass"}


class Memory:
    """The most that Temper with its simulator, and each host, had at once."""

    def __init__(self, temper: int, machines: Sequence[Rootfs]) -> None:
        self._over = threading.Event()
        self._temper, self._machines = temper, machines
        self.of_temper, self.of_hosts, self.of_one = 0, 0, 0
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._over.wait(SAMPLED_EVERY):
            each = [sum(map(pss, family(int((one.folder / "pid").read_text().split()[0])))) for one in self._machines]
            self.of_temper = max(self.of_temper, sum(map(pss, family(self._temper))))
            self.of_hosts, self.of_one = max(self.of_hosts, sum(each)), max(self.of_one, *each)


def harm(machine: Rootfs) -> None:
    """The agent that is not ours, at work on the host until it has done its harm."""
    at = machine.get_access()
    ssh = ["ssh", "-F", "none", "-p", str(at.port), "-i", str(at.key), "-o", f"UserKnownHostsFile={at.known_hosts}"]
    begin = "cat >/tmp/agent; setsid sudo -n sh /tmp/agent >/dev/null 2>&1 </dev/null &"
    subprocess.run([*ssh, f"{at.account}@127.0.0.1", begin], input=AGENT, text=True, check=True)


def followed(site: Site, running: subprocess.Popen[str], began: float) -> list[tuple[float, dict[str, object]]]:
    """Its lines, each with when it came; what its rule pauses is let go on."""
    told = []
    assert running.stdout
    for line in running.stdout:
        event = json.loads(line)
        told.append((time.monotonic() - began, event))
        print(f"{told[-1][0]:7.1f} s  {_short(event)}", flush=True)
        if event["kind"] == "rollout.paused":
            _until_it_rests(site)
            site.temper("rollout", "resume", str(event["run"]), "--reason", "looked at: the host is left as it is")
    running.wait()
    return told


def _until_it_rests(site: Site) -> None:
    """The runs at work have paused too, each with its change seen through."""
    while any(one["state"] == "running" for one in json.loads(site.temper("runs", "--json"))):
        time.sleep(0.5)


def _short(event: dict[str, object]) -> str:
    names = ("kind", "host", "wave", "state", "findings", "passed", "escalated", "harm", "by", "reason")
    return " ".join(str(event[name]) for name in names if event.get(name) not in (None, "", 0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--rules", default=RULES)
    parser.add_argument("--folder", type=Path, default=Path.home() / ".cache/temper-bench-hosts")
    asked = parser.parse_args()
    with ExitStack() as stack:
        site = Site(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="temper-debians-"))))
        machines = [Rootfs(asked.folder, f"deb-{number}-{os.getpid()}") for number in range(1, asked.hosts + 1)]
        for machine in machines:
            stack.callback(machine.discard)
            machine.build(BaseImage())
            machine.start()
        sick = machines[len(machines) // 2]
        for machine in machines:
            site.know(machine, watched=machine is sick)
        site.bring(machines[0].base_folder / FILE)
        before = {machine.name: site.passed(machine.name) for machine in machines}
        harm(sick)
        words = ("--rules", asked.rules, "--mode", "auto", "--attempts", "2", "--speed", "0", "--json")
        began = time.monotonic()
        running = site.begun("run", "--hosts", "all", "--at-once", str(asked.at_once), *words)
        memory = Memory(running.pid, machines)
        told = followed(site, running, began)
        seconds = time.monotonic() - began
        memory.end()
        after = {machine.name: site.passed(machine.name) for machine in machines}
        report(asked, told, seconds, memory, [(one.name, before[one.name], after[one.name]) for one in machines], sick)


def report(asked, told, seconds, memory, scanned, sick) -> None:  # type: ignore[no-untyped-def]
    ends = {event["host"]: (at, event) for at, event in told if event["kind"] == "rollout.host_ended"}
    print(
        "\n| host | ended at, s | run | findings passed | left to a person | OpenSCAP passes, before | at the close |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, before, after in scanned:
        at, event = ends[name]
        host = name.rpartition("-")[0] + (" (sabotaged)" if name == sick.name else "")
        counts = f"{event['passed']} of {event['findings']} | {event['escalated']}"
        print(f"| {host} | {at:.0f} | {event['state']} | {counts} | {len(before)} | {len(after)} |")
    new = {rule for _, before, after in scanned for rule in after - before}
    print(f"\nOpenSCAP passes at the close and not before, on one host or more: {', '.join(sorted(new)) or 'nothing'}")
    print(f"{asked.hosts} hosts, {asked.at_once} at once, {seconds / 60:.1f} minutes, the pause among them")
    print(
        f"PSS at most: Temper with its simulator {memory.of_temper / 1024:.0f} MiB; "
        f"all hosts {memory.of_hosts / 1024:.0f} MiB, one host {memory.of_one / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()

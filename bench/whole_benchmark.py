"""A whole benchmark on a disposable Debian without a model: what the content's own proposals fix, and what is left.

    python bench/whole_benchmark.py [--profile anssi_bp28_enhanced] [--rules A,B,...] [--folder DIR] [--events FILE]
        [--reasons FILE] [--share FILE]

Nothing is simulated: Debian 12 in a namespace with an sshd of its own, OpenSCAP on the host, `temper run --engine none`
as a person types it. Fixed is what OpenSCAP fails at the start and passes at the close of the run. At the end the
logins and sudo of the host are used once more, from outside of Temper. The floor is a host that nobody changes: 0.
"""

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from debians import CONTENT, FILE, PROFILE, ROOT, Site
from processes import family

from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs

Event = Mapping[str, Any]
SHOWN = 12
"""Reasons of each kind that are printed."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default=PROFILE)
    parser.add_argument("--rules", default="")
    parser.add_argument("--folder", type=Path, default=ROOT / "build")
    parser.add_argument("--events", type=Path, help="keep the log of the run here")
    parser.add_argument("--reasons", type=Path, help="write here why each rule is left, with each of its proposals")
    parser.add_argument("--share", type=Path, help="write the run here as one file that plays without a server")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    machine = Rootfs(options.folder.resolve(), f"whole-{os.getpid()}")
    try:
        machine.build(BaseImage())
        machine.start()
        with tempfile.TemporaryDirectory() as folder:
            site = Site(Path(folder))
            events, seconds = harden_host(site, machine, options)
            report_run(events, seconds)
            if options.share:
                site.temper("share", events[0]["run"], str(options.share.resolve()))
            if options.reasons:
                options.reasons.write_text("".join(_iter_reasons(events)))
            print_logins(machine)
    finally:
        machine.discard()
    return 0


def harden_host(site: Site, machine: Rootfs, options: argparse.Namespace) -> tuple[list[Event], float]:
    """Return the events of the run over the whole profile, and how long it took."""
    site.bring(machine.base_folder / FILE)
    site.know(machine, watched=True)
    rules = ("--rules", options.rules) if options.rules else ()
    words = ("--skill", f"scap:{CONTENT}:{options.profile}", "--mode", "auto", "--engine", "none", *rules)
    began, busy = time.monotonic(), _read_busy_seconds(machine)
    output = site.temper("run", "--host", machine.name, *words, "--json", fails=(0, 2))
    seconds = time.monotonic() - began
    here, there = (after - before for before, after in zip(busy, _read_busy_seconds(machine), strict=True))
    print(f"processor time: {here:.0f} s of Temper, {there:.0f} s of the host")
    if options.events:
        options.events.write_text(output)
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")], seconds


def _read_busy_seconds(machine: Rootfs) -> tuple[float, float]:
    """Return the processor time of Temper's processes that have ended, and of the host's."""
    here, tick = resource.getrusage(resource.RUSAGE_CHILDREN), os.sysconf("SC_CLK_TCK")
    ticks = 0
    for pid in family(int((machine.folder / "pid").read_text().split()[0])):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return here.ru_utime + here.ru_stime, ticks / tick


def report_run(events: Sequence[Event], seconds: float) -> None:
    opening, closing = (_read_verdicts(events, phase) for phase in ("opening", "closing"))
    broken = {rule for rule, word in opening.items() if word == "fail"}
    fixed = {rule for rule in broken if closing.get(rule) == "pass"}
    worse = sorted(rule for rule, word in opening.items() if word == "pass" and closing.get(rule) == "fail")
    print(f"{len(opening)} rules, {len(broken)} findings, {seconds:.0f} s")
    print(f"fixed by OpenSCAP's word: {len(fixed)} of {len(broken)} ({len(fixed) / max(1, len(broken)):.0%})")
    print(f"passed before and fail now: {len(worse)} {' '.join(worse)}")
    for kind in ("item.escalated", "item.deferred", "action.rolled_back", "sentry.alarm"):
        print(f"{kind}: {sum(event['kind'] == kind for event in events)}")
    _print_counts("attempts that failed", (e["cause"] for e in events if e["kind"] == "attempt.failed"))
    _print_counts("sources of what holds", _iter_sources(events, fixed))
    _print_counts("proposals that could not be made", (c["gap"] for c in _iter_candidates(events) if c["gap"]))
    _print_counts("proposals that the policy refuses", (c["refusal"] for c in _iter_candidates(events) if c["refusal"]))
    _print_counts("why it was escalated", (_classify_end(events, rule) for rule in _find_escalated(events)))
    _print_counts("where the time goes, in s", _iter_waits(events))


def _read_verdicts(events: Sequence[Event], phase: str) -> dict[str, str]:
    return {e["rule"]: e["word"] for e in events if e["kind"] == "verdict" and e["phase"] == phase}


def _iter_candidates(events: Sequence[Event]) -> Iterator[Event]:
    for event in events:
        if event["kind"] == "candidates":
            yield from event["candidates"]


def _iter_sources(events: Sequence[Event], fixed: set[str]) -> Iterator[str]:
    """Yield for each fixed rule whose proposal was tried last."""
    last = {e["rule"]: e.get("source", "") for e in events if e["kind"] == "action.proposed"}
    yield from (last.get(rule) or "fixed along with another rule" for rule in fixed)


def _iter_waits(events: Sequence[Event]) -> Iterator[str]:
    """Yield the kind of each event as often as whole tenths of a second went by before it."""
    times = [_read_time(event["at"]) for event in events]
    for before, after, event in zip(times, times[1:], events[1:], strict=False):
        yield from [f"before {event['kind']} (tenths)"] * round(10 * (after - before))


def _find_escalated(events: Sequence[Event]) -> dict[str, str]:
    return {event["rule"]: event["reason"] for event in events if event["kind"] == "item.escalated"}


def _classify_end(events: Sequence[Event], rule: str) -> str:
    """Return in a few words why a rule is left: what became of its last change, or why there was none."""
    ends = {"scanner": "done, and the scanner still says fail", "alarm": "done, and a probe found harm"}
    causes = [e["cause"] for e in events if e["kind"] == "attempt.failed" and e["rule"] == rule]
    if end := next((ends.get(cause, cause) for cause in reversed(causes) if cause != "refused"), ""):
        return end
    proposed = [c for e in events if e["kind"] == "candidates" and e["rule"] == rule for c in e["candidates"]]
    if refused := [one["refusal"] for one in proposed if one["refusal"]]:
        return f"the policy refuses it: {refused[0].partition(':')[0]}"
    return next((f"no proposal: {one['gap']}" for one in proposed), "no proposal")


def _iter_reasons(events: Sequence[Event]) -> Iterator[str]:
    proposed = {e["rule"]: e["candidates"] for e in events if e["kind"] == "candidates"}
    for rule, reason in _find_escalated(events).items():
        yield f"{rule}\n  {_classify_end(events, rule)}\n  {reason}\n"
        for one in proposed.get(rule, ()):
            actions = json.dumps(one["actions"])[:400] if one["actions"] else ""
            yield f"  - {one['source']}: {one['gap'] or one['refusal'] or 'tried'} {actions}\n"


def _read_time(text: str) -> float:
    hours, minutes, seconds = re.split("[T:Z]", text)[1:4]
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)


def _print_counts(title: str, words: Any) -> None:
    counted = Counter(re.sub(r"[0-9a-f]{8,}", "…", word)[:220] for word in words)
    print(f"\n{title}: {counted.total()}")
    for word, count in counted.most_common(SHOWN):
        print(f"  {count:5}  {word}")


def print_logins(machine: Rootfs) -> None:
    """Print whether both accounts still log in, and whether the first still has sudo: by ssh alone."""
    for account, command in (("temper", "sudo -n true"), ("root", "true")):
        at = machine.get_access(account)
        ssh = ("ssh", "-p", str(at.port), "-i", str(at.key), "-o", f"UserKnownHostsFile={at.known_hosts}")
        code = os.spawnvp(os.P_WAIT, "ssh", [*ssh, "-o", "BatchMode=yes", f"{at.account}@127.0.0.1", command])
        print(f"login of {at.account} ({command}): {'works' if code == 0 else f'FAILS ({code})'}")


if __name__ == "__main__":
    sys.exit(main())

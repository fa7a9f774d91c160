"""A run in mode auto on a real host by the hostile engine, and what that host has by its own word before and after."""

import asyncio
from dataclasses import dataclass

from app.events.event_field_types import Budget
from app.events.kinds import ActionApplied, AttemptFailed
from app.runs.order import BOUNDS, Order, create_run_request
from tests.following import followed
from tests.hostile_answers import Onslaught, read_honest_answers
from tests.hostile_engine import served
from tests.test_secrets import worked

_CHANGING = ("/proc", "/sys", "/run", "/tmp", "/var/log", "/var/tmp", "/var/cache", "/var/spool", "/root/rules",
             "/var/lib/temper", "/var/lib/systemd", "/var/lib/chrony")  # fmt: skip
_FIND = " ".join(["find / -xdev -type f", *(f"! -path '{folder}/*'" for folder in _CHANGING)])
READINGS = {
    "files": f"{_FIND} -printf '%m %U %G  %p\\n'; {_FIND} -exec sha256sum {{}} +",
    "packages": "dpkg-query -W -f '${Package} ${db:Status-Abbrev} ${Version}\\n'",
    "units": "find /etc/systemd /etc/init.d /etc/rc?.d -printf '%p %l\\n' 2>/dev/null | sort",
    # systemd mounts and drops these by itself, when somebody looks.
    "mounts": "cut -d ' ' -f 5,6 /proc/self/mountinfo | grep -v -e /binfmt_misc -e ^/run/credentials/",
    "accounts": "passwd -S -a; cat /etc/passwd /etc/group",
    "rights": "for who in root temper nobody; do echo $who; sudo -l -U $who 2>&1 | sed 's/ on .*//'; done",
    "switching": "for who in root temper; do su -s /bin/sh -c 'echo in' $who; done 2>&1",
}
"""Scripts for root, whose output may not change but for the files of the rules."""


@dataclass(frozen=True)
class Endured:
    answers: int
    applied: list[tuple[str, str]]
    """Rule, and a file or resource that changed on the host."""
    causes: list[str]


def choose_rules(rules):
    """Those about files, which have an honest answer."""
    honest = read_honest_answers()
    return [
        rule for rule in rules if rule in honest and all(path.startswith("/etc/") for path in honest[rule]["paths"])
    ]


def attack_host(
    site, skill: str, rules: list[str], wanted: int, turns: float = 120.0, honest_share: float = 0.04
) -> Endured:
    """Let the engine answer so often, in as many runs as that takes; once all rules are fixed there is no more."""
    honest = {rule: read_honest_answers()[rule] for rule in rules}
    enemy = Onslaught(1, honest, honest_share)
    attempts = min(-(-wanted // len(rules)), int(BOUNDS["attempts"][1]))
    budget = Budget(attempts=attempts, turn_seconds=turns, stall_seconds=turns, item_tokens=10_000_000)
    events = []

    async def run(url):
        async with worked(site.data, url) as (runtime, lineup):
            order = Order(host="deb", skill=skill, rules=tuple(rules), mode="auto", budget=budget, by="ada")
            request = create_run_request(order, lineup, runtime.settings.hosts_folder)
            events.extend(one.event for one in await followed(runtime, await runtime.submit_run(request)))

    with served(enemy) as url:
        before = -1
        while before < enemy.attacks.total() < wanted:
            before = enemy.attacks.total()
            asyncio.run(run(url))
    applied = [(one.rule, change.path) for one in events if isinstance(one, ActionApplied) for change in one.changes]
    causes = [one.cause for one in events if isinstance(one, AttemptFailed)]
    return Endured(enemy.attacks.total(), applied, causes)


def list_own_files(rules: list[str]) -> set[str]:
    return {path for rule in rules for path in read_honest_answers()[rule]["paths"]}


def find_changed_files(before: str, after: str) -> set[str]:
    """Return the files that have another mode, owner or content, or are only on one side."""
    return {line.partition("  ")[2] for line in {*before.splitlines()} ^ {*after.splitlines()}}

"""From words in a form, a body or on a command line to a schedule; whatever is wrong is said in one sentence."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from app.background.schedules.timing import next_after
from app.errors import BadInput
from app.runs.order import mode_of, rules_of
from app.skills.catalog import skill
from app.store.models import ScheduleRow
from app.targets.catalog import known_host

_MINUTE = 60.0


@dataclass(frozen=True)
class Wanted:
    host: str
    cron: str
    zone: str = "UTC"
    mode: str = "scan"
    skill: str = "stig"
    rules: str = ""
    window_minutes: float | None = None


def schedule(wanted: Wanted, by: str, now: float, hosts: Path) -> ScheduleRow:
    known_host(wanted.host, hosts)
    mode = mode_of(wanted.mode, skill(wanted.skill))
    rules_of(wanted.rules, wanted.skill)
    if mode == "auto" and not wanted.window_minutes:
        raise BadInput("auto changes a host with nobody there: give it a window in minutes, after which it is stopped.")
    return ScheduleRow(
        id=secrets.token_hex(3),
        host=wanted.host,
        skill=wanted.skill,
        rules=wanted.rules,
        mode=mode,
        cron=wanted.cron.strip(),
        zone=wanted.zone.strip(),
        window_seconds=wanted.window_minutes * _MINUTE if wanted.window_minutes else None,
        by=by,
        made_at=now,
        next_at=next_after(wanted.cron.strip(), wanted.zone.strip(), now),
    )

"""A run that began with a waiver."""

from app.events.hosts_of_waiver_or_site_value import HostScope
from app.events.kinds import ItemSkipped
from app.events.waiver_in_force import Waiver
from tests.evidence.logs import BEGAN, plain_log

RULE, OTHER = "V-257984", "V-257985"
UNTIL = "2026-12-24"
"""Three months after the logs of these tests were made."""


def waiver(**more):
    given = {"owner": "Ops lead", "reason": "the old client dies of it", "ticket": "CHG-7", "until": UNTIL}
    asked = {"id": "5e1f", "rule": RULE, "scope": HostScope("host", "web-1"), "since": "2026-09-01T00:00:00.000Z"}
    return Waiver(**{**asked, **given, **more})


def waived_log(*waivers, closing=None, **more):
    given = waivers or (waiver(),)
    left = [ItemSkipped(rule=RULE, reason=given[0].summary, waiver=given[0].id)]
    words = {RULE: "fail", OTHER: "fail"}
    begun = {"waivers": given}
    return plain_log(words, closing or {RULE: "fail", OTHER: "fail"}, begun=begun, between=left, **more)


__all__ = ["BEGAN", "OTHER", "RULE", "UNTIL", "waived_log", "waiver"]

"""How the mission page shows probes: passed, failed, and those that the host could not be asked."""

from app.events.event_field_types import Probe
from app.events.kinds import SentryProbed
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST

PROBES = (
    Probe("pam", True, "sane", asked=True),
    Probe("sshd", True, "of an older release"),
    Probe("password-change", True, "not asked: no mount namespace", asked=False),
    Probe("visudo", False, "refuses its files", asked=True),
)


async def test_a_probe_that_could_not_be_asked_has_no_tick_and_does_not_count_as_fine(tmp_path):
    at = next(n for n, event in enumerate(EVENTS) if isinstance(event, SentryProbed))
    probed = SentryProbed(rule=FIRST, attempt=1, probes=PROBES, drift=(), log=())
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS[:at], probed)
        page = (await made.http.get("/runs/r1")).text
    assert "2 of 4 probes fine, 1 not asked</b>" in page
    assert '<i class="o" title="password-change: not asked: no mount namespace"></i>' in page
    assert '<i class="y" title="pam: sane">✓</i>' in page
    assert '<i class="x" title="visudo: refuses its files">✗</i>' in page
    assert '<b aria-hidden="true" class="">–</b> <span>password-change</span>' in page
    assert '<b aria-hidden="true" class="passed">✓</b> <span>sshd</span>' in page

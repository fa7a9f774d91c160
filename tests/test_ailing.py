"""A host on which something was broken before the run: it is hardened all the same, and no change is blamed."""

from app.events.kinds import RunStarted, SentryAlarm, SentryClear, SentryProbed
from app.loop.state import fold_events
from app.runs.order import Order, create_run_request
from app.targets.host_registry import open_target
from tests.following import followed
from tests.test_faults import QUICK, RULE, worked


async def test_a_probe_that_failed_before_the_run_undoes_no_change(tmp_path):
    async with worked(tmp_path) as (worker, lineup):
        open_target("fixture", worker.settings.hosts_folder).prepare()
        (tmp_path / "hosts" / "fixture" / "root" / "etc" / "mission" / "backup.conf").write_text("[backup]\n")
        order = Order(rules=(RULE,), keep=True, budget=QUICK, pace=0, by="ada")
        request = create_run_request(order, lineup, worker.settings.hosts_folder)
        log = await followed(worker, await worker.submit_run(request))
    events = [one.event for one in log]
    started = next(event for event in events if isinstance(event, RunStarted))
    probed = next(event for event in events if isinstance(event, SentryProbed))
    clear = next(event for event in events if isinstance(event, SentryClear))
    assert [probe.name for probe in started.probes if not probe.ok] == ["backup-login"]
    assert probed.ailing == ("backup-login",)
    assert "fail, as before the run" in clear.assessment
    assert not any(isinstance(event, SentryAlarm) for event in events)
    assert fold_events(log).items[RULE].status == "passed"

"""What /metrics says of faults, of the data folder, of backups and of what waits for a person."""

import re
from types import SimpleNamespace

from sqlmodel import Session

from app.events.kinds import EngineState
from app.runtime.backup_age import record_first_use_by_oldest_file
from app.store.backup_times import record_backup
from app.store.models import RunRow
from tests.runs.doors import house


async def read_figures(made):
    """The figures by name and labels."""
    told = (await made.http.get("/metrics")).text
    return {name: float(value) for name, value in re.findall(r"^(temper_[^ ]+) ([\d.e+-]+)$", told, re.MULTILINE)}


def queue_run(made, run, host, state, ago=120.0, **more):
    words = {"mode": "auto", "skill": "stig", "lineup": "simulated", "simulated": True, "note": ""}
    with Session(made.database) as session, session.begin():
        session.add(RunRow(id=run, host=host, state=state, queued_at=made.clock.now() - ago, **words, **more))


async def test_disk_and_the_age_of_the_backup_are_told_also_before_the_first(tmp_path):
    async with house(tmp_path) as made:
        figures = await read_figures(made)
        assert 0 <= figures["temper_data_disk_free_ratio"] <= 1
        assert figures["temper_nodes_lost"] == 0
        record_first_use_by_oldest_file(tmp_path, made.clock.now())
        (tmp_path / "first_start").write_text(str(made.clock.now() - 9000))
        assert abs((await read_figures(made))["temper_backup_age_seconds"] - 9000) < 60
        record_backup(made.database, made.clock.now() - 3600, "ada")
        assert abs((await read_figures(made))["temper_backup_age_seconds"] - 3600) < 60


async def test_a_queue_on_which_nothing_works_is_told_once_for_each_host(tmp_path):
    async with house(tmp_path) as made:
        made.durable = SimpleNamespace(taken_at={"r1": made.clock.now()})
        queue_run(made, "r1", "web1", "running")
        queue_run(made, "r2", "web1", "queued")
        assert (await read_figures(made))["temper_queue_stuck_runs"] == 0, "the host's run is at work"
        queue_run(made, "r3", "web2", "queued")
        queue_run(made, "r4", "web2", "queued")
        figures = await read_figures(made)
        assert figures["temper_queue_stuck_runs"] == figures['temper_faults{kind="queue"}'] == 1


async def test_engines_are_broken_in_the_metrics_as_the_pages_say_it(tmp_path):
    async with house(tmp_path) as made:
        made.board.states["gemma-31b"] = (1.0, EngineState(engine="gemma-31b", state="dead"))
        made.board.states["gemma-e4b"] = (1.0, EngineState(engine="gemma-e4b", state="loading"))
        figures = await read_figures(made)
        broken = [name for name, value in figures.items() if name.startswith("temper_engine_faults") and value]
        assert broken == ['temper_engine_faults{engine="gemma-31b",state="dead",simulated="true"}']
        made.simulator = SimpleNamespace(is_running=False)
        figures = await read_figures(made)
        assert figures['temper_engine_faults{engine="gemma-31b",state="absent",simulated="true"}'] == 1, (
            "stopped, and not dead"
        )
        assert figures['temper_engine_faults{engine="gemma-31b",state="dead",simulated="true"}'] == 0


async def test_what_waits_for_a_person_is_told_by_kind_with_the_age_of_the_oldest(tmp_path):
    async with house(tmp_path) as made:
        figures = await read_figures(made)
        assert figures['temper_inbox_items{kind="rollout"}'] == figures["temper_approvals_waiting"] == 0
        for run, host, ago in (("r1", "web1", 7200.0), ("r2", "web2", 60.0)):
            end = made.clock.now() - ago
            queue_run(made, run, host, "failed", ago, started_at=end, ended_at=end, reason="the host is gone")
        figures = await read_figures(made)
        assert figures['temper_inbox_items{kind="host"}'] == 2
        assert abs(figures['temper_inbox_oldest_seconds{kind="host"}'] - 7200) < 60
        assert figures['temper_inbox_oldest_seconds{kind="approval"}'] == 0

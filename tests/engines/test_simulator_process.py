import asyncio

import pytest

from app.engines.simulator_process import SimulatorProcess
from app.lineups.reader import read_lineup, require_lineup_path


async def test_after_a_start_that_was_cancelled_the_next_one_starts_anew(tmp_path):
    path = require_lineup_path("simulated")
    engines = [name for name, engine in read_lineup(path).engines.items() if engine.simulation]
    simulator = SimulatorProcess(path, engines, 0, tmp_path / "log")
    starting = asyncio.create_task(simulator.start())
    while not simulator.is_running:
        assert not starting.done()
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    was_left_running = simulator.is_running
    await simulator.start()
    await simulator.stop()
    assert not was_left_running
    assert list(simulator.bases) == engines

"""`temper serve`: a signal ends it at any time, also while it changes its line-up."""

import asyncio
import os
import signal

import pytest

from app.cli import serve
from app.config import Settings
from app.runtime.model_server_chosen_by_admin import LineupChange


@pytest.mark.parametrize("moment", ["the old one closes", "the new one opens"])
async def test_a_signal_during_a_change_of_line_up_ends_the_server(tmp_path, monkeypatch, caplog, moment):
    caplog.set_level("INFO", "app.cli.serve")
    load, loaded = serve.load_lineup, []

    def load_and_signal(settings):
        loaded.append(settings.lineup)
        if len(loaded) == 2 and moment == "the new one opens":
            os.kill(os.getpid(), signal.SIGTERM)
        return load(settings)

    async def change_line_up(runtime):
        runtime.own_server.store_change_and_signal_request(LineupChange("", "the line-up of the start"))
        try:
            await asyncio.Event().wait()
        finally:  # the server has ended for the change
            if moment == "the old one closes":
                os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(serve, "load_lineup", load_and_signal)
    async with asyncio.timeout(50):
        await serve.serve_until_signal(Settings(data=tmp_path / "data", port=0, speed=0), side_task=change_line_up)
    told = [record.getMessage() for record in caplog.records if record.name == "app.cli.serve"]
    assert told[-1] == "server stopped"
    assert [record.reason for record in caplog.records if record.getMessage() == "server stopping"] == [
        "another line-up was chosen",
        "SIGTERM",
    ]

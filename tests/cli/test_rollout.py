"""`temper run --hosts` beside a server: what works on the data folder works on the rollout."""

import asyncio
import json

from sqlmodel import Session

from app.cli.rollout import run_rollout
from app.config import Settings
from app.runs.order import Order
from app.runs.rollout.rollout_request import RolloutSpec
from app.runtime.data_folder import hold_lock
from app.store.db import open_and_migrate_database
from app.store.rollouts import list_unended_rollouts
from tests.engines.launch.conftest import until


async def test_the_same_command_after_an_interruption_follows_the_rollout_that_is_there(tmp_path, capsys):
    settings = Settings(data=tmp_path, speed=0, kind="run")
    order = Order(rules=("V-257985",), mode="scan", by="ada")
    followed = []

    def has_followed(count):
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        followed.extend(line["run"] for line in lines if line["kind"] == "rollout.asked")
        return len(followed) == count

    with hold_lock(settings.lock_path):
        for count in (1, 2):
            spec = RolloutSpec(order=order, hosts=(), words="fixture")
            command = asyncio.create_task(run_rollout(settings, spec, as_json=True))
            await until(lambda count=count: has_followed(count))
            command.cancel()
            await asyncio.wait({command})
    database = open_and_migrate_database(settings.database_path_or_url)
    with Session(database) as session:
        unended = [row.id for row in list_unended_rollouts(session)]
    database.dispose()
    assert followed == unended * 2

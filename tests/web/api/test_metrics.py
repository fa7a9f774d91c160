"""What /metrics says of the data folder, of backups and of a queue that nobody works on."""

import re

from app.runtime.backup_record import record_backup
from app.store.request_session import open_write_session
from tests.runs.doors import house


async def read_figures(http):
    told = (await http.get("/metrics")).text
    return {name: float(value) for name, value in re.findall(r"^(temper_\w+) ([\d.e+-]+)$", told, re.MULTILINE)}


async def test_the_age_of_the_newest_backup_is_told_once_there_is_one(tmp_path):
    async with house(tmp_path) as made:
        figures = await read_figures(made.http)
        assert "temper_backup_age_seconds" not in figures
        assert 0 <= figures["temper_data_disk_free_ratio"] <= 1
        assert figures["temper_nodes_lost"] == 0
        record_backup(made.settings.data, made.clock.now() - 3600)
        assert abs((await read_figures(made.http))["temper_backup_age_seconds"] - 3600) < 60

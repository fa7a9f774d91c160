import asyncio
import json

import pytest
from sqlmodel import Session

from app.cli import harden
from app.cli.database_access import open_or_create_database
from app.cli.harden import ALL_PASSED, harden_host, restrict_order_to_open_rules, run_check_after_reboot
from app.cli.runtime_opening import load_lineup
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import ActionProposed, CandidatesGathered, RebootChecked
from app.events.record import build_recorded_event
from app.loop.state import RunState
from app.runs.order import Order, create_run_request
from app.runtime.data_folder import hold_lock
from app.store import run_queries
from app.store.db import open_and_migrate_database
from app.store.events import EventStore


def test_open_rules_are_asked_for_and_the_log_says_from_where(tmp_path, capsys):
    file = tmp_path / "theirs.cklb"
    rules = [{"group_id": "V-257985", "status": "open"}, {"group_id": "V-5", "status": "open"}]
    file.write_text(json.dumps({"stigs": [{"rules": rules}]}))
    started = restrict_order_to_open_rules(Order(note="for the audit", by="ada"), file)
    assert started.rules == ("V-257985",)
    assert started.note.startswith("for the audit; open rules of theirs.cklb (sha256 ")
    assert "1 open rule is not in this skill: V-5." in capsys.readouterr().err


def test_either_a_file_or_rules(tmp_path):
    with pytest.raises(BadInput, match="--from or --rules, not both"):
        restrict_order_to_open_rules(Order(rules=("V-257985",), by="ada"), tmp_path)


RECIPE = """
[["V-258068"]]
do = "write_file"
path = "/etc/profile.d/tmout.sh"
content = "declare -xr TMOUT=600\\n"
"""


async def test_a_recipe_of_the_data_folder_and_one_of_the_command_are_tried_by_a_run(tmp_path):
    settings = Settings(data=tmp_path / "data", speed=0, kind="run", recipes=(tmp_path / "bea.toml",))
    settings.fix_recipes_folder.mkdir(parents=True)
    (settings.fix_recipes_folder / "ana.toml").write_text(RECIPE)
    (tmp_path / "bea.toml").write_text(RECIPE.replace("600", "60000"))
    order = Order(rules=("V-258068",), engine="none", by="ada")
    assert await harden_host(settings, order, as_json=False) == ALL_PASSED
    with open_or_create_database(settings) as database, Session(database) as session:
        run = run_queries.find_newest_run(session).id
        events = [one.event for one in EventStore(database).read_events(run)]
    [gathered] = [one for one in events if isinstance(one, CandidatesGathered)]
    assert [one.source for one in gathered.candidates][:2] == ["a recipe of bea", "a recipe of ana"]
    taken = [one.source for one in events if isinstance(one, ActionProposed)]
    assert taken[-1] == "a recipe of ana"


async def test_a_wrong_recipe_stops_the_start(tmp_path):
    settings = Settings(data=tmp_path, speed=0, kind="run")
    settings.fix_recipes_folder.mkdir()
    (settings.fix_recipes_folder / "ana.toml").write_text("x = 1")
    with pytest.raises(BadInput, match=r"ana\.toml:1: x needs 1 to 12 actions"):
        await harden_host(settings, Order(by="ada"), as_json=False)


async def test_a_recipe_of_the_command_is_not_lost_to_another_process(tmp_path):
    settings = Settings(data=tmp_path / "data", speed=0, kind="run", recipes=(tmp_path / "bea.toml",))
    (tmp_path / "bea.toml").write_text(RECIPE)
    settings.data.mkdir()
    with hold_lock(settings.lock_path), pytest.raises(BadInput, match="reads no --recipes of this command"):
        await harden_host(settings, Order(by="ada"), as_json=False)


def test_a_reboot_check_of_a_host_that_does_not_exist_says_so(tmp_path):
    settings = Settings(data=tmp_path, kind="run")
    open_and_migrate_database(settings.database_path_or_url).dispose()
    with pytest.raises(BadInput, match=r"there is no host 'web'\. The hosts are: fixture"):
        run_check_after_reboot(settings, "web", as_json=False)


async def test_a_run_that_was_ordered_meanwhile_does_not_speak_for_a_reboot_check(tmp_path, monkeypatch):
    settings = Settings(data=tmp_path / "data", speed=0, kind="run")
    request = create_run_request(Order(by="ada"), load_lineup(settings), settings.hosts_folder)
    with open_or_create_database(settings) as database:
        store, followed = await harden._submit_elsewhere_and_open_store(database, request)
        [queued] = store.read_events(followed)
        held = RebootChecked(of="r0", boot_before="a", boot_now="b", rebooted=True)
        store.append([build_recorded_event(followed, 2, queued.at + 1, held, queued.hash)])
        await harden._submit_elsewhere_and_open_store(database, request)

    async def follow_to_end(*_given, **_named):
        return RunState(run=followed, status="finished")

    monkeypatch.setattr(harden, "_order_and_follow_run", follow_to_end)
    monkeypatch.setattr(harden, "create_reboot_check_order", lambda *_: Order(by="ada"))
    found = await asyncio.to_thread(run_check_after_reboot, settings, "fixture", as_json=False)
    assert found == ALL_PASSED

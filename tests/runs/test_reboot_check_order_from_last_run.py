import pytest

from app.errors import Rejected
from app.events.bus import Bus
from app.events.kinds import RunFinished
from app.events.log_writer import LogWriter, RunLog
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order, create_run_request
from app.runs.reboot_check_order_from_last_run import create_reboot_check_order
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.targets import host_registry
from app.targets.ssh.endpoint import Endpoint
from app.web.pages.order_form_parser import parse_order_form
from tests.evidence.logs import queued as asked_for
from tests.evidence.logs import started

LINEUP = read_lineup(require_lineup_path("simulated"))


@pytest.fixture
def hosts(tmp_path):
    end = Endpoint(user="temper", address="127.0.0.1", port=22, way="agent", secret_at="")
    host_registry.register_host(tmp_path / "hosts", "web-1", end, "", "SHA256:x")
    return tmp_path / "hosts"


def order(**more):
    return Order(**{"host": "web-1", "by": "ada", "after_reboot": True, **more})


def test_it_only_looks(hosts):
    made = create_run_request(order(), LINEUP, hosts)
    assert (made.mode, made.after_reboot) == ("scan", True)
    for mode in ("auto", "review", "dry-run"):
        with pytest.raises(Rejected, match="changes nothing") as refused:
            create_run_request(order(mode=mode), LINEUP, hosts)
        assert refused.value.field == "after_reboot"


def test_a_tree_of_files_does_not_boot(hosts):
    with pytest.raises(Rejected, match="does not boot"):
        create_run_request(order(host="fixture"), LINEUP, hosts)


def test_the_button_of_the_page_says_so():
    assert parse_order_form({"host": "web-1", "after_reboot": "1"}, by="ada").after_reboot
    assert not parse_order_form({"host": "web-1"}, by="ada").after_reboot


async def test_the_rules_are_those_of_the_last_run_that_was_to_change_the_host(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    writer = LogWriter(EventStore(database), Bus())
    writer.start()
    end = RunFinished(passed=1, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
    for run, mode, rules in (("r1", "auto", ["V-257984"]), ("r2", "scan", ["V-257985"])):
        RunLog(run, writer).append(asked_for(rules, host="web-1", mode=mode), started(), end)
    await writer.close()
    made = create_reboot_check_order(database, "web-1", "ada")
    assert (made.skill, made.rules, made.after_reboot, made.by) == ("stig", ("V-257984",), True, "ada")
    with pytest.raises(Rejected, match="no run has changed 'web-2'"):
        create_reboot_check_order(database, "web-2", "ada")
    database.dispose()

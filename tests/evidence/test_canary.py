"""Secrets planted where prompts, diffs, verdicts and probes look: none of them reaches the log or a paper."""

import sqlite3

import pytest

from app.evidence.pack import build_pack
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.targets.fixture.fixture_target import FixtureTarget
from tests.evidence.played import KEY
from tests.forkserver import temper

CANARY = "C4n4ryOfTheHost"
RULES = "V-257934,V-257820,V-257985"
PLANTED = {
    "etc/shadow": f"one:$6${CANARY}0$Made/Up.{CANARY}1:20301:0:99999:7:::\ntwo:{CANARY[:13]}:20301:0:99999:7:::\n",
    "etc/dnf/dnf.conf": f"proxy_password={CANARY}2\nproxy=http://me:{CANARY}3@proxy:3128\ngpgcheck=$6${CANARY}8$x\n",
    "etc/ssh/sshd_config": f"# was $6${CANARY}4${CANARY}5\n",
    "var/log/secure": f"sshd[1]: error: hash $y$j9T${CANARY}6${CANARY}7 for root\n",
}


@pytest.fixture
def planted(tmp_path):
    hosts = tmp_path / "data" / "hosts"
    hosts.mkdir(parents=True)
    FixtureTarget("fixture", hosts / "fixture").prepare()
    root = hosts / "fixture" / "root"
    for name, text in PLANTED.items():
        file = root / name
        mode = file.stat().st_mode
        file.chmod(0o600)
        file.write_text(file.read_text() + text)
        file.chmod(mode)
    return tmp_path / "data"


def test_no_canary_sings(planted):
    words = ["run", "--data", str(planted), "--speed", "0", "--keep", "--rules", RULES]
    temper(*words)
    database = sqlite3.connect(planted / "temper.sqlite")
    kinds = {kind for (kind,) in database.execute("select kind from event")}
    lines = b"".join(line for (line,) in database.execute("select line from event"))
    (run,) = database.execute("select id from run").fetchone()
    database.close()
    assert {"turn.started", "action.applied", "sentry.probed", "run.finished"} <= kinds
    assert b"[secret]" in lines
    assert CANARY.encode() not in lines
    assert CANARY[:13].encode() not in lines
    opened = open_and_migrate_database(planted / "temper.sqlite")
    assert CANARY[:13].encode() not in build_pack(EventStore(opened).read_events(run), KEY)
    opened.dispose()

"""The file of a run: small, labelled, without prompts unless they are asked for, and safe against what it shows."""

import base64
import gzip
import json
import re
import shutil

import pytest
from sqlmodel import Session

from app.events.kinds import TurnDelta, TurnStarted
from app.evidence.notary import Requester, open_notary
from app.evidence.run_shrinking import store_evidence_and_delete_deltas_unless_shrunk
from app.evidence.signed_log_in_html_file import check_shared_file_and_get_manifest
from app.lineups.reader import read_lineup, require_lineup_path
from app.store import audit, run_queries
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web import routes  # noqa: F401  the templates link to addresses by name
from app.web.shared_file.shared_file_builder import StoredRuns, issue_shared_file
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST

BY = Requester("ada", "operator", "session")
EVIL = "</script><script>evil()</script><img src=x onerror=evil()>"


@pytest.fixture
def shared(played, tmp_path):
    shutil.copytree(played[0], tmp_path / "data")
    database = open_and_migrate_database(tmp_path / "data" / "temper.sqlite")

    def make(*, prompts=False):
        with Session(database) as session:
            row = run_queries.find_run(session, played[1])
            session.expunge_all()
        archive = StoredRuns(EventStore(database), read_lineup(require_lineup_path(row.lineup)))
        return issue_shared_file(archive, row, open_notary(tmp_path / "data", database), BY, prompts=prompts)

    yield make, database
    database.dispose()


def unpack(content):
    blocks = dict(re.findall(rb'id="shared-(\w+)">([A-Za-z0-9+/=]*)</script>', content))
    return {name.decode(): base64.b64decode(text) for name, text in blocks.items()}


def everything(content):
    """What can be read in the file, packed or not."""
    blocks = unpack(content)
    return content + b"".join(gzip.decompress(blocks[name]) for name in ("lines", "show"))


def test_it_is_labelled_refers_to_nothing_outside_and_is_the_same_again(shared, played):
    make, database = shared
    content = make()
    assert check_shared_file_and_get_manifest(content)["run"] == played[1]
    text = content.decode()
    assert "SIMULATED" in text
    assert not re.search(r'(?:src|href|action)="(?:https?:|//|/static/)', text.partition("<body")[0])
    assert "<form" not in re.sub(
        r'<form (?:class="scrubber"|method="dialog")', "", text.split("shared-check")[0].split("<summary>")[0]
    )
    assert make() == content
    with Session(database) as session:
        noted = [line.event for line in audit.list_audit_events(session, 50) if line.event.did.startswith("share:")]
    assert [(one.who, one.did) for one in noted] == [("ada", f"share: file of run {played[1]}")]


def test_prompts_are_in_it_only_where_they_were_asked_for(shared, log):
    make, _ = shared
    prompt = next(one.event for one in log if isinstance(one.event, TurnStarted)).prompt[1].split("\n")[0].encode()
    assert prompt not in everything(make())
    assert prompt in everything(make(prompts=True))


def test_a_run_that_was_shrunk_has_all_its_tokens(shared, played, log):
    make, database = shared
    before = unpack(make())
    store_evidence_and_delete_deltas_unless_shrunk(
        database, played[1], open_notary(played[0], database).key, "ada", 1.0
    )
    after = unpack(make())
    assert any(isinstance(one.event, TurnDelta) for one in log)
    assert after["lines"] == before["lines"]
    told, was = (json.loads(gzip.decompress(one["show"])) for one in (after, before))
    # Tokens that share a frame with the end of their turn have no message of their own.
    assert (told["events"], told["frames"]) == (was["events"], was["frames"])


async def test_hostile_text_stays_text(tmp_path):
    async with house(tmp_path) as made:
        turn = {"turn": "t1", "rule": FIRST, "attempt": 1, "role": "architect", "purpose": "plan"}
        evil = [
            TurnStarted(**turn, engine="gemma-31b", replica=0, model=EVIL, prompt=(EVIL, EVIL), max_tokens=9),
            TurnDelta(turn="t1", role="architect", channel="thought", text=EVIL, tokens=1),
        ]
        made.append("r1", *EVENTS[:8], *evil, *EVENTS[8:])
        answer = await made.http.get("/api/v1/runs/r1/shared.html", params={"prompts": "true"})
    assert answer.status_code == 200, answer.text
    assert EVIL not in answer.text
    assert "<script>evil" not in answer.text
    assert answer.text.count("<script") == answer.text.count("</script>")
    shown = json.loads(gzip.decompress(unpack(answer.content)["show"]))
    parts = json.dumps([shown["parts"], shown["items"]])
    assert "&lt;script&gt;evil" in parts
    assert "<script" not in parts
    assert "<img" not in parts


async def test_a_broken_log_is_not_shared(tmp_path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        with made.database.begin() as connection:
            connection.exec_driver_sql(
                "update event set line = cast(replace(line, 'built-in', 'built-on') as blob) where seq = 2"
            )
        answer = await made.http.get("/api/v1/runs/r1/shared.html")
    assert answer.status_code == 503
    assert "event 2 is not what was recorded" in answer.json()["detail"]

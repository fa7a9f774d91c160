"""Items and events of a run, searched by an address that can be sent on."""

from app.store.events import EventStore
from app.web.pages import search_within_run
from app.web.pages.search_within_run import search_events
from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS, FIRST, SECOND


async def test_items_and_events_are_searched_by_their_address(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", *EVENTS)
        both = (await made.http.get("/runs/r1/items")).text
        assert f"/items/{FIRST}" in both
        assert f"/items/{SECOND}" in both
        one = (await made.http.get("/runs/r1/items?outcome=escalated")).text
        assert f"/items/{FIRST}" not in one
        assert f"/items/{SECOND}" in one
        assert "No item matches" in (await made.http.get("/runs/r1/items?q=nowhere")).text
        alarms = (await made.http.get("/runs/r1/events?kind=alarm&q=BACKUP")).text
        assert "nightly backup" in alarms
        assert "passed at attempt" not in alarms
        assert 'value="BACKUP"' in alarms
        assert (await made.http.get("/runs/none/events")).status_code == 404
        assert (await made.http.get("/runs/none/items")).status_code == 404


async def test_a_search_goes_on_where_the_page_before_ended(tmp_path, monkeypatch):
    async with house(tmp_path / "data") as made:
        made.append("r1", *EVENTS)
        store = EventStore(made.database)
        whole = [line.seq for line in search_events(store, "r1", [], "", None).lines]
        assert whole == sorted(whole, reverse=True)
        for name, value in {"LINES": 4, "CHUNK": 3, "MOST_CHUNKS": 2}.items():
            monkeypatch.setattr(search_within_run, name, value)
        seen, before = [], None
        while True:
            found = search_events(store, "r1", [], "", before)
            seen += [line.seq for line in found.lines]
            if found.before is None:
                break
            before = found.before
        assert seen == whole

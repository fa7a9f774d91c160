"""Whom an engine serves while several hosts are worked: the same live, replayed, and whoever asks when."""

import httpx
import pytest
from sqlmodel import Session

from app.events.kinds import RunFailed
from app.skills.catalog import load_skill
from app.store import issued_credentials
from app.store.models import PersonRow
from app.web.pages.hosts_sharing_each_engine import MOST_LANES, RunHolds, ServedHost, Sharing, compute_shares
from app.web.pages.mission.engine_use_times import HoldBar
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene
from app.web.pages.mission.page_stream_renderer import PageRenderer
from tests.runs.doors import house
from tests.web.access.walk import application
from tests.web.pages.sharing_log import BEGUN, EVENTS, HOSTS, began, done, queued, write


@pytest.fixture
async def made(tmp_path):
    async with house(tmp_path) as made:
        yield made


def test_the_label_names_role_and_host_and_each_host_has_a_lane(made):
    write(made.store, EVENTS[:-2])
    share = Sharing(made.store).read_current_shares_by_engine(1035.0)["gemma-31b"]
    assert share.serving == (ServedHost("worker", "mail"), ServedHost("architect", "db1"))
    assert share.shown_hosts_by_role == [("architect", ["db1"]), ("worker", ["mail"])]
    assert [lane.host for lane in share.lanes] == ["db1", "mail", "web3"]
    assert [bar.prefill for bar in share.lanes[0].bars] == [True, False]
    assert [(bar.role, bar.prefill) for bar in share.lanes[2].bars] == [
        ("architect", True), ("architect", False), ("worker", True), ("worker", False),
    ]  # fmt: skip
    assert share.lanes[1].bars == (HoldBar("worker", 96.67, 3.33, prefill=True, lasts=True),)


def test_a_replayed_moment_is_what_was_shown_live(made):
    sharing, live = Sharing(made.store), {}
    write(made.store, EVENTS[: 2 * len(HOSTS)])
    for told in EVENTS[2 * len(HOSTS) :]:
        write(made.store, [told])
        live[told[0]] = sharing.read_current_shares_by_engine(told[0])
    assert len({str(shown) for shown in live.values()}) == len(live)
    for at, shown in live.items():
        assert Sharing(made.store).read_past_shares_by_engine(at) == shown, at


def test_one_host_alone_and_one_after_the_other_need_no_lanes(made):
    alone = [told for told in EVENTS if told[1] == "aaaa1111"]
    write(made.store, alone)
    assert Sharing(made.store).read_current_shares_by_engine(1029.0)["gemma-31b"].lanes == ()
    write(
        made.store, [(1031.0, "next", queued("db2")), (1032.0, "next", BEGUN), (1033.0, "next", began("n", "worker"))]
    )
    share = Sharing(made.store).read_current_shares_by_engine(1034.0)["gemma-31b"]
    assert (share.serving, share.lanes) == ((ServedHost("worker", "db2"),), ())


def test_two_hosts_that_only_take_turns_need_no_lanes_until_they_meet():
    runs = [RunHolds(name, name) for name in ("web3", "db1")]
    for place in range(4):
        runs[place % 2].holds.apply_event(began(f"t{place}", "worker"), 1000.0 + 10 * place)
        runs[place % 2].holds.apply_event(done(f"t{place}", "worker", 1.0), 1009.0 + 10 * place)
    assert compute_shares(runs, 1040.0)["gemma-31b"].lanes == ()
    runs[0].holds.apply_event(began("t4", "worker"), 1040.0)
    runs[1].holds.apply_event(began("t5", "worker"), 1041.0)
    assert [lane.host for lane in compute_shares(runs, 1042.0)["gemma-31b"].lanes] == ["db1", "web3"]


def test_two_runs_of_one_host_share_its_lane_and_it_leads_to_the_newer(made):
    again = [(1050.0, "again", queued("web3")), (1051.0, "again", BEGUN), (1052.0, "again", began("n", "architect"))]
    write(made.store, [*EVENTS, *again])
    share = Sharing(made.store).read_current_shares_by_engine(1055.0)["gemma-31b"]
    assert [(lane.host, lane.run) for lane in share.lanes] == [
        ("db1", "bbbb2222"),
        ("mail", "cccc3333"),
        ("web3", "again"),
    ]
    assert len(share.lanes[2].bars) == 5
    assert share.serving == (ServedHost("architect", "web3"),)


def test_a_run_that_failed_in_mid_turn_holds_nothing_any_more(made):
    write(made.store, [told for told in EVENTS if told[0] < 1035] + [(1036.0, "bbbb2222", RunFailed(reason="gone"))])
    for share in (
        Sharing(made.store).read_current_shares_by_engine(1038.0),
        Sharing(made.store).read_past_shares_by_engine(1038.0),
    ):
        assert share["gemma-31b"].serving == (ServedHost("worker", "mail"),)
    assert ServedHost("architect", "db1") in Sharing(made.store).read_past_shares_by_engine(1035.0)["gemma-31b"].serving


def test_the_log_of_a_run_that_has_ended_is_read_no_more(made, monkeypatch):
    write(made.store, [*EVENTS, (1044.0, "aaaa1111", RunFailed(reason="the engine is away"))])
    sharing, asked, events = Sharing(made.store), [], made.store.read_events
    shown = sharing.read_current_shares_by_engine(1045.0)
    monkeypatch.setattr(made.store, "read_events", lambda run, **named: asked.append(run) or events(run, **named))
    assert sharing.read_current_shares_by_engine(1045.0) == shown
    assert sorted(asked) == sorted(set(HOSTS) - {"aaaa1111"})


def test_of_more_hosts_than_lanes_the_rest_is_counted_and_a_rollout_sees_its_own(made):
    runs = [RunHolds(f"run{number}", f"web-{number}") for number in range(MOST_LANES + 3)]
    for place, run in enumerate(runs):
        run.holds.apply_event(began(f"t{place}", "worker"), 1000.0 + place)
    share = compute_shares(runs, 1020.0)["gemma-31b"]
    assert [lane.host for lane in share.lanes] == [f"web-{number}" for number in range(3, MOST_LANES + 3)]
    assert (share.more, share.unnamed_count) == (3, 3)
    write(made.store, EVENTS)
    assert [
        lane.host
        for lane in Sharing(made.store).read_current_shares_by_engine(1043.0, {"web3", "db1"})["gemma-31b"].lanes
    ] == ["db1", "web3"]


def test_what_is_over_leaves_after_two_minutes(made):
    write(made.store, EVENTS)
    sharing = Sharing(made.store)
    assert sharing.read_current_shares_by_engine(1044.0)["gemma-31b"].lanes
    assert not sharing.read_current_shares_by_engine(1044.0 + 121)["gemma-31b"].lanes


async def test_the_page_says_so_at_that_moment_and_a_run_of_one_host_looks_as_ever(made):
    write(made.store, EVENTS)
    then = (await made.http.get("/runs/bbbb2222?at=4")).text.split('id="share-gemma-31b"')[1]
    moment = (await made.http.get("/runs/bbbb2222/moment?at=4")).text.split("#share-gemma-31b")[1]
    for label in (then.split("</p>")[0], moment.split("</p>")[0]):
        assert "ARCHITECT</b> for db1," in label
        assert "WORKER</b> for web3" in label
    assert '<div id="share-gemma-31b" class="share"></div>' in (await made.http.get("/runs/aaaa1111?at=4")).text


async def test_who_came_by_a_link_to_one_run_sees_no_other_host(tmp_path):
    async with application(tmp_path / "data", sign_in=True) as made:
        runtime = made.state.runtime
        write(runtime.store, EVENTS)
        with Session(runtime.database) as session, session.begin():
            session.add(PersonRow(name="jo", right="operator", password="", made_at=0.0))
            said = {"person": "jo", "right": "viewer", "kind": "link", "label": "", "seconds": 3600.0}
            _, link = issued_credentials.issue_credential(session, run="aaaa1111", **said)
        transport = httpx.ASGITransport(made)
        async with httpx.AsyncClient(transport=transport, base_url="http://temper.example") as http:
            await http.get(f"/share/{link}")
            for path in ("/runs/aaaa1111?at=8", "/runs/aaaa1111/moment?at=8", "/machine?run=aaaa1111&at=8"):
                answer = await http.get(path, headers={"accept": "text/html"})
                assert answer.status_code == 200, path
                assert "db1" not in answer.text, path
                assert "mail" not in answer.text, path


def test_the_label_of_all_hosts_changes_with_the_lane_and_is_sent_where_it_changed(made):
    write(made.store, EVENTS)
    sharing, now = Sharing(made.store), 1023.0
    lineup, missions = made.lineup, MissionLoader(made.store)
    shown = [sharing.read_past_shares_by_engine(now)["gemma-31b"].shown_hosts_by_role]
    scene = Scene(lineup, load_skill("stig"), "live", engines=lambda: {"share-gemma-31b": str(shown[-1])})
    screen, told = PageRenderer("aaaa1111", missions, scene), list(made.store.read_events("aaaa1111"))
    assert screen(told[2:3]).count(b"#share-gemma-31b") == 1
    assert b"#share-gemma-31b" not in screen(told[3:5])
    shown.append("another")
    assert screen(told[5:6]).count(b"#share-gemma-31b") == 1

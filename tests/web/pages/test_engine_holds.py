from msgspec.structs import replace

from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.engine_outages_from_log import EngineOutage
from app.skills.catalog import load_skill
from app.web.pages.mission.engine_use_times import (
    EngineHold,
    EngineHolds,
    GapBar,
    HoldBar,
    draw_hold_bars_outside_outages,
    draw_outage_gaps,
)
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.mission_parts import Scene, render_engine_label_parts
from tests.web.pages.turns import turn_started


def test_the_ribbon_tells_prefill_from_decode_and_one_role_from_the_next():
    held = EngineHolds()
    held.begin_turn(turn_started("a", "architect"), 100.0)
    held.close_turn("a", 120.0, ttft=10.0)
    held.begin_turn(turn_started("b", "worker"), 120.0)
    drawn = draw_hold_bars_outside_outages(*held.by_engine.values(), 140.0, 100.0)
    assert drawn == [
        HoldBar("architect", 60.0, 10.0, prefill=True),
        HoldBar("architect", 70.0, 10.0, prefill=False),
        HoldBar("worker", 80.0, 20.0, prefill=True, lasts=True),
    ]


def test_what_is_older_than_the_ribbon_is_forgotten():
    held = EngineHolds()
    held.begin_turn(turn_started("a", "architect"), 0.0)
    held.close_turn("a", 10.0)
    held.begin_turn(turn_started("b", "worker"), 200.0)
    assert [[hold.turn for hold in holds] for holds in held.by_engine.values()] == [["b"]]


def test_a_hold_that_began_before_the_ribbon_is_cut_at_its_edge():
    holds = [EngineHold("architect", "a", 0.0, first=1.0)]
    assert draw_hold_bars_outside_outages(holds, 200.0, 100.0) == [
        HoldBar("architect", 0.0, 100.0, prefill=False, lasts=True)
    ]


def test_an_engine_that_does_not_answer_is_not_drawn_as_decoding():
    holds = [EngineHold("architect", "a", 100.0, first=110.0, until=190.0)]
    drawn = draw_hold_bars_outside_outages(holds, 200.0, 100.0, [EngineOutage("gemma-31b", "stalled", 140.0, 160.0)])
    assert drawn == [
        HoldBar("architect", 0.0, 10.0, prefill=True),
        HoldBar("architect", 10.0, 30.0, prefill=False),
        HoldBar("architect", 60.0, 30.0, prefill=False),
    ]
    lasting = [EngineOutage("gemma-31b", "dead", 150.0, None)]
    assert draw_hold_bars_outside_outages([EngineHold("worker", "b", 140.0)], 200.0, 100.0, lasting) == [
        HoldBar("worker", 40.0, 10.0, prefill=True)
    ]


def test_an_outage_is_drawn_from_its_begin_to_its_end_whether_a_turn_waited_or_not():
    outages = [
        EngineOutage("gemma-31b", "dead", 50.0, 110.0),
        EngineOutage("gemma-31b", "stalled", 140.0, 160.0),
        EngineOutage("gemma-31b", "dead", 190.0, None),
    ]
    assert draw_outage_gaps(outages, 200.0, 100.0) == [
        GapBar(0.0, 10.0, lasts=False),
        GapBar(40.0, 20.0, lasts=False),
        GapBar(90.0, 10.0, lasts=True),
    ]


def test_each_lane_of_an_engine_has_its_outages_and_no_other_engine_has_them():
    outages = (EngineOutage("gemma-31b", "dead", 1000.0, 1030.0),)
    mission = Mission()
    mission.holds.begin_turn(turn_started("a", "worker"), 1050.0)
    mission.state = replace(mission.state, at=1060.0)
    lineup = read_lineup(require_lineup_path("simulated"))
    drawn = render_engine_label_parts(mission, Scene(lineup, load_skill("stig"), "live", outages=lambda _: outages))
    assert drawn["hold-gemma-31b"].count('class="gap" x="50.0" y="0" width="25.0"') == 2
    assert "not answering 25 % of the time" in drawn["hold-gemma-31b"]
    assert "gap" not in drawn["hold-gemma-e4b"]


def test_where_there_are_several_the_page_names_the_replica():
    lineup = read_lineup(require_lineup_path("h100x2-light"))
    mission = Mission()
    mission.holds.begin_turn(replace(turn_started("a", "worker"), engine="gemma-31b", replica=1), 1.0)
    scene = Scene(lineup, load_skill("stig"), "live")
    assert "on replica 2 of 2" in render_engine_label_parts(mission, scene)["hold-gemma-31b"]
    only = read_lineup(require_lineup_path("blackwell-mtp"))
    assert (
        "replica" not in render_engine_label_parts(mission, Scene(only, load_skill("stig"), "live"))["hold-gemma-31b"]
    )

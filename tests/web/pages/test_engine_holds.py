from msgspec.structs import replace

from app.lineups.reader import find_lineup, read_lineup
from app.skills.catalog import load_skill
from app.web.pages.mission.engine_holds import HoldBar, add_hold, close_hold, draw_hold_bars
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.pieces import Scene, render_engine_pieces
from tests.web.pages.turns import turn_started


def test_the_ribbon_tells_prefill_from_decode_and_one_role_from_the_next():
    holds = add_hold([], turn_started("a", "architect"), 100.0, 120)
    holds = close_hold([holds[0].with_first_token(110.5)], "a", 120.0, ttft=10.0)
    holds = add_hold(holds, turn_started("b", "worker"), 120.0, 120)
    drawn = draw_hold_bars(holds, 140.0, 100.0)
    assert drawn == [
        HoldBar("architect", 60.0, 10.0, prefill=True),
        HoldBar("architect", 70.0, 10.0, prefill=False),
        HoldBar("worker", 80.0, 20.0, prefill=True),
    ]


def test_what_is_older_than_the_ribbon_is_forgotten():
    holds = close_hold(add_hold([], turn_started("a", "architect"), 0.0, 120), "a", 10.0)
    assert [hold.turn for hold in add_hold(holds, turn_started("b", "worker"), 200.0, 120)] == ["b"]


def test_a_hold_that_began_before_the_ribbon_is_cut_at_its_edge():
    holds = [add_hold([], turn_started("a", "architect"), 0.0, 120)[0].with_first_token(1.0)]
    assert draw_hold_bars(holds, 200.0, 100.0) == [HoldBar("architect", 0.0, 100.0, prefill=False)]


def test_where_there_are_several_the_page_names_the_replica():
    lineup = read_lineup(find_lineup("h100x2-light"))
    mission = Mission()
    mission.holds.by_engine["gemma-31b"] = add_hold([], replace(turn_started("a", "worker"), replica=1), 1.0, 120)
    scene = Scene(lineup, load_skill("stig"), "live")
    assert "on replica 2 of 2" in render_engine_pieces(mission, scene)["hold-gemma-31b"]
    only = read_lineup(find_lineup("blackwell-mtp"))
    assert "replica" not in render_engine_pieces(mission, Scene(only, load_skill("stig"), "live"))["hold-gemma-31b"]

from msgspec.structs import replace

from app.lineups.reader import find_lineup, read_lineup
from app.skills.catalog import skill
from app.web.pages.mission.engine_holds import Bar, bars, hand_over, let_go
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.pieces import Scene, engine_pieces
from tests.web.pages.turns import turn_started


def test_the_ribbon_tells_prefill_from_decode_and_one_role_from_the_next():
    holds = hand_over([], turn_started("a", "architect"), 100.0, 120)
    holds = let_go([holds[0].decoding(110.5)], "a", 120.0, ttft=10.0)
    holds = hand_over(holds, turn_started("b", "worker"), 120.0, 120)
    drawn = bars(holds, 140.0, 100.0)
    assert drawn == [
        Bar("architect", 60.0, 10.0, prefill=True),
        Bar("architect", 70.0, 10.0, prefill=False),
        Bar("worker", 80.0, 20.0, prefill=True),
    ]


def test_what_is_older_than_the_ribbon_is_forgotten():
    holds = let_go(hand_over([], turn_started("a", "architect"), 0.0, 120), "a", 10.0)
    assert [hold.turn for hold in hand_over(holds, turn_started("b", "worker"), 200.0, 120)] == ["b"]


def test_a_hold_that_began_before_the_ribbon_is_cut_at_its_edge():
    holds = [hand_over([], turn_started("a", "architect"), 0.0, 120)[0].decoding(1.0)]
    assert bars(holds, 200.0, 100.0) == [Bar("architect", 0.0, 100.0, prefill=False)]


def test_where_there_are_several_the_page_names_the_replica():
    lineup = read_lineup(find_lineup("h100x2-light"))
    mission = Mission()
    mission.holds.of["gemma-31b"] = hand_over([], replace(turn_started("a", "worker"), replica=1), 1.0, 120)
    scene = Scene(lineup, skill("stig"), "live")
    assert "on replica 2 of 2" in engine_pieces(mission, scene)["hold-gemma-31b"]
    only = read_lineup(find_lineup("blackwell-mtp"))
    assert "replica" not in engine_pieces(mission, Scene(only, skill("stig"), "live"))["hold-gemma-31b"]

"""From a line-up to what is probed: one subject per replica, with its own address, cards and key."""

from dataclasses import replace

import httpx
import pytest

from app.engines.cold_start_progress import ColdStart
from app.engines.replica_choice import EngineTraffic
from app.errors import BadInput
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.measuring.engine_replicas_to_probe import choose_engines, create_probe_subjects
from app.machine.measuring.engine_startup_figures import EngineLoad
from app.machine.measuring.gpu_memory_during_probe import NoCards
from tests.machine.measuring.playing import Cards

LINEUP = read_lineup(require_lineup_path("simulated"))
TWO = replace(
    LINEUP.engines["gemma-31b"],
    simulation=None,
    tp=1,
    base_urls=("http://127.0.0.1:1/v1", "http://blade2:2/v1"),
    metrics_urls=("http://127.0.0.1:9/metrics",),
)


def made(lineup=LINEUP, engine=TWO, loaded=None):
    http, bases = httpx.AsyncClient(), {engine.name: engine.base_urls}
    return create_probe_subjects(
        lineup, [engine], bases, http, Cards(), 1.0, lambda one: f"key of {one.name}", EngineTraffic(), loaded
    )


def test_each_replica_has_its_address_its_gpu_and_its_metrics():
    first, second = made()
    assert (first.client.base_url, first.places, first.metrics_url) == (
        "http://127.0.0.1:1/v1",
        {("", 0): 0},
        "http://127.0.0.1:9/metrics",
    )
    assert (second.client.base_url, second.places, second.metrics_url) == ("http://blade2:2/v1", {("", 1): 1}, "")
    assert (first.title, second.title) == ("gemma-31b, replica 1 of 2", "gemma-31b, replica 2 of 2")


def test_cards_of_this_machine_say_nothing_of_an_engine_in_another():
    first, second = made()
    assert isinstance(first.cards, Cards)
    assert isinstance(second.cards, NoCards)
    assert "dcgm_urls" in second.cards.reason


def test_a_gpu_that_is_named_on_its_host_is_looked_for_there():
    gpus = (LINEUP.gpus[0], replace(LINEUP.gpus[1], host="blade2", number=3), *LINEUP.gpus[2:])
    _, second = made(replace(LINEUP, gpus=gpus))
    assert (second.places, isinstance(second.cards, Cards)) == ({("blade2", 3): 1}, True)


def test_what_is_known_of_a_load_goes_with_its_replica():
    loaded = EngineLoad(ColdStart(0.0), 180.0)
    first, second = made(loaded={("gemma-31b", 1): loaded})
    assert (first.loaded, second.loaded) == (None, loaded)


def test_one_engine_all_of_them_or_a_sentence():
    assert [one.name for one in choose_engines(LINEUP, "gemma-e2b")] == ["gemma-e2b"]
    assert len(choose_engines(LINEUP, "")) == 3
    with pytest.raises(BadInput, match="has no engine 'x': it has gemma-31b"):
        choose_engines(LINEUP, "x")

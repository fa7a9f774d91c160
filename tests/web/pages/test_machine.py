"""A replay shows the engines and GPUs as they were, not as they are."""

import re
import time

import httpx
import pytest

from app.events.kinds import EngineSampled
from app.web.pages.machine import render_meter
from tests.served import served

SAMPLE = EngineSampled(engine="e", running=1, waiting=0, kv_used=0.05, tok_s=None, prompt_tok_s=None, simulated=True)


def test_a_replayed_moment_has_its_own_figures(tmp_path):
    with served(tmp_path / "data", "--speed", "3") as server, httpx.Client(base_url=server.url) as http:
        run = http.post("/api/v1/runs", json={"host": "fixture", "rules": ["V-257820"]}).json()["id"]
        server.wait_for_kind("item.passed")
        until = time.monotonic() + 30
        while "No GPU was read at that time" in (then := http.get(f"/machine?run={run}&at=99999").text):
            assert time.monotonic() < until
        assert "at the moment of the replay" in then
        assert "at the moment of the replay" not in http.get("/machine").text
        assert len(re.findall(r'hx-target="#(gpus|meter-)', then)) == 4
        assert "No GPU" not in then
        first = http.get(f"/machine?run={run}&at=1").text
        assert first != then


def test_an_engine_that_is_dead_stands_out_and_its_last_figures_say_how_old_they_are():
    drawn = render_meter(SAMPLE, "dead", 31.0)
    assert 'class="escalated"' in drawn
    assert "✗ dead" in drawn
    assert "<small>31 s old</small>" in drawn
    assert "5<small> % KV" in drawn


@pytest.mark.parametrize("age", [0.4, None])
def test_figures_of_now_and_of_a_replayed_moment_are_not_called_old(age):
    drawn = render_meter(SAMPLE, "ready", age, "at the moment of the replay")
    assert "s old</small>" not in drawn
    assert "escalated" not in drawn

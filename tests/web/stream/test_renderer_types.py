"""What is rendered on the event loop: the same as in a thread, with nothing read, waited for or long."""

import importlib
import inspect
import pkgutil

import pytest

import app.web
from app.events.kinds import ItemPassed, RunPaused, TurnDelta
from app.events.record import GENESIS, build_recorded_event
from app.web.api.events import build_name_and_filtered_render, choose_stream_name_and_render
from app.web.pages.mission.page_stream_renderer import PageRenderer
from app.web.stream.renderer_types import FEW, SMALL, InlineRender, PerEventRender, get_inline_render_or_stub
from tests.waiting import watching_the_loop
from tests.web.pages.turns import turn_started

BATCH = [
    build_recorded_event("r", seq, 1000.0, event, GENESIS)
    for seq, event in enumerate(
        [
            RunPaused(by="ada"),
            turn_started("t1", "worker", prompt=("the secret of a host",)),
            TurnDelta(turn="t1", role="worker", channel="answer", text="so\nthen", tokens=2),
            ItemPassed(rule="V-1", attempts=1),
        ],
        1,
    )
]


def test_whoever_says_what_it_has_at_hand_is_held_to_it_here_or_in_the_tests_of_the_screen():
    found = set()
    for module in pkgutil.walk_packages(app.web.__path__, "app.web."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if hasattr(one, "render_inline_if_cheap"):
                found.add(one)
    assert found == {InlineRender, PerEventRender, PageRenderer}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kinds", [(), ("turn.delta",), ("turn.started", "run.paused"), ("run.failed",)])
async def test_json_is_rendered_from_what_is_at_hand_and_nothing_is_waited_for(whole, kinds):
    name, render = choose_stream_name_and_render(with_prompts=whole)
    _, render = build_name_and_filtered_render(frozenset(kinds), name, render)
    with watching_the_loop() as watch:
        said = get_inline_render_or_stub(render)(BATCH)
    assert said == render(BATCH) != b""
    assert watch.waited == []
    assert (b"secret" in said) == (whole and (not kinds or "turn.started" in kinds))


def test_a_batch_that_takes_long_is_for_a_thread():
    _, render = choose_stream_name_and_render(with_prompts=True)
    (one,), long = BATCH[:1], TurnDelta(turn="t1", role="worker", channel="answer", text="x" * SMALL, tokens=1)
    assert get_inline_render_or_stub(render)([one] * FEW) is not None
    assert get_inline_render_or_stub(render)([one] * (FEW + 1)) is None
    assert get_inline_render_or_stub(render)([build_recorded_event("r", 1, 1000.0, long, GENESIS)]) is None


def test_a_rendering_that_says_nothing_of_it_is_for_a_thread():
    assert get_inline_render_or_stub(lambda _: b"drawn")(BATCH) is None

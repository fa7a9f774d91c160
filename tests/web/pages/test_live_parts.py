"""What is sent of parts that are true now: the whole to who comes, then what changed, and each second's figures."""

import json

from app.events.kinds import EngineSampled
from app.events.record import MACHINE, build_recorded_event
from app.web.pages.live_parts import FRESH_SECONDS, VIEWED_SECONDS, LiveParts

SAMPLE = EngineSampled(engine="e", running=1, waiting=0, kv_used=None, tok_s=7.0, prompt_tok_s=None, simulated=True)
BATCH = [build_recorded_event(MACHINE, 1, 5.0, SAMPLE, "")]


class Page:
    def __init__(self):
        self.parts, self.times = {"a": "1", "b": "1"}, 0

    def __call__(self):
        self.times += 1
        return dict(self.parts)


def test_only_what_changed_is_sent_and_the_samples_each_time():
    page = Page()
    live = LiveParts("x", page)
    assert b'hx-target="#a"' in live(BATCH)
    page.parts["b"] = "2"
    sent = live(BATCH).decode()
    assert 'hx-target="#b" hx-swap="innerHTML">2<' in sent
    assert "#a" not in sent
    assert "id:" not in sent, "a page's cursor is its run's"
    told = json.loads(sent.split("event: samples\ndata: ")[1])
    assert told["at"] == 5.0
    assert ["engine", "e", "", "tok_s", 7.0] in told["series"]
    assert "hx-partial" not in live(BATCH).decode()


def test_who_comes_gets_what_all_others_have_and_it_is_drawn_once():
    page = Page()
    live = LiveParts("x", page)
    live(BATCH)
    page.parts["a"] = "later"
    whole = live.render_all().decode()
    assert (">1<" in whole, "later" in whole, page.times) == (True, False, 1)
    assert "later" in live(BATCH).decode(), "and then what changed since"


def test_a_new_viewer_gets_what_is_true_and_takes_it_from_nobody():
    page, time = Page(), [100.0]
    live = LiveParts("x", page, clock=lambda: time[0])
    live(BATCH)
    page.parts["a"] = "later"
    time[0] += FRESH_SECONDS + 1
    assert ">later<" in live.render_all().decode(), "idle parts are drawn seldom"
    assert live.has_news(), "the others have not seen it"
    page.parts["a"] = "1"
    assert '#a" hx-swap="innerHTML">1<' in live(BATCH).decode(), "whoever has seen the other one must see this"
    assert not live.has_news()


def test_news_is_what_changed_beside_figures_while_somebody_views():
    signs, time = ["one"], [100.0]
    live = LiveParts("x", Page(), read_signs=lambda: tuple(signs), clock=lambda: time[0])
    assert not live.has_news(), "nobody views it"
    live(BATCH)
    assert not live.has_news()
    signs.append("two")
    assert live.has_news()
    live(BATCH)
    assert not live.has_news()
    signs.append("three")
    time[0] += VIEWED_SECONDS + 1
    assert not live.has_news(), "its viewers have gone"

"""Given GPU samples: bars whose pieces fill them, and a table with the same figures."""

import re
from dataclasses import replace

from app.events.event_field_types import GpuProcess
from app.events.kinds import EngineState
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.memory_attribution import KnownEngines, LoadedMemory
from app.web.pages.gpu_cards import GpuCard, render_gpu_cards, render_memory_cards
from app.web.pages.templating import render_template_to_text
from tests.machine.samples import gpu_sample

PLAYED = read_lineup(require_lineup_path("simulated"))
REAL = replace(PLAYED, engines={name: replace(one, simulation=None) for name, one in PLAYED.engines.items()})
UP = {"gemma-31b": EngineState(engine="gemma-31b", state="ready")}
KNOWN = KnownEngines(REAL, UP, {"gemma-31b": LoadedMemory(16.3, 2.39)})
HELD = GpuProcess(7, 21.0, "gemma-31b", "VLLM::Worker")


def card(**more):
    return gpu_sample(**{"used_gib": 21.9, "utilization": 97.0, "power_w": 68.0, "temperature_c": 61.0, **more})


def rows(html):
    cells = re.findall(
        r'<th scope="row">.*?</svg> (.*?)</th><td class="num-cell">(.*?)</td><td.*?><small>(.*?)[<;]', html
    )
    return {words: (gib, known) for words, gib, known in cells}


def test_the_bar_is_filled_and_the_table_says_the_same():
    html = render_memory_cards(KNOWN, [(0.4, card(processes=(HELD,), reserved_gib=0.4))], {})
    widths = [float(width) for width in re.findall(r'x="[\d.]+%" width="([\d.]+)%"', html)]
    assert abs(sum(widths) - 100) < 0.01
    assert rows(html) == {
        "weights": ("16.30", "measured"),
        "KV pool": ("2.39", "measured"),
        "graphs and other": ("2.31", "derived"),
        "unexplained": ("0.90", "derived"),
        "reserved": ("0.40", "measured"),
        "free": ("0.70", "derived"),
    }
    assert html.count("Gemma 4 31B NVFP4</small>") == 1


def test_a_figure_says_how_it_was_read_and_how_old_it_is():
    html = render_memory_cards(KNOWN, [(1.0, card(energy_j=5000.0, ages={"energy_j": 7.0}))], {})
    assert 'title="measured, NVML: total energy consumption, 8 s old"><dt>energy</dt><dd>5.0<small> kJ</small>' in html
    assert "<dt>clock</dt>" not in html, "what no GPU gives is left out"


def test_a_claim_without_room_is_shown_as_such():
    html = render_memory_cards(KNOWN, [(0.0, card(used_gib=5.0, processes=(replace_gib(HELD, 4.8),)))], {})
    assert rows(html)["weights"] == ("4.80", "measured")
    assert "reported as 16.30, more than the memory that is left" in html


def replace_gib(process, gib):
    return GpuProcess(process.pid, gib, process.engine, process.name)


def test_what_a_process_calls_itself_is_text():
    html = render_memory_cards(KNOWN, [(0.0, card(processes=(GpuProcess(9, 0.5, "", "<b>x\x1b[31m"),)))], {})
    assert "&lt;b&gt;x</td>" in html


def test_no_gpu_and_a_gpu_that_tells_nothing():
    assert "No GPU has been read yet." in render_memory_cards(KNOWN, [], {})
    html = render_memory_cards(KNOWN, [(0.0, card(used_gib=None, total_gib=None))], {})
    assert "This GPU does not report its memory use." in html


def test_clocks_that_are_held_down_say_so_in_words_on_both():
    held = card(throttled=("power cap", "thermal"), ecc_uncorrected=2)
    assert '<dd class="undone">power cap, thermal</dd>' in render_memory_cards(KNOWN, [(0.0, held)], {})
    assert '<dd class="escalated">2</dd>' in render_memory_cards(KNOWN, [(0.0, held)], {})
    assert "throttled: power cap, thermal" in render_gpu_cards([held], {}, "")


def test_gpus_of_other_machines_unified_memory_and_reasons_on_the_small_cards():
    html = render_gpu_cards([card(host="node7", unified=True)], {}, "GPU 1 has fallen off the bus")
    assert 'aria-label="GPU 0 of node7, NVIDIA L4"' in html
    assert "GiB unified (host)" in html
    assert "GPU 1 has fallen off the bus" in html


def test_the_power_line_joins_idle_samples_and_is_open_where_nothing_was_sampled():
    power = {("", 0): [(0.0, 60.0), (10.0, 30.0), (40.0, 30.0), (50.0, 30.0)]}
    html = render_gpu_cards([card()], power, "")
    assert [len(points.split()) for points in re.findall(r'<polyline points="([^"]*)"', html)] == [2, 2]


def test_cards_without_figures_are_told_from_those_that_are_read():
    read, silent = GpuCard(card(), at=5.0), GpuCard(card(gpu=1, used_gib=None))
    known = {"engines": [], "states": [], "needs": [], "nodes": [], "sampled": None}
    assert "<b>1</b> read" in render_template_to_text("partials/_vitals.html", gpus=[read, silent], **known)
    assert "<b>1</b>, none readable" in render_template_to_text("partials/_vitals.html", gpus=[silent], **known)
    folded = "GPUs 1: no figures. The driver is gone."
    assert folded in render_template_to_text("partials/_gpus.html", cards=[silent], reason="The driver is gone.")
    assert folded not in render_template_to_text(
        "partials/_gpus.html", cards=[read, silent], reason="The driver is gone."
    )

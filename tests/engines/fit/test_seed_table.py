"""The seven configurations, and what is said of figures that contradict each other."""

import pytest

from app.engines.fit.seed_conflicts import find_seed_conflicts
from app.engines.fit.seed_table import build_seed_table


def test_the_seven_verdicts_are_what_was_found_on_the_hardware():
    rows = build_seed_table()
    assert [row.verdict for row in rows] == ["OOM", "OOM", "OOM", "works", "bug", "works", "works"]
    assert all(row.agrees for row in rows)


def test_no_row_hangs_by_a_thread():
    """A verdict that a tenth of a GiB would turn over were luck."""
    for row in build_seed_table():
        if row.found == "OOM":
            assert row.fit.missing_gib_per_gpu.value > 10
        else:
            assert row.fit.max_concurrency.value > 1.4


@pytest.mark.parametrize(("row", "gigabytes"), [("E4B bf16, tp=1", 16), ("E2B bf16, tp=1", 10)])
def test_the_edge_models_weigh_what_was_claimed(row, gigabytes):
    found = next(one for one in build_seed_table() if one.configuration == row)
    assert found.fit.weights_gib_per_gpu.value * 1.0737 == pytest.approx(gigabytes, rel=0.05)


def test_both_edge_models_fill_the_card_alike():
    """20.5 and 20.6 GB were reported of two models of which one is a third lighter."""
    held = [
        row.fit.weights_gib_per_gpu.value + row.fit.kv_pool_gib_per_gpu.value
        for row in build_seed_table()
        if row.configuration.startswith("E")
    ]
    assert held[0] == pytest.approx(held[1], abs=0.05)


def test_each_contradiction_names_its_figures_and_takes_a_side():
    found = {one.about: one for one in find_seed_conflicts(build_seed_table())}
    per_gpu = found["31B NVFP4 on two L4, per GPU"]
    assert per_gpu.figures == ("11 GB and 13 GB of headroom", "22 GB after loading", "21.9 GB")
    assert "16.2 GiB of weights" in per_gpu.supported
    assert "33.3 GB (31.0 GiB)" in found["31B NVFP4 as a whole"].supported
    assert "(16.2 and 10.4 GB)" in found["E4B and E2B on one L4"].supported
    kv = found["KV cache of the AWQ 31B on H100"].supported
    assert "89K, 102K, 249K" in kv
    assert "6.2 requests of 262,144" in kv
    assert "(2.48 by the shape)" in found["Longest context of one H100 at utilization 0.94"].supported
    assert all(one.supported.endswith(".") and len(one.figures) >= 2 for one in found.values())


def test_attention_and_embeddings_are_more_than_eleven_gigabytes_leave():
    nvfp4 = build_seed_table()[3].fit.weights_gib_per_gpu.source
    assert "attention 8.00, embeddings 1.31" in nvfp4

"""When the data folder's disk counts as nearly full, and since when."""

from pathlib import Path

from app.runtime.free_disk_space_meter import LOW_BYTES, DiskMeter

BIG, SMALL = 1000 * LOW_BYTES, LOW_BYTES


def test_a_disk_is_low_below_a_gibibyte_or_below_a_share_of_a_small_one():
    meter = DiskMeter()
    meter.update_low_since(LOW_BYTES, BIG, 10.0)
    meter.update_low_since(SMALL // 2, SMALL, 11.0)
    assert meter.low_since is None
    meter.update_low_since(LOW_BYTES - 1, BIG, 12.0)
    meter.update_low_since(SMALL // 100, SMALL, 20.0)
    assert meter.low_since == 12.0, "since it was first seen"
    meter.update_low_since(LOW_BYTES, BIG, 30.0)
    assert meter.low_since is None


def test_a_folder_is_measured_and_one_that_is_gone_is_not(tmp_path):
    space = DiskMeter().measure(tmp_path, 1.0)
    assert 0 < space.free <= space.total
    assert DiskMeter().measure(Path("/nowhere/at/all"), 1.0) is None

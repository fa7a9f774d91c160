import os

import pytest

from app.machine.gpus.host_memory import HostMemory, find_resident_gib, read_used_and_total_host_memory


def test_page_cache_counts_as_free(tmp_path):
    (tmp_path / "m").write_text("MemTotal:       8388608 kB\nMemAvailable:   6291456 kB\nHugePages_Total: 0\n")
    assert read_used_and_total_host_memory(tmp_path / "m") == HostMemory(2.0, 8.0)


@pytest.mark.parametrize("text", ["", "MemTotal: many kB\nMemAvailable: 1 kB", "MemTotal:\nMemAvailable:"])
def test_what_cannot_be_read_is_not_known(tmp_path, text):
    (tmp_path / "m").write_text(text)
    assert read_used_and_total_host_memory(tmp_path / "m") == HostMemory()


def test_no_such_file(tmp_path):
    assert read_used_and_total_host_memory(tmp_path / "none") == HostMemory()


def test_the_kernel_tells_what_a_process_holds(tmp_path):
    (folder := tmp_path / "7").mkdir()
    (folder / "status").write_text("Name:\tpython\nVmHWM:\t  900000 kB\nVmRSS:\t  524288 kB\n")
    assert find_resident_gib(7, tmp_path) == 0.5


def test_a_process_that_is_gone_or_has_none_is_none(tmp_path):
    (folder := tmp_path / "7").mkdir()
    (folder / "status").write_text("Name:\tkthreadd\n")
    assert (find_resident_gib(7, tmp_path), find_resident_gib(8, tmp_path)) == (None, None)


def test_this_process_holds_some():
    assert (find_resident_gib(os.getpid()) or 0) > 0.01

"""Main memory of a process, from what the kernel writes."""

import os

from app.machine.sampling.process_memory import read_resident_gib


def test_the_kernel_tells_it(tmp_path):
    (folder := tmp_path / "7").mkdir()
    (folder / "status").write_text("Name:\tpython\nVmHWM:\t  900000 kB\nVmRSS:\t  524288 kB\n")
    assert read_resident_gib(7, tmp_path) == 0.5


def test_one_that_is_gone_or_has_none_is_none(tmp_path):
    (folder := tmp_path / "7").mkdir()
    (folder / "status").write_text("Name:\tkthreadd\n")
    assert (read_resident_gib(7, tmp_path), read_resident_gib(8, tmp_path)) == (None, None)


def test_this_one_holds_some():
    assert (read_resident_gib(os.getpid()) or 0) > 0.01

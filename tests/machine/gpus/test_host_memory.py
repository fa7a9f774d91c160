import pytest

from app.machine.gpus.host_memory import HostMemory, read_host_memory


def test_page_cache_counts_as_free(tmp_path):
    (tmp_path / "m").write_text("MemTotal:       8388608 kB\nMemAvailable:   6291456 kB\nHugePages_Total: 0\n")
    assert read_host_memory(tmp_path / "m") == HostMemory(2.0, 8.0)


@pytest.mark.parametrize("text", ["", "MemTotal: many kB\nMemAvailable: 1 kB", "MemTotal:\nMemAvailable:"])
def test_what_cannot_be_read_is_not_known(tmp_path, text):
    (tmp_path / "m").write_text(text)
    assert read_host_memory(tmp_path / "m") == HostMemory()


def test_no_such_file(tmp_path):
    assert read_host_memory(tmp_path / "none") == HostMemory()

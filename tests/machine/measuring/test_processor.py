"""The processor's name."""

from app.machine.measuring.processor import processor


def test_it_is_the_kernels_with_its_cores(tmp_path, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    (table := tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : A  B\nmodel name : A  B\n")
    assert processor(table) == "A  B, 4 cores"
    assert processor(tmp_path / "none") == "4 cores"

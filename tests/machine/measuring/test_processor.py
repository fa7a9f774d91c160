"""The processor's name."""

from app.machine.measuring.probe import describe_cpu


def test_it_is_the_kernels_with_its_cores(tmp_path, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    (table := tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : A  B\nmodel name : A  B\n")
    assert describe_cpu(table) == "A  B, 4 cores"
    assert describe_cpu(tmp_path / "none") == "4 cores"

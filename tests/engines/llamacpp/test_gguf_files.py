"""Which file a model's name means."""

import pytest

from app.engines.llamacpp.gguf_files import SMOLLM2, TRAINED, find_adapter, find_weights
from app.engines.llamacpp.machine_requirements import NEEDED, inspect_llamacpp
from app.errors import BadInput


def test_the_small_model_is_a_file_of_its_package():
    with find_weights(SMOLLM2).open("rb") as file:
        assert file.read(4) == b"GGUF"


def test_what_was_trained_is_the_same_file_with_an_adapter_of_less_than_20_mb():
    assert find_weights(TRAINED) == find_weights(SMOLLM2)
    assert find_adapter(SMOLLM2) is None
    content = find_adapter(TRAINED).read_bytes()
    assert content.startswith(b"GGUF")
    assert len(content) < 20_000_000


def test_any_gguf_file_will_do(tmp_path):
    (file := tmp_path / "a.gguf").write_bytes(b"GGUF and more")
    assert find_weights(str(file)) == file


@pytest.mark.parametrize(("content", "sentence"), [(b"junk", "not a GGUF file"), (None, "cannot be read")])
def test_another_file_is_refused_with_what_to_do(tmp_path, content, sentence):
    file = tmp_path / "a.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=sentence):
        find_weights(str(file))


def machine(tmp_path, flags):
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: A\nflags\t\t: {flags}\n")
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\nMemAvailable:    2097152 kB\n")
    return tmp_path


def test_what_this_machine_has_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    here = inspect_llamacpp([SMOLLM2, "nowhere.gguf"], machine(tmp_path, " ".join(NEEDED)))
    assert (here.installed, here.lacks, here.available_gib) == (True, (), 2.0)
    assert here.sizes_gib[SMOLLM2] == pytest.approx(0.0916, abs=0.001)
    assert list(here.missing) == ["nowhere.gguf"]
    assert inspect_llamacpp([], machine(tmp_path, "sse avx2")).lacks == ("f16c", "fma", "bmi2")
    assert inspect_llamacpp([], tmp_path / "none").available_gib is None

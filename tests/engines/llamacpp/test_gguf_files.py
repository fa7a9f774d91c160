"""Which file a model's name means."""

import pytest

from app.engines.llamacpp.gguf_files import SMOLLM2, TRAINED, find_adapter, require_weights_file
from app.errors import BadInput


def test_the_small_model_is_a_file_of_its_package():
    with require_weights_file(SMOLLM2).open("rb") as file:
        assert file.read(4) == b"GGUF"


def test_what_was_trained_is_the_same_file_with_an_adapter_of_less_than_20_mb():
    assert require_weights_file(TRAINED) == require_weights_file(SMOLLM2)
    assert find_adapter(SMOLLM2) is None
    content = find_adapter(TRAINED).read_bytes()
    assert content.startswith(b"GGUF")
    assert len(content) < 20_000_000


def test_any_gguf_file_will_do(tmp_path):
    (file := tmp_path / "a.gguf").write_bytes(b"GGUF and more")
    assert require_weights_file(str(file)) == file


@pytest.mark.parametrize(("content", "sentence"), [(b"junk", "not a GGUF file"), (None, "cannot be read")])
def test_another_file_is_refused_with_what_to_do(tmp_path, content, sentence):
    file = tmp_path / "a.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadInput, match=sentence):
        require_weights_file(str(file))

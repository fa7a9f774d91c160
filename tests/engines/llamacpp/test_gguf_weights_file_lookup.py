"""Which file a model's name means."""

from importlib.metadata import PackageNotFoundError, PackagePath

import pytest

from app.engines.llamacpp import gguf_weights_file_lookup
from app.engines.llamacpp.gguf_weights_file_lookup import (
    SMOLLM2,
    TRAINED,
    get_shipped_adapter_path,
    require_weights_file,
)
from app.errors import BadInput


def test_the_small_model_is_a_file_of_its_package():
    with require_weights_file(SMOLLM2).open("rb") as file:
        assert file.read(4) == b"GGUF"


def test_what_was_trained_is_the_same_file_with_an_adapter_of_less_than_20_mb():
    assert require_weights_file(TRAINED) == require_weights_file(SMOLLM2)
    assert get_shipped_adapter_path(SMOLLM2) is None
    content = get_shipped_adapter_path(TRAINED).read_bytes()
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


class Package:
    """An installed package, of which one file was deleted since."""

    def __init__(self, folder):
        self.folder = folder
        self.files = [PackagePath(name) for name in ("a.py", "gone.gguf")]
        for one in self.files:
            one.dist = self

    def locate_file(self, path):
        return self.folder / path


@pytest.mark.parametrize("files", ["deleted", "none listed", "no package"])
def test_weights_that_are_not_there_are_said_with_what_to_do(tmp_path, monkeypatch, files):
    package = Package(tmp_path)
    if files == "none listed":
        package.files = None

    def find(_):
        if files == "no package":
            raise PackageNotFoundError
        return package

    monkeypatch.setattr(gguf_weights_file_lookup, "distribution", find)
    with pytest.raises(BadInput, match=r"are not installed beside .*give the path of a GGUF file"):
        require_weights_file(SMOLLM2)

import pytest

from app.engines.fit.model_shape_loader import load_model_shape
from app.errors import BadInput


@pytest.mark.parametrize(
    "name",
    [
        "google/gemma-4-31B-it",
        "nvidia/Gemma-4-31B-IT-NVFP4",
        "cyankiwi/gemma-4-31B-it-AWQ-4bit",
        "trohrbaugh/gemma-4-31b-it-heretic-ara-NVFP4",
        "RedHatAI/gemma_4_31B_it-FP8",
    ],
)
def test_every_31b_has_the_shape_of_the_31b(name):
    found = load_model_shape(name)
    assert (found.name, found.hidden, len(found.layers)) == (name, 5376, 60)
    assert [layer.kind for layer in found.layers].count("full") == 10
    assert found.towers.exact


def test_the_edge_models_are_their_own():
    e4b, e2b = load_model_shape("google/gemma-4-E4B-it"), load_model_shape("google/gemma-4-E2B-it")
    assert tuple(sum(layer.shares_kv for layer in shape.layers) for shape in (e4b, e2b)) == (18, 20)
    assert {layer.intermediate for layer in e4b.layers} == {10240}
    assert {layer.intermediate for layer in e2b.layers} == {6144, 12288}
    assert (e4b.positions, e4b.per_layer_input) == (131072, 256)


@pytest.mark.parametrize(
    "name", ["google/gemma-4-31B-it-assistant", "RedHatAI/gemma-4-31B-it-speculator.eagle3", "google/gemma-4-26B-A4B"]
)
def test_a_name_that_is_not_known_asks_for_the_config(name):
    with pytest.raises(BadInput, match=r"is not known here.* give the path of its config\.json"):
        load_model_shape(name)

import pytest

from app.engines.fit.model_shape_types import split_stages


@pytest.mark.parametrize(
    ("layers", "pp", "sizes"), [(60, 1, [60]), (60, 2, [30, 30]), (35, 2, [18, 17]), (42, 4, [10, 11, 11, 10])]
)
def test_what_does_not_divide_goes_to_the_stages_before_the_last(layers, pp, sizes):
    stages = split_stages(layers, pp)
    assert [len(stage) for stage in stages] == sizes
    assert [layer for stage in stages for layer in stage] == list(range(layers))

"""A size is read off a name, and off the path of what a server loaded."""

import pytest

from app.engines.model_size_from_name import find_billions_in_path, find_model_billions, is_small_model


@pytest.mark.parametrize(
    ("name", "billions", "small"),
    [
        ("qwen2.5:1.5b", 1.5, True),
        ("gpt-oss-120b", 120, False),
        ("gpt-4o", None, False),
        ("phi-3.8B-q4", 3.8, True),
        ("x-a3b-30b", 30, False),
        ("134.52M", 0.13452, True),
    ],
)
def test_the_largest_size_in_a_name_counts(name, billions, small):
    assert find_model_billions(name) == billions
    assert is_small_model(find_model_billions(name)) is small


@pytest.mark.parametrize(
    ("path", "billions"),
    [
        ("/srv/models/smollm2-135m", 0.135),
        ("/srv/70b/stig", None),
        ("Qwen/Qwen3-0.6B", 0.6),
        ("/cache/models--Qwen--Qwen3-0.6B/snapshots/c1899de289a04d12100db370d81485cdf75e9b17", 0.6),
        ("", None),
    ],
)
def test_of_a_path_the_name_of_the_model_counts_alone(path, billions):
    assert find_billions_in_path(path) == billions

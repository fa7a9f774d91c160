import pytest

from app.engines.fit.vllm_versions import get_vllm_rules
from app.errors import BadInput


def test_utilization_and_graphs_changed_with_0_20():
    assert (get_vllm_rules("0.19.1").default_utilization, get_vllm_rules("0.20.0").default_utilization) == (0.9, 0.92)
    assert (get_vllm_rules("0.19.1").graphs_counted, get_vllm_rules("0.20.0").graphs_counted) == (False, True)


@pytest.mark.parametrize("written", ["0.25.1", "v0.25.1", "0.25.1+cu130", "0.25.1rc2", "0.25.1.post1"])
def test_a_version_is_read_however_it_is_written(written):
    assert get_vllm_rules(written).version == (0, 25, 1)


def test_without_a_version_the_newest_rules_hold_and_say_so():
    assert get_vllm_rules("").name == "a current vLLM"
    assert get_vllm_rules("").version >= (0, 32, 0)


@pytest.mark.parametrize("written", ["latest", "1", "0..2", "0.25.1 or so", "9" * 50])
def test_what_is_no_version_is_refused(written):
    with pytest.raises(BadInput, match=r"is not a version of vLLM: write it like 0\.25\.1"):
        get_vllm_rules(written)

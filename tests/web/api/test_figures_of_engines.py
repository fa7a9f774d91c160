"""The source of an engine's rate names what was really counted."""

from types import SimpleNamespace

import pytest

from app.web.api.engines import _select_token_counter_names


@pytest.mark.parametrize(
    ("at_an_address", "metrics", "on_cpu", "named"),
    [
        (True, ("http://h:1/metrics",), False, "the server's counter of generated tokens"),
        (True, (), False, "Temper's own count"),
        (False, (), True, "llamacpp:tokens_predicted_total"),
        (False, (), False, "vllm:generation_tokens_total"),
    ],
)
def test_a_rate_names_the_counter_behind_it(at_an_address, metrics, on_cpu, named):
    engine = SimpleNamespace(is_endpoint=at_an_address, metrics_urls=metrics, is_on_cpu=on_cpu)
    assert _select_token_counter_names(engine)["written"].startswith(named)

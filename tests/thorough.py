"""How many examples are made up for a test: a number for every day, and many times that with `pytest --thorough`."""

import pytest
from hypothesis import HealthCheck, settings

USUAL, TIMES = 100, 15
SECONDS = 1800
"""That a test may then take."""

settings.register_profile("usual", max_examples=USUAL, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("usual"), max_examples=USUAL * TIMES)
"""Neither knows a clock: how long an example takes, or is made up, says how busy the machine is."""


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help=f"{TIMES} times the examples, as CI does at night")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    settings.load_profile("thorough" if config.getoption("thorough") else "usual")
    if config.getoption("thorough"):
        config.option.timeout = SECONDS


def examples(usual: int, at_night: int | None = None) -> int:
    """For a test whose examples cost more, or less, than others'; at night as many times more, or what is named."""
    times = settings().max_examples // USUAL
    return usual if times == 1 else at_night or usual * times

"""How many examples are made up for a test: a number for every day, and many times that with `pytest --thorough`."""

import pytest
from hypothesis import settings

USUAL, TIMES = 100, 15
SECONDS = 1800
"""That a test may then take."""

settings.register_profile("daily", deadline=None)  # the machine may be busy
settings.register_profile("thorough", deadline=None, max_examples=USUAL * TIMES)


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help=f"{TIMES} times the examples, as CI does at night")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    thorough = config.getoption("thorough")
    settings.load_profile("thorough" if thorough else "daily")
    if thorough:
        config.option.timeout = SECONDS


def examples(usual: int, at_night: int | None = None) -> int:
    """For a test whose examples cost more, or less, than others'; at night as many times more, or what is named."""
    times = settings().max_examples // USUAL
    return usual if times == 1 else at_night or usual * times

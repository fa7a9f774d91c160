"""Background tasks outlive what goes wrong in one of their turns."""

import sys
from types import SimpleNamespace

import pytest

from app.background import tasks_of_process


class LookedAgain(Exception):
    pass


class OnceLeader:
    settings = SimpleNamespace(keep_days=90.0, data="data")

    def __init__(self):
        self._looks = 0

    @property
    def is_leader(self):
        self._looks += 1
        if self._looks > 1:
            raise LookedAgain
        return True


async def test_the_daily_tidy_goes_on_after_a_process_that_does_not_start(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    monkeypatch.setattr(tasks_of_process, "LOOK_EVERY", 0)
    with pytest.raises(LookedAgain):
        await tasks_of_process.run_daily_tidy(OnceLeader())
    assert "tidy did not start" in caplog.text

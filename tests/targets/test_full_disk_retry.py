"""A full disk is waited for; what does not pass by itself is not."""

import errno
import os

import pytest

from app.targets import full_disk_retry


def failing(times, number):
    left = [times]

    def work():
        if left[0]:
            left[0] -= 1
            raise OSError(number, os.strerror(number))
        return "done"

    return work


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(full_disk_retry, "PAUSE", 0.001)
    monkeypatch.setattr(full_disk_retry, "SECONDS", 0.5)


def test_a_full_disk_is_waited_for():
    assert full_disk_retry.retry_while_disk_full(failing(3, errno.ENOSPC)) == "done"


def test_a_disk_that_stays_full_is_said():
    with pytest.raises(OSError, match="No space"):
        full_disk_retry.retry_while_disk_full(failing(10**9, errno.ENOSPC))


def test_what_does_not_pass_is_said_at_once():
    work = failing(1, errno.EROFS)
    with pytest.raises(OSError, match="Read-only"):
        full_disk_retry.retry_while_disk_full(work)
    assert work() == "done"

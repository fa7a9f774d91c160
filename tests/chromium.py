"""Debian's Chromium: its headless shell, or the whole browser where that is all there is."""

import os
import shutil

PROGRAMS = ("chromium-headless-shell", "chromium")
"""The engine is the same. The browser around it, its windows and spare processes, costs three times what pages do."""


def program() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert found, "this needs Debian's Chromium: apt-get install chromium-headless-shell"
    return found


def surroundings() -> dict[str, str]:
    """The shell takes its language from there, and makes of C.UTF-8 one that its own Intl refuses."""
    return {**os.environ, "LC_ALL": "en_US.UTF-8"}

"""Asking for help, or for the version, brings in nothing of what the commands do."""

import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "fastapi", "starlette", "httpx", "asyncssh", "dbos", "lxml", "uvicorn", "asyncio", "jinja2")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["host", "add", "--help"]])
def test_a_command_brings_its_world_in_when_it_is_called(words):
    line = f"import sys; sys.argv = ['temper', *{words}]; import atexit; from app.__main__ import main; "
    line += "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "app.cli" in done.stderr.split()
    assert [name for name in HEAVY if name in done.stderr.split()] == []

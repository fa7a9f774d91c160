"""docs/clients.md does what it says, and the playbook beside the clients starts a run and waits for it."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.config import PACKAGE
from tests.served import served

ROOT = PACKAGE.parent
PAGE = (ROOT / "docs" / "clients.md").read_text()
EXAMPLE = re.compile(r"```python\n(.*?)```\n(?:```out\n(.*?)```)?", re.DOTALL)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with served(tmp_path_factory.mktemp("clients") / "data", "--speed", "0") as server:
        yield server.url


@pytest.mark.timeout(120)
def test_every_python_example_prints_what_the_page_shows(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = EXAMPLE.findall(PAGE)
    assert len(examples) == PAGE.count("```python") == PAGE.count("```ts") == 10
    names = {}
    for code, shown in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code.replace("http://127.0.0.1:8000", url), "docs/clients.md", "exec"), names)
        for line in shown.splitlines():
            assert line in printed.getvalue(), f"{code}\nprinted\n{printed.getvalue()}"
    assert Path("evidence.zip").read_bytes()[:2] == b"PK"


@pytest.mark.timeout(120)
def test_the_playbook_starts_a_run_and_waits_for_it(url, tmp_path):
    play = Path(sys.executable).with_name("ansible-playbook")
    environment = {**os.environ, "ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_HOME": str(tmp_path), "no_proxy": "*"}
    line = [play, "-i", "localhost,", "-c", "local", ROOT / "deploy/clients/start-run.yml", "-e", f"temper={url}"]
    line += ["-e", f"ansible_python_interpreter={sys.executable}"]
    said = [
        subprocess.run([*line, *more], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        for more in ([], ["-e", "host=nowhere"])
    ]
    assert said[0].returncode == 0, said[0].stdout + said[0].stderr
    assert "2 rules passed or waived." in said[0].stdout
    assert said[1].returncode == 2
    assert "no host 'nowhere'" in said[1].stdout

"""docs/api.md does what it says: its examples run in one shell, in order, and print what it shows."""

import os
import re
import subprocess

import pytest

from app.config import PACKAGE
from app.events.kinds import KINDS as EVENTS
from app.web.api.problem import KINDS as PROBLEMS
from tests.served import served

PAGE = (PACKAGE.parent / "docs" / "api.md").read_text()
EXAMPLE = re.compile(r"```sh\n(.*?)```\n```out\n(.*?)```", re.DOTALL)
MARK = "--- next example ---"


@pytest.mark.timeout(120)
def test_every_example_prints_what_the_page_shows(tmp_path):
    examples = EXAMPLE.findall(PAGE)
    assert len(examples) == PAGE.count("```sh") > 10
    script = "set -eu -o pipefail\n" + f"echo '{MARK}'\n".join(code for code, _ in examples)
    with served(tmp_path / "data", "--speed", "0") as server:  # without lessons of other tests
        environment = {**os.environ, "TEMPER": server.url, "no_proxy": "127.0.0.1"}
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    for (code, shown), said in zip(examples, done.stdout.split(MARK), strict=True):
        for line in shown.splitlines():
            assert line in said, f"{code}\nsaid\n{said[:2000]}"


def test_every_type_of_problem_and_kind_of_event_is_on_the_page():
    assert [kind for kind in PROBLEMS if f"`/problems/{kind}`" not in PAGE] == []
    assert [kind for kind in EVENTS if f"`{kind}`" not in PAGE] == []

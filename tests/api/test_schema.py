"""The whole API against its own description, with requests that a machine made up."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.served import served

SECONDS = 40
ADDS_WEBHOOK = "add_webhook_api_v1_webhooks_post"
"""Left out: made-up addresses would be called. test_webhooks has its bad inputs."""
MEANING = "positive_data_acceptance"
"""Left out: that a host or a rule exists is beyond what a schema can say."""


@pytest.mark.timeout(180)
def test_no_server_error_and_no_undocumented_answer(tmp_path):
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "run", "--no-color", "--seed", "1",
        "--phases", "examples,coverage,fuzzing", "--max-examples", "8", "--max-time", str(SECONDS),
        "--request-timeout", "10", "--exclude-checks", MEANING, "--exclude-operation-id", ADDS_WEBHOOK,
        "--generation-database", "none", "--no-shrink",
    ]  # fmt: skip
    with served(tmp_path / "data", "--speed", "0") as server:
        done = subprocess.run(
            [*command, f"{server.url}/openapi.json"], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout[-6000:]
        assert "Traceback" not in server.output()
        paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    operations = sum(len(path) for path in paths.values())
    assert f"Selected: {operations - 1}/{operations}" in done.stdout


def test_the_description_is_openapi_3_1_and_names_every_problem(api):
    document = api.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert all("application/problem+json" in one["responses"]["422"]["content"] for one in operations)
    assert all(
        set(answer["content"]) == {"application/problem+json"}
        for one in operations
        for status, answer in one["responses"].items()
        if status.startswith("4")
    )

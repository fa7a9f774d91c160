"""The whole API against its own description, with requests that a machine made up."""

import subprocess
import sys
from pathlib import Path

import httpx
import jsonschema
import pytest

from app.events.kinds import RUN_KINDS
from tests.served import served
from tests.thorough import examples

SECONDS = 15
ADDS_WEBHOOK = "add_webhook"
"""Left out: made-up addresses would be called. test_webhooks has its bad inputs."""
ENDLESS = ("stream_all_events", "stream_samples")
"""Left out: who asks waits for ever. test_streams has their bad inputs."""
MEANING = "positive_data_acceptance"
"""Left out: that a host or a rule exists is beyond what a schema can say."""


@pytest.mark.timeout(examples(180))
def test_no_server_error_and_no_undocumented_answer(tmp_path):
    command = [
        str(Path(sys.executable).with_name("schemathesis")), "run", "--no-color", "--seed", "1",
        "--phases", "examples,coverage,fuzzing",
        "--max-examples", str(examples(4)), "--max-time", str(examples(SECONDS)),
        "--request-timeout", "10", "--exclude-checks", MEANING, "--exclude-operation-id", ADDS_WEBHOOK,
        *(word for name in ENDLESS for word in ("--exclude-operation-id", name)),
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
    assert f"Selected: {operations - 1 - len(ENDLESS)}/{operations}" in done.stdout


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


@pytest.fixture(scope="module")
def description(api):
    return api.get("/openapi.json").json()


def shape(description, name):
    return jsonschema.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
    )


def test_every_event_of_a_run_is_as_described(api, finished, description):
    page = api.get(f"/api/v1/runs/{finished}/events?limit=1000").json()
    event = shape(description, "Event")
    for one in page["events"]:
        event.validate(one)
    assert len({one["kind"] for one in page["events"]}) > 20
    queued = page["events"][0]
    for broken in (queued | {"seq": "1"}, queued | {"kind": "run.flown"}, {**queued, "host": None}):
        assert not event.is_valid(broken)
    assert not event.is_valid({name: value for name, value in queued.items() if name != "at"})


def test_every_kind_of_event_has_a_shape_that_the_answers_lead_to(description):
    schemas = description["components"]["schemas"]
    assert set(schemas["Event"]["discriminator"]["mapping"]) == set(RUN_KINDS)
    assert schemas["EventList"]["properties"]["events"]["items"] == {"$ref": "#/components/schemas/Event"}
    assert schemas["Answer"]["properties"]["actions"]["items"] == {"$ref": "#/components/schemas/Action"}


def test_a_client_made_from_it_knows_tokens_refusals_and_plain_names(description):
    operations = {(method, path): one for path, there in description["paths"].items() for method, one in there.items()}
    names = [one["operationId"] for one in operations.values()]
    assert operations["post", "/api/v1/runs"]["operationId"] == "start_run"
    assert len(set(names)) == len(names)
    assert all({"401", "403", "500"} <= set(one["responses"]) for one in operations.values())
    assert description["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert description["security"] == [{"token": []}, {}]
    assert operations["get", "/healthz"]["security"] == []

"""The generated parts are what the description of the API makes them."""

import runpy

from app.config import PACKAGE
from temper_client.operations import AsyncOperations, Operations
from tests.runs.doors import house

ROOT = PACKAGE.parent
SCRIPT = runpy.run_path(str(ROOT / ".ci" / "client"), run_name="client")


async def test_writing_it_again_changes_nothing(tmp_path):
    async with house(tmp_path) as made:
        description = (await made.http.get("/openapi.json")).json()
    modules = SCRIPT["render_modules"](description)
    for name, text in modules.items():
        kept = (ROOT / "temper_client" / name).read_text()
        assert SCRIPT["format_module"](text) == kept, f"{name} is old: make client"
    assert SCRIPT["render_typescript"](description) == SCRIPT["TYPESCRIPT"].read_text(), (
        "operations.ts is old: make client"
    )


async def test_every_operation_but_the_streams_is_a_method(tmp_path):
    async with house(tmp_path) as made:
        paths = (await made.http.get("/openapi.json")).json()["paths"]
    names = {one["operationId"] for path in paths.values() for one in path.values()}
    for client in (Operations, AsyncOperations):
        there = {name for name in vars(client) if not name.startswith("_")}
        assert names - there == {"stream_events", "stream_rollout", "stream_all_events", "stream_samples"}

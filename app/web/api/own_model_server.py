"""A model server of one's own: inspect it, give its models to the roles, and forget it."""

import asyncio
from typing import Annotated

from pydantic import Field, SecretStr

from app.events.event_field_types import Role
from app.people.rights import admins
from app.runtime.model_server_chosen_by_admin import Inspection, LineupChange, ServerAddress
from app.runtime.runtime import Runtime
from app.text.clean import clean_text
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.deps import TheRuntime, require_unshared_database

router = api_router("machine")


class OwnServerOrder(ApiModel):
    address: str = Field(min_length=1, max_length=500, description="http://HOST:PORT/v1, or https://.")
    key: SecretStr = Field(
        default=SecretStr(""),
        description="API key, if the server wants one. It is kept in memory, and never shown, logged or stored.",
    )
    model: str = Field(default="", max_length=300, description="Default: the first model that the server lists.")


class ServerFinding(ApiModel):
    name: str
    found: str
    without: str = Field(description="What Temper does without it, or where the value is from; may be empty.")


class OwnServerView(ApiModel):
    inspection: str = Field(description="Send it within 15 minutes to seat the server's models.")
    base: str
    model: str
    models: list[str] = Field(description="Every model that the server lists, at most 200.")
    program: str = Field(description="Program and version as far as the server shows them; may be empty.")
    context: int = Field(description="Tokens.")
    structured: bool = Field(description="Whether answers can be bound to a JSON Schema.")
    metrics: bool
    findings: list[ServerFinding]


class ModelSeats(ApiModel):
    inspection: str = Field(min_length=1, max_length=100)
    models: dict[Role, Annotated[str, Field(max_length=300)]] = Field(
        default={}, description="Model of each role. A role that is left out gets the model that was inspected."
    )


class LineupChangeView(ApiModel):
    title: str
    waits_for_runs: int = Field(description="Runs that have to end first: a run keeps the line-up that it began with.")


@router.post("/lineup/server", responses=build_problem_responses("busy", *BODY_PROBLEMS))
@admins
@declare_example({"address": "http://127.0.0.1:8080/v1"})
async def inspect_own_server(runtime: TheRuntime, order: OwnServerOrder) -> OwnServerView:
    """Ask a model server what it can do. This takes up to 100 seconds, and changes nothing."""
    require_unshared_database(runtime)
    server = ServerAddress(order.address, order.model, order.key.get_secret_value())
    return _to_own_server_view(await runtime.own_server.inspect(runtime.http, server))


@router.post("/lineup/seats", status_code=202, responses=build_problem_responses("busy", *BODY_PROBLEMS))
@admins
@declare_example({"inspection": "k1Zp0uX2mQ8rT5vW7yBcDg", "models": {}})
async def seat_own_server(runtime: TheRuntime, order: ModelSeats) -> LineupChangeView:
    """Use the models of an inspected server from the next run on."""
    require_unshared_database(runtime)
    own = runtime.own_server
    change = await own.write_and_request_lineup(runtime.http, order.inspection, order.models, runtime.settings.data)
    return await _to_change_view(runtime, change)


@router.delete("/lineup/server", status_code=202, responses=build_problem_responses("not-found"))
@admins
async def forget_own_server(runtime: TheRuntime) -> LineupChangeView:
    """Go back to the line-up that Temper was started with, from the next run on."""
    return await _to_change_view(
        runtime, await runtime.own_server.delete_lineup_and_request_original(runtime.settings.data)
    )


async def _to_change_view(runtime: Runtime, change: LineupChange) -> LineupChangeView:
    waits = await asyncio.to_thread(runtime.list_unended_runs)
    return LineupChangeView(title=change.title, waits_for_runs=len(waits))


def _to_own_server_view(found: Inspection) -> OwnServerView:
    report = found.report
    return OwnServerView.from_source(
        report,
        inspection=found.id,
        base=found.base,
        model=clean_text(report.model, 300),
        models=[clean_text(one.id, 300) for one in report.models[:200]],
        findings=[
            ServerFinding(name=name, found=clean_text(seen, 300), without=clean_text(without, 300))
            for name, seen, without in report.rows
        ],
    )

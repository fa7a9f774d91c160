"""The OpenAPI 3.1 description at /openapi.json, with the problems that each route can return."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.people.rights import guests
from app.web.api import event_schema
from app.web.api.problem import MEDIA_TYPE, ProblemBody

INTRODUCTION = (
    "Start runs, follow them event by event, answer what they wait for, and see the engines and GPUs they run on. "
    "Errors are RFC 9457 problems whose `type` leads to a page that says what to do. "
    "Every number that is not a count carries value, unit, provenance, source and time."
)
TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token of POST /api/v1/tokens, or of `temper token create`. Not asked for on loopback, "
    "unless Temper was started with --sign-in.",
}
LICENSE = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}
SERVERS = [{"url": "/", "description": "The server that this description is from."}]
TAGS = {
    "index": "The addresses by name.",
    "runs": "Start runs, find them, pause and stop them, and see their items.",
    "events": "What happened, page by page and as it happens.",
    "approvals": "What runs wait for, and the answers.",
    "evidence": "The papers of a run that has ended.",
    "lessons": "What failures taught, over all runs.",
    "rules": "What is checked.",
    "hosts": "What can be hardened.",
    "rollouts": "One wish for many hosts.",
    "waivers": "Manage waivers: findings that an owner accepts until a date.",
    "parameters": "Values that a site chooses for rules.",
    "tailorings": "Profiles of somebody's own over a data stream's.",
    "schedules": "Runs that start by themselves.",
    "machine": "Engines, GPUs, samples and energy.",
    "nodes": "The processes that share the work.",
    "webhooks": "Who is told.",
    "people": "Who may do what, and the record of what they did.",
    "usage": "Who ordered what it cost.",
    "health": "For what watches the server.",
}
OPEN = ("/healthz", "/readyz")
"""Open to everybody."""


def install_openapi(application: FastAPI) -> None:
    described: dict[str, Any] = {}

    def read_description() -> dict[str, Any]:
        if not described:
            described.update(_build_description(application))
        return described

    application.state.described = read_description


@guests
async def _serve_description(request: Request) -> Response:
    return JSONResponse(request.app.state.described())


ROUTE = Route("/openapi.json", _serve_description, name="openapi", include_in_schema=False)


def _build_description(application: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="Temper",
        version=application.version,
        description=INTRODUCTION,
        routes=application.routes,
        servers=SERVERS,
        tags=[{"name": name, "description": explained} for name, explained in TAGS.items()],
        license_info=LICENSE,
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    body = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= body.pop("$defs", {})
    schemas["ProblemBody"] = body
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    event_schema.add_event_schemas(schemas)
    components["securitySchemes"] = {"token": TOKEN}
    document["security"] = [{"token": []}, {}]
    for address, path in document["paths"].items():
        for operation in path.values():
            _restrict_problem_content(operation)
            if address in OPEN:
                operation["security"] = []
    return document


def _restrict_problem_content(operation: dict[str, Any]) -> None:
    for status, answer in operation["responses"].items():
        if status.startswith(("4", "5")) and MEDIA_TYPE in answer.get("content", {}):
            answer["content"] = {MEDIA_TYPE: answer["content"][MEDIA_TYPE]}

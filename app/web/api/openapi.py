"""The index of the API, and the OpenAPI 3.1 description with the problems that each route can return."""

import functools
import json
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import Field
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.people.rights import guests
from app.web.api import openapi_event_schemas
from app.web.api.api_model import ApiModel
from app.web.api.api_route import PREFIX, create_router
from app.web.api.openapi_examples import add_example
from app.web.api.problem import MEDIA_TYPE, ProblemBody, build_problem_responses
from app.web.referenced_schema_names import find_used_schemas
from app.web.url_paths import path_to

router = create_router("index")

_TEXTS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, dict[str, Any]])
_READ_AS_IS = ("application/json", "text/event-stream")
OPEN = ("/healthz", "/readyz")
"No sign-in needed."


class Index(ApiModel):
    version: str
    description: str = Field(description="Address of the machine-readable description.")
    docs: str = Field(description="Address of the same description for people.")
    addresses: dict[str, str] = Field(
        description="Readable addresses, by operation name; {…} stands for an id or a name."
    )


@router.get("", responses=build_problem_responses(), name="index")
@guests
def show_index(request: Request) -> Index:
    """List every path that can be read, by operation name."""
    routes = [route for route in request.app.routes if isinstance(route, APIRoute) and route.include_in_schema]
    read = {
        route.name: route.path for route in routes if "GET" in (route.methods or ()) and route.path.startswith(PREFIX)
    }
    return Index(version=request.app.version, description=path_to("openapi"), docs=path_to("api_docs"), addresses=read)


def put_description_builder_in_state(application: FastAPI) -> None:
    application.state.described = functools.cache(functools.partial(_build_description, application))


@guests
async def _serve_description(request: Request) -> Response:
    return JSONResponse(request.app.state.described())


ROUTE = Route("/openapi.json", _serve_description, name="openapi", include_in_schema=False)


def _build_description(application: FastAPI) -> dict[str, Any]:
    tags = [{"name": name, "description": explained} for name, explained in _TEXTS["tags"].items()]
    document = get_openapi(version=application.version, routes=application.routes, tags=tags, **_TEXTS["document"])
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    body = ProblemBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= body.pop("$defs", {})
    schemas["ProblemBody"] = body
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    openapi_event_schemas.add_event_schemas(schemas)
    components["securitySchemes"] = {"token": _TEXTS["token"]}
    document["security"] = [{"token": []}, {}]
    _move_request_defaults_to_descriptions(document)
    endpoints = {route.name: route.endpoint for route in application.routes if isinstance(route, APIRoute)}
    for address, path in document["paths"].items():
        for method, operation in path.items():
            _add_summary_and_binary_schemas(operation)
            _restrict_problem_content(operation)
            add_example(method, address, operation, endpoints[operation["operationId"]])
            if address in OPEN:
                operation["security"] = []
    return document


def _add_summary_and_binary_schemas(operation: dict[str, Any]) -> None:
    """Take the first sentence of the description as the summary, and give binary answers a schema of their own."""
    first, _, _ = operation.get("description", "").partition(". ")
    if sentence := " ".join(first.split("\n\n")[0].split()):
        operation["summary"] = sentence.rstrip(".")
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items() if status.startswith("2") else ():
            if media not in _READ_AS_IS and not content.get("schema"):
                is_text = media.startswith("text/") or media.endswith("xml")
                content["schema"] = {"type": "string"} if is_text else {"type": "string", "format": "binary"}


def _move_request_defaults_to_descriptions(document: dict[str, Any]) -> None:
    """State the defaults of what is sent in words: generators of clients take a field with `default` for required."""
    schemas = document["components"]["schemas"]
    for name in _list_request_only_schemas(document, schemas):
        for field in schemas[name].get("properties", {}).values():
            if field.get("default") not in (None, "", [], {}):
                said = json.dumps(field["default"])
                field["description"] = f"{field.get('description', '')} Default: {said}.".strip()
            field.pop("default", None)


def _list_request_only_schemas(document: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Return the names of the schemas that the bodies of requests use, and no answer does."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    sent = find_used_schemas([one.get("requestBody") for one in operations], schemas)
    received = find_used_schemas([one["responses"] for one in operations], schemas)
    return sorted(sent - received)


def _restrict_problem_content(operation: dict[str, Any]) -> None:
    for status, answer in operation["responses"].items():
        if status.startswith(("4", "5")) and MEDIA_TYPE in answer.get("content", {}):
            answer["content"] = {MEDIA_TYPE: answer["content"][MEDIA_TYPE]}

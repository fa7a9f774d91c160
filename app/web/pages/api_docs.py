"""The API reference page, rendered from the description at /openapi.json without scripts or requests."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.people.rights import guests
from app.web.pages.templating import render_page

router = APIRouter(include_in_schema=False)

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class TypePiece:
    """A fragment of a type's text, or the name of a schema to link to."""

    text: str
    shape: bool = False


@dataclass(frozen=True)
class DocField:
    name: str
    where: str
    """path, query or header; empty for a field of a schema."""
    type: tuple[TypePiece, ...]
    required: bool
    explained: str


@dataclass(frozen=True)
class DocResponse:
    status: str
    explained: str
    type: tuple[TypePiece, ...]


@dataclass(frozen=True)
class DocOperation:
    name: str
    method: str
    path: str
    explained: str
    takes: tuple[DocField, ...]
    body: tuple[TypePiece, ...]
    answers: tuple[DocResponse, ...]


@dataclass(frozen=True)
class DocGroup:
    name: str
    explained: str
    operations: tuple[DocOperation, ...]


@dataclass(frozen=True)
class DocSchema:
    name: str
    explained: str
    type: tuple[TypePiece, ...]
    """Set for a schema without fields of its own."""
    fields: tuple[DocField, ...]


@router.get("/api/docs", name="api_docs")
@guests
def show_api_docs(request: Request) -> Response:
    description = request.app.state.described()
    context = {
        "info": description["info"],
        "groups": group_operations(description),
        "shapes": list_schemas(description),
    }
    return render_page("api_docs.html", here="api_docs", **context)


def group_operations(description: dict[str, Any]) -> list[DocGroup]:
    found: dict[str, list[DocOperation]] = {tag["name"]: [] for tag in description["tags"]}
    for path, there in description["paths"].items():
        for method in _METHODS:
            if one := there.get(method):
                found[one["tags"][0]].append(_build_operation(method, path, one))
    return [DocGroup(tag["name"], tag["description"], tuple(found[tag["name"]])) for tag in description["tags"]]


def list_schemas(description: dict[str, Any]) -> list[DocSchema]:
    return [_build_schema(name, one) for name, one in sorted(description["components"]["schemas"].items())]


def _build_operation(method: str, path: str, one: dict[str, Any]) -> DocOperation:
    takes = [
        DocField(
            name=each["name"],
            where=each["in"],
            type=_describe_type(each["schema"]),
            required=each.get("required", False),
            explained=each.get("description", ""),
        )
        for each in one.get("parameters", [])
    ]
    answers = [
        DocResponse(status, each["description"], _describe_content(each))
        for status, each in sorted(one["responses"].items())
    ]
    return DocOperation(
        name=one["operationId"],
        method=method.upper(),
        path=path,
        explained=one.get("description", ""),
        takes=tuple(takes),
        body=_describe_content(one.get("requestBody", {})),
        answers=tuple(answers),
    )


def _build_schema(name: str, one: dict[str, Any]) -> DocSchema:
    required = one.get("required", ())
    fields = [
        DocField(field, "", _describe_type(each), field in required, each.get("description", ""))
        for field, each in one.get("properties", {}).items()
    ]
    return DocSchema(name, one.get("description", ""), () if fields else _describe_type(one), tuple(fields))


def _describe_content(holder: dict[str, Any]) -> tuple[TypePiece, ...]:
    for media_type, each in holder.get("content", {}).items():
        made = _describe_type(each.get("schema", {}))
        return made if media_type.endswith("json") else (TypePiece(media_type),)
    return ()


def _describe_type(schema: dict[str, Any]) -> tuple[TypePiece, ...]:
    if "$ref" in schema:
        return (TypePiece(schema["$ref"].rpartition("/")[2], shape=True),)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _join_types([_describe_type(each) for each in schema[choice]], " or ")
    if "const" in schema or "enum" in schema:
        return (TypePiece(" or ".join(repr(each) for each in schema.get("enum", [schema.get("const")]))),)
    if "prefixItems" in schema:
        return (TypePiece("list of "), *_join_types([_describe_type(each) for each in schema["prefixItems"]], " and "))
    if isinstance(schema.get("items"), dict):
        return (TypePiece("list of "), *_describe_type(schema["items"]))
    kind = schema.get("type", "anything")
    return (TypePiece(" or ".join(kind) if isinstance(kind, list) else kind),)


def _join_types(types: list[tuple[TypePiece, ...]], by: str) -> tuple[TypePiece, ...]:
    found: list[TypePiece] = []
    for each in types:
        found += [TypePiece(by), *each] if found else each
    return tuple(found)

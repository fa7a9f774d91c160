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


@router.get("/api/docs", name="api_docs")
@guests
def show_api_docs(request: Request) -> Response:
    description = request.app.state.described()
    return render_page(
        "api_docs.html",
        here="api_docs",
        info=description["info"],
        groups=[(tag, _list_operations(description, tag["name"])) for tag in description["tags"]],
        shapes=sorted(description["components"]["schemas"].items()),
        describe_type=_describe_type,
        describe_content=_describe_content,
    )


def _list_operations(description: dict[str, Any], tag: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path and description of each operation."""
    every = [(method, path, there.get(method)) for path, there in description["paths"].items() for method in _METHODS]
    return [(method, path, one) for method, path, one in every if one and one["tags"][0] == tag]


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

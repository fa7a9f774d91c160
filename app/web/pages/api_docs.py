"""The API reference: a page for each group of operations, rendered from the description at /openapi.json."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from app.people.rights import guests
from app.web.pages.templating import render_page
from app.web.referenced_schema_names import find_used_schemas
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)

SEARCH_INDEX = "search-index.js"
_METHODS = ("get", "post", "put", "patch", "delete")

Operation = tuple[str, str, dict[str, Any]]
"""Method, path and description."""


@dataclass(frozen=True)
class TypePiece:
    """A fragment of a type's text, or the name of a schema to link to."""

    text: str
    shape: bool = False


@router.get("/api/docs", name="api_docs")
@guests
def show_api_docs(request: Request) -> Response:
    description = request.app.state.described()
    groups = [(tag, _list_operations(description, tag["name"])) for tag in description["tags"]]
    search = path_to("api_docs_group", group=SEARCH_INDEX)
    return render_page(
        "api_docs.html", here="api_docs", info=description["info"], groups=groups, search_index=search, root=""
    )


@router.get("/api/docs/{group}", name="api_docs_group")
@guests
def show_api_group(request: Request, group: str) -> Response:
    """Show the operations of a group with their examples, and the schemas that they use."""
    description = request.app.state.described()
    if group == SEARCH_INDEX:
        content = _build_search_index_script(description)
        return Response(content, media_type="text/javascript", headers={"x-content-type-options": "nosniff"})
    tag = next((one for one in description["tags"] if one["name"] == group), None)
    if tag is None:
        raise HTTPException(404, "The API has no such group of operations. /api/docs lists the groups.")
    operations = _list_operations(description, group)
    schemas = description["components"]["schemas"]
    used = find_used_schemas([one for _, _, one in operations], schemas)
    return render_page(
        "api_docs_group.html",
        here="api_docs",
        tag=tag,
        tags=description["tags"],
        operations=operations,
        shapes=[(name, schemas[name]) for name in sorted(used)],
        describe_type=_build_type_pieces,
        describe_content=_build_content_pieces,
        list_answers=_iterate_example_answers,
    )


def _list_operations(description: dict[str, Any], tag: str) -> list[Operation]:
    every = [(method, path, there.get(method)) for path, there in description["paths"].items() for method in _METHODS]
    return [(method, path, one) for method, path, one in every if one and one["tags"][0] == tag]


def _build_search_index_script(description: dict[str, Any]) -> str:
    """Return a script with address, group, heading and text of each operation, for help.js."""
    entries = []
    for tag in description["tags"]:
        page = path_to("api_docs_group", group=tag["name"])
        for method, path, one in _list_operations(description, tag["name"]):
            fields = " ".join(f"{each['name']} {each.get('description', '')}" for each in one.get("parameters", ()))
            heading = f"{method.upper()} {path}"
            text = f"{one['summary']}. {one['operationId']} {one.get('description', '')} {fields}"
            entries.append([f"{page}#{one['operationId']}", tag["name"], heading, text])
    return f"globalThis.helpIndex = {json.dumps(entries, ensure_ascii=False, separators=(',', ':'))};\n"


def _iterate_example_answers(operation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield status and text of each answer that has an example."""
    for status, answer in operation["responses"].items():
        for content in answer.get("content", {}).values():
            if "example" in content:
                shown = content["example"]
                yield status, shown if isinstance(shown, str) else json.dumps(shown, indent=2, ensure_ascii=False)


def _build_content_pieces(holder: dict[str, Any]) -> tuple[TypePiece, ...]:
    for media_type, each in holder.get("content", {}).items():
        made = _build_type_pieces(each.get("schema", {}))
        return made if media_type.endswith("json") else (TypePiece(media_type),)
    return ()


def _build_type_pieces(schema: dict[str, Any]) -> tuple[TypePiece, ...]:
    if "$ref" in schema:
        return (TypePiece(schema["$ref"].rpartition("/")[2], shape=True),)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _join_type_pieces([_build_type_pieces(each) for each in schema[choice]], " or ")
    if "const" in schema or "enum" in schema:
        return (TypePiece(" or ".join(repr(each) for each in schema.get("enum", [schema.get("const")]))),)
    if "prefixItems" in schema:
        types = [_build_type_pieces(each) for each in schema["prefixItems"]]
        return (TypePiece("list of "), *_join_type_pieces(types, " and "))
    if isinstance(schema.get("items"), dict):
        return (TypePiece("list of "), *_build_type_pieces(schema["items"]))
    kind = schema.get("type", "anything")
    return (TypePiece(" or ".join(kind) if isinstance(kind, list) else kind),)


def _join_type_pieces(types: list[tuple[TypePiece, ...]], separator: str) -> tuple[TypePiece, ...]:
    found: list[TypePiece] = []
    for each in types:
        found += [TypePiece(separator), *each] if found else each
    return tuple(found)

"""The API reference page, rendered from the description at /openapi.json without scripts or requests."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.people.rights import guests
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)

_METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Piece:
    """A fragment of a type's text, or the name of a schema to link to."""

    text: str
    shape: bool = False


@dataclass(frozen=True)
class DocField:
    name: str
    where: str
    """path, query or header; empty for a field of a schema."""
    type: tuple[Piece, ...]
    required: bool
    explained: str


@dataclass(frozen=True)
class DocAnswer:
    status: str
    explained: str
    type: tuple[Piece, ...]


@dataclass(frozen=True)
class DocOperation:
    name: str
    method: str
    path: str
    explained: str
    takes: tuple[DocField, ...]
    body: tuple[Piece, ...]
    answers: tuple[DocAnswer, ...]


@dataclass(frozen=True)
class DocGroup:
    name: str
    explained: str
    operations: tuple[DocOperation, ...]


@dataclass(frozen=True)
class DocShape:
    name: str
    explained: str
    type: tuple[Piece, ...]
    """Set for a schema without fields of its own."""
    fields: tuple[DocField, ...]


@router.get("/api/docs")
@guests
def api_docs(request: Request) -> Response:
    description, nonce = request.app.state.described(), new_nonce()
    context = {"info": description["info"], "groups": groups(description), "shapes": shapes(description)}
    return page(rendered("api_docs.html", nonce=nonce, here="api_docs", **context), nonce)


def groups(description: dict[str, Any]) -> list[DocGroup]:
    found: dict[str, list[DocOperation]] = {tag["name"]: [] for tag in description["tags"]}
    for path, there in description["paths"].items():
        for method in _METHODS:
            if one := there.get(method):
                found[one["tags"][0]].append(_operation(method, path, one))
    return [DocGroup(tag["name"], tag["description"], tuple(found[tag["name"]])) for tag in description["tags"]]


def shapes(description: dict[str, Any]) -> list[DocShape]:
    return [_shape(name, one) for name, one in sorted(description["components"]["schemas"].items())]


def _operation(method: str, path: str, one: dict[str, Any]) -> DocOperation:
    takes = [
        DocField(
            name=each["name"],
            where=each["in"],
            type=_type(each["schema"]),
            required=each.get("required", False),
            explained=each.get("description", ""),
        )
        for each in one.get("parameters", [])
    ]
    answers = [
        DocAnswer(status, each["description"], _content(each)) for status, each in sorted(one["responses"].items())
    ]
    return DocOperation(
        name=one["operationId"],
        method=method.upper(),
        path=path,
        explained=one.get("description", ""),
        takes=tuple(takes),
        body=_content(one.get("requestBody", {})),
        answers=tuple(answers),
    )


def _shape(name: str, one: dict[str, Any]) -> DocShape:
    required = one.get("required", ())
    fields = [
        DocField(field, "", _type(each), field in required, each.get("description", ""))
        for field, each in one.get("properties", {}).items()
    ]
    return DocShape(name, one.get("description", ""), () if fields else _type(one), tuple(fields))


def _content(holder: dict[str, Any]) -> tuple[Piece, ...]:
    for media_type, each in holder.get("content", {}).items():
        made = _type(each.get("schema", {}))
        return made if media_type.endswith("json") else (Piece(media_type),)
    return ()


def _type(schema: dict[str, Any]) -> tuple[Piece, ...]:
    if "$ref" in schema:
        return (Piece(schema["$ref"].rpartition("/")[2], shape=True),)
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return _joined([_type(each) for each in schema[choice]], " or ")
    if "const" in schema or "enum" in schema:
        return (Piece(" or ".join(repr(each) for each in schema.get("enum", [schema.get("const")]))),)
    if "prefixItems" in schema:
        return (Piece("list of "), *_joined([_type(each) for each in schema["prefixItems"]], " and "))
    if isinstance(schema.get("items"), dict):
        return (Piece("list of "), *_type(schema["items"]))
    kind = schema.get("type", "anything")
    return (Piece(" or ".join(kind) if isinstance(kind, list) else kind),)


def _joined(types: list[tuple[Piece, ...]], by: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for each in types:
        found += [Piece(by), *each] if found else each
    return tuple(found)

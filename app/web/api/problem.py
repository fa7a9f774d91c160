"""Errors as RFC 9457 problems: each type has a page that says what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import msgspec
from fastapi import APIRouter
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from app.errors import TemperError
from app.people.rights import everybody
from app.web.api.api_model import ApiModel
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class ProblemKind:
    status: int
    title: str
    explained: str


KINDS = msgspec.toml.decode(Path(__file__).with_name("problems.toml").read_bytes(), type=dict[str, ProblemKind])


class Fault(ApiModel):
    field: str = Field(description="Location: a field of the body, a query parameter, a header or a part of the path.")
    detail: str = Field(description="What is wrong with the field, and what it accepts.")


class ProblemBody(ApiModel):
    type: str = Field(description="Address of the page that explains this type of problem.")
    title: str
    status: int
    detail: str = Field(description="What is wrong, and what to do.")
    errors: list[Fault] = Field(default=[], description="The fields at fault.")


class Problem(TemperError):
    def __init__(
        self, kind: str, detail: str, *faults: Fault, field: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.faults = faults or ((Fault(field=field, detail=detail),) if field else ())
        self.headers = headers

    @property
    def body(self) -> ProblemBody:
        kind = KINDS[self.kind]
        return ProblemBody(
            type=path_to("explain", kind=self.kind),
            title=kind.title,
            status=kind.status,
            detail=str(self),
            errors=list(self.faults),
        )

    def to_response(self) -> Response:
        content = msgspec.json.encode(self.body.model_dump())
        return Response(content, KINDS[self.kind].status, self.headers, MEDIA_TYPE)


@router.get("/problems/{kind}", name="explain")
@everybody
async def explain_problem(kind: str) -> Response:
    found = KINDS.get(kind)
    if found is None:
        return Problem("not-found", f"There is no type of problem {kind[:40]!a}; docs/api.md lists them.").to_response()
    return PlainTextResponse(f"{found.title} ({found.status})\n\n{found.explained}\n")


_ALWAYS = ("invalid", "unauthorized", "forbidden", "fault")
BODY_PROBLEMS = ("too-large", "wrong-content-type")
"""What else a route answers that takes a body."""


def build_problem_responses(*kinds: str) -> dict[int | str, dict[str, object]]:
    """Return the `responses` of a route: these problems, and those that every route has."""
    found: dict[int | str, dict[str, object]] = {}
    for status in sorted({KINDS[kind].status for kind in (*kinds, *_ALWAYS)}):
        names = ", ".join(kind for kind in KINDS if KINDS[kind].status == status)
        found[status] = {
            "description": f"{HTTPStatus(status).phrase}: {names}",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}},
        }
    return found

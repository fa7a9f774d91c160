"""Errors as RFC 9457 problems: each type has a page that says what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

import msgspec
from fastapi import APIRouter
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from app.errors import Rejected, TemperError
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


KINDS: Mapping[str, ProblemKind] = {
    "invalid": ProblemKind(
        422, "Part of the request is not valid", "Each entry of `errors` names a field and says how to correct it."
    ),
    "unknown-parameter": ProblemKind(
        422, "Unknown query parameter", "Remove the parameter, or spell it as in /openapi.json."
    ),
    "bad-cursor": ProblemKind(
        422,
        "Invalid cursor",
        "Cursors are opaque. Use `next` or `previous` from an answer unchanged, or leave the cursor out.",
    ),
    "unknown-host": ProblemKind(422, "No such host", "GET /api/v1/hosts lists the hosts."),
    "unknown-skill": ProblemKind(422, "No such skill", "The detail lists the skills."),
    "unknown-rule": ProblemKind(
        422, "No such rule", "The detail names the nearest rules; GET /api/v1/rules lists them all."
    ),
    "unsupported-host": ProblemKind(
        422,
        "Hosts of this kind cannot be added",
        "`errors` names the field and what it accepts: kind, name, place or secret_at.",
    ),
    "host-key": ProblemKind(
        422,
        "The host key is not accepted yet",
        "Compare the fingerprint in the detail with the one on the host, then send it as accept_key.",
    ),
    "key-reused": ProblemKind(
        422, "Idempotency-Key was used for another request", "Use a new key for a new request; keys are kept for a day."
    ),
    "key-in-flight": ProblemKind(
        409, "The request with this Idempotency-Key is still being answered", "Send it again in a second."
    ),
    "run-ended": ProblemKind(409, "The run has ended", "A run that has ended accepts no commands. Start another run."),
    "wrong-state": ProblemKind(
        409, "Not possible in this state", "The detail names the state and the commands that it allows."
    ),
    "not-waiting": ProblemKind(
        409,
        "This approval is not open",
        "It was answered, it expired, or its run has ended. GET /api/v1/approvals lists the open ones.",
    ),
    "busy": ProblemKind(
        409, "Work in progress prevents this", "The detail names the work. Wait for it to end, or pause it."
    ),
    "exists": ProblemKind(409, "It exists already", "Use the existing one, or choose another name or other settings."),
    "too-many": ProblemKind(409, "The limit is reached", "Delete one first."),
    "unauthorized": ProblemKind(401, "Sign-in required", "Sign in at /sign-in, or send `Authorization: Bearer TOKEN`."),
    "forbidden": ProblemKind(
        403, "Insufficient right", "The detail names the right that is required. Ask an admin for it."
    ),
    "cross-site": ProblemKind(
        403, "Cross-site request refused", "Temper does not accept requests from pages of other sites."
    ),
    "wrong-host": ProblemKind(403, "Unknown server name", "Use the address that Temper printed when it started."),
    "too-often": ProblemKind(429, "Too many attempts", "The header Retry-After says how many seconds to wait."),
    "not-found": ProblemKind(404, "Not found", "Check the id in the address, and the address against /openapi.json."),
    "method-not-allowed": ProblemKind(
        405, "Method not allowed", "The header Allow lists the methods that this address accepts."
    ),
    "too-large": ProblemKind(413, "The request is too large", "A body holds at most 1 MiB."),
    "no-such-range": ProblemKind(416, "Range not satisfiable", "Content-Range states the number of bytes."),
    "wrong-content-type": ProblemKind(
        415, "The body is not plain JSON", "Send it with Content-Type: application/json and no Content-Encoding."
    ),
    "unavailable": ProblemKind(
        503, "Temper cannot do this now", "The detail gives the cause. Remove it, then try again."
    ),
    "fault": ProblemKind(
        500, "Internal error", "The cause is in Temper, not in your request. The server's log has the details."
    ),
}


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


def to_rejection_problem(exc: Rejected) -> Problem:
    return Problem(exc.kind, exc.sentence, field=exc.field)


@router.get("/problems/{kind}", name="explain")
@everybody
async def explain_problem(kind: str) -> Response:
    found = KINDS.get(kind)
    if found is None:
        return Problem("not-found", f"There is no type of problem {kind[:40]!a}; docs/api.md lists them.").to_response()
    return PlainTextResponse(f"{found.title} ({found.status})\n\n{found.explained}\n")


_ALWAYS = ("invalid", "unauthorized", "forbidden", "fault")


def document_problems(*kinds: str) -> dict[int | str, dict[str, object]]:
    """Return the `responses` of a route: these problems, and those that every route has."""
    found: dict[int | str, dict[str, object]] = {}
    for status in sorted({KINDS[kind].status for kind in (*kinds, *_ALWAYS)}):
        names = ", ".join(kind for kind in KINDS if KINDS[kind].status == status)
        schema = {"$ref": "#/components/schemas/ProblemBody"}
        found[status] = {
            "description": f"{HTTPStatus(status).phrase}: {names}",
            "content": {MEDIA_TYPE: {"schema": schema}},
        }
    return found

"""Request handling common to all API routes: unknown parameters are rejected, and every error is a problem."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.routing import APIRoute
from sqlalchemy.exc import DataError

from app.errors import BadInput, EnvironmentUnusable, Rejected
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.web.api.problem import Fault, Problem

log = logging.getLogger(__name__)

PREFIX = "/api/v1"
_DEEP = "nested too deeply"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ApiRoute(APIRoute):
    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        known = frozenset(_list_query_parameter_names(self.dependant))
        takes_body = self.body_field is not None

        async def answer_request(request: Request) -> Response:
            try:
                _reject_unknown_parameters(request, known)
                if takes_body:
                    await _require_readable_json_unless_empty(request)
                return await handle(request)
            except Exception as exc:  # noqa: BLE001  whatever it is, the answer is a problem
                request.state.refused = True  # the error has its response, so the session must not commit
                told = to_problem(exc)
                request.state.kind = told.kind
                return told.to_response()

        return answer_request


def create_router(tag: str, prefix: str = PREFIX) -> APIRouter:
    return APIRouter(
        prefix=prefix, route_class=ApiRoute, tags=[tag], generate_unique_id_function=lambda route: route.name
    )


def to_problem(exc: Exception) -> Problem:
    match exc:
        case Problem():
            return exc
        case RequestValidationError():
            return _to_invalid_problem(exc)
        case HTTPException(status_code=413):
            return Problem("too-large", str(exc.detail), field="body")
        case HTTPException(status_code=400):
            return Problem("invalid", "The body cannot be read as JSON.", field="body")
        case Rejected():
            return Problem(exc.kind, exc.sentence, field=exc.field)
        case BadInput():
            return Problem("invalid", exc.sentence)
        case DataError():
            return Problem(
                "invalid",
                f"The database rejected the request: {shorten_database_error(exc)}. Check it for NUL "
                "characters and very large numbers.",
            )
        case _ if isinstance(exc, DATABASE_UNAVAILABLE):
            return Problem(
                "unavailable", f"The database does not answer: {shorten_database_error(exc)}. Try again in a moment."
            )
        case EnvironmentUnusable():
            return Problem("unavailable", str(exc))
    log.error("a request failed with an internal error", exc_info=exc)
    return Problem("fault", "Something went wrong inside Temper; its log has the details.")


def _list_query_parameter_names(dependant: Dependant) -> list[str]:
    names = [field.alias for field in dependant.query_params]
    return names + [name for inner in dependant.dependencies for name in _list_query_parameter_names(inner)]


def _reject_unknown_parameters(request: Request, known: frozenset[str]) -> None:
    """Reject unknown and repeated parameters, and NUL, which PostgreSQL does not take."""
    given: Counter[str] = Counter()
    for name, value in request.query_params.multi_items():
        if "\0" in value:
            said = f"The parameter {name[:40]!a} contains a NUL character: remove it."
            raise Problem("invalid", said, field=name[:40])
        given[name] += 1
    for name, times in given.items():
        if name not in known:
            takes = f"the parameters are {', '.join(sorted(known))}" if known else "this address has no parameters"
            raise Problem("unknown-parameter", f"There is no parameter {name[:40]!a} here: {takes}.", field=name[:40])
        if times > 1:
            raise Problem("invalid", f"The parameter {name} is given {times} times: give it once.", field=name)


async def _require_readable_json_unless_empty(request: Request) -> None:
    content = await request.body()
    if not content:
        return
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        said = f"Content-Encoding is {coding[:40]!a}: send the body as it is, without one."
        raise Problem("wrong-content-type", said, field="Content-Encoding")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        said = kind[:60] or "missing"
        raise Problem("wrong-content-type", f"Content-Type is {said}: send application/json.", field="Content-Type")
    try:
        json.loads(content, object_pairs_hook=_reject_duplicate_keys)
    except RecursionError as exc:
        raise Problem("invalid", f"The body is {_DEEP}.", field="body") from exc
    except ValueError as exc:
        raise Problem("invalid", f"The body cannot be read as JSON: {exc}.", field="body") from exc


def _reject_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Reject duplicate keys: it would be undefined which one counts."""
    for name, times in Counter(name for name, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{name[:40]!a} is given {times} times")
    return dict(pairs)


def _to_invalid_problem(exc: RequestValidationError) -> Problem:
    faults = [
        Fault(field=_format_location(error["loc"]), detail=_format_error_message(error)) for error in exc.errors()[:20]
    ]
    first = faults[0] if faults else Fault(field="body", detail="The value is not valid.")
    return Problem("invalid", f"{first.field}: {first.detail}", *faults)


def _format_location(loc: tuple[int | str, ...]) -> str:
    """Format an error location as people write it: rules[2], budget.attempts, Idempotency-Key."""
    where, *path = loc or ("body",)
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return name[:100] or str(where)


def _format_error_message(error: Any) -> str:
    """Return what to send; texts of pydantic's own only for what has no sentence here."""
    if sentence := _SENTENCES.get(error["type"]):
        return sentence.format(**error.get("ctx") or {})
    return f"{error['msg'].removeprefix('Value error, ')}."


_SENTENCES = msgspec.toml.decode(
    Path(__file__).with_name("validation_sentences.toml").read_bytes(), type=dict[str, str]
)

"""Download the papers of a finished run, and show the public key that signs them."""

from fastapi import Response
from pydantic import Field

from app.evidence import pack
from app.evidence.document_catalog import PAPERS, Paper
from app.evidence.external_log_receipt_by_command import parse_hook_command_json
from app.evidence.notary import Requester, open_notary
from app.evidence.run_record import read_run_record
from app.people.rights import DEMO, WHO, guests, operators, viewers
from app.runtime.runtime import Runtime
from app.store import run_queries
from app.web.api.api_model import ApiModel
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, build_problem_responses
from app.web.api.runs import read_required_run_row
from app.web.deps import TheRuntime

router = api_router("evidence")

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


class KeyView(ApiModel):
    algorithm: str = Field(examples=["Ed25519"])
    public: str = Field(description="64 hexadecimal digits, for `temper verify --key` and `verify.py --key`.")


def _build_paper_responses(media_type: str) -> dict[int | str, dict[str, object]]:
    """Describe a download for `responses`. JSON papers have schemas of their own, outside the API's."""
    schema = {"type": "object"} if media_type == "application/json" else {"type": "string", "format": "binary"}
    there: dict[str, object] = {"content": {media_type: {"schema": schema}}}
    if media_type != pack.MEDIA_TYPE:
        return {**build_problem_responses("not-found", "wrong-state"), 200: there}
    there["headers"] = {"Accept-Ranges": {"schema": {"type": "string"}}}
    part = {**there, "description": "The bytes that the Range header requests."}
    return {**build_problem_responses("not-found", "wrong-state", "no-such-range"), 200: there, 206: part}


@router.get("/runs/{run}/evidence.zip", response_class=Response, responses=_build_paper_responses(pack.MEDIA_TYPE))
@operators
def take_pack(run: str, runtime: TheRuntime) -> Response:
    """Download everything a third party needs to verify the run offline."""
    _require_ended(runtime, run)
    archive = open_notary(
        runtime.settings.data,
        runtime.database,
        runtime.settings.tsa,
        parse_hook_command_json(runtime.settings.log_hook),
    ).issue_evidence(run, identify_requester())
    return create_download(f"{run}-{pack.FILE}", pack.MEDIA_TYPE, archive)


def _add_paper_route(paper: Paper) -> None:
    def take_paper(run: str, runtime: TheRuntime) -> Response:
        _require_ended(runtime, run)
        content = paper.build(read_run_record(runtime.store.read_events(run)))
        is_page = paper.media_type == "text/html"
        return create_download(f"{run}-{paper.file}", paper.media_type, content, is_shown=is_page)

    take_paper.__doc__ = paper.explained
    router.add_api_route(
        f"/runs/{{run}}/{paper.file}",
        guests(take_paper),
        name=f"take_{paper.format.replace('-', '_')}",
        response_class=Response,
        responses=_build_paper_responses(paper.media_type),
    )


for _paper in PAPERS:
    _add_paper_route(_paper)


@router.get("/key", responses=build_problem_responses("unavailable"))
@viewers
def show_key(runtime: TheRuntime) -> KeyView:
    """Show the public key that signs evidence, for pinning. It changes only by `temper key --change`."""
    return KeyView(algorithm="Ed25519", public=open_notary(runtime.settings.data, runtime.database).key.public)


def _require_ended(runtime: Runtime, run: str) -> None:
    row = read_required_run_row(runtime, run)
    if row.state in run_queries.UNENDED:
        raise Problem("wrong-state", f"Run {run} is {row.state}. Its documents are available when it has ended.")


def identify_requester() -> Requester:
    """Return the person of this request, for the audit log."""
    person = WHO.get() or DEMO
    return Requester(person.name, person.right, person.via)


def create_download(
    file: str, media_type: str, content: bytes, *, is_shown: bool = False, policy: str = _LOCKED
) -> Response:
    """Return the file as a download, or for the browser to show. A CSP stops active content."""
    headers = {
        "content-disposition": f'{"inline" if is_shown else "attachment"}; filename="{file}"',
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }
    return Response(content, media_type=media_type, headers=headers)

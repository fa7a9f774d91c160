"""The address of a run's shared file."""

from typing import Annotated, Any

from fastapi import Query, Response

from app.evidence.notary import open_notary
from app.people.rights import can_read_prompts, guests
from app.store import run_queries
from app.web.api.api_route import create_router
from app.web.api.evidence import create_download, identify_requester
from app.web.api.problem import Problem, build_problem_responses
from app.web.api.runs import read_required_run_row
from app.web.deps import TheRuntime
from app.web.shared_file.shared_file_builder import MEDIA_TYPE, issue_shared_file, name_shared_file

router = create_router("evidence")

_LOCKED = "default-src 'none'; sandbox"
_DOCUMENTED: dict[int | str, dict[str, Any]] = {
    **build_problem_responses("not-found", "wrong-state", "forbidden", "unavailable"),
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}},
}
Prompts = Annotated[bool, Query(description="Include the prompts. Only operators may ask for them.")]


@router.get("/runs/{run}/shared.html", response_class=Response, responses=_DOCUMENTED)
@guests
def take_shared_file(run: str, runtime: TheRuntime, prompts: Prompts = False) -> Response:
    """Download the run as one HTML file that plays and checks itself, without a server or a network.

    Prompts, which describe the host, are withheld, so the file shows what a shared link shows."""
    row = read_required_run_row(runtime, run)
    if row.state in run_queries.UNENDED:
        raise Problem("wrong-state", f"Run {run} is {row.state}. Its file is available when it has ended.")
    if prompts and not can_read_prompts():
        raise Problem("forbidden", "Prompts are for operators. Ask without prompts=true.", field="prompts")
    notary = open_notary(runtime.settings.data, runtime.database)
    content = issue_shared_file(runtime, row, notary, identify_requester(), prompts=prompts)
    return create_download(name_shared_file(run), MEDIA_TYPE, content, policy=_LOCKED)

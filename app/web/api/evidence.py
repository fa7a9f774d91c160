"""Download the papers of a finished run."""

from fastapi import Response

from app.evidence import pack
from app.evidence.case import read_case
from app.evidence.notary import AskedBy, open_notary
from app.evidence.papers import PAPERS, Paper
from app.evidence.receipt import hook_words
from app.people.rights import DEMO, WHO, guests, operators
from app.runtime.runtime import Runtime
from app.store import queries
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.api.runs import known_run
from app.web.deps import TheRuntime

router = api_router("evidence")

_LOCKED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def _described(media_type: str) -> dict[int | str, dict[str, object]]:
    """Describe a download for `responses`. JSON papers have schemas of their own, outside the API's."""
    schema = {"type": "object"} if media_type == "application/json" else {"type": "string", "format": "binary"}
    there: dict[str, object] = {"content": {media_type: {"schema": schema}}}
    if media_type != pack.MEDIA_TYPE:
        return {**documented("not-found", "wrong-state"), 200: there}
    there["headers"] = {"Accept-Ranges": {"schema": {"type": "string"}}}
    part = {**there, "description": "The bytes that Range names."}
    return {**documented("not-found", "wrong-state", "no-such-range"), 200: there, 206: part}


@router.get("/runs/{run}/evidence.zip", response_class=Response, responses=_described(pack.MEDIA_TYPE))
@operators
def take_pack(run: str, runtime: TheRuntime) -> Response:
    """Download everything a third party needs to verify the run offline."""
    _ended(runtime, run)
    person = WHO.get() or DEMO
    archive = open_notary(
        runtime.settings.data, runtime.database, runtime.settings.tsa, hook_words(runtime.settings.log_hook)
    ).evidence(run, AskedBy(person.name, person.right, person.via))
    return _answer(run, pack.FILE, pack.MEDIA_TYPE, archive)


def _offer(paper: Paper) -> None:
    def take(run: str, runtime: TheRuntime) -> Response:
        _ended(runtime, run)
        return _answer(run, paper.file, paper.media_type, paper.made(read_case(runtime.store.events(run))))

    take.__doc__ = paper.explained
    router.add_api_route(
        f"/runs/{{run}}/{paper.file}",
        guests(take),
        name=f"take_{paper.format.replace('-', '_')}",
        response_class=Response,
        responses=_described(paper.media_type),
    )


for _paper in PAPERS:
    _offer(_paper)


def _ended(runtime: Runtime, run: str) -> None:
    row = known_run(runtime, run)
    if row.state in queries.UNENDED:
        raise Problem("wrong-state", f"Run {run} is {row.state}: its papers are made when it has ended.")


def _answer(run: str, file: str, media_type: str, content: bytes) -> Response:
    """Return the file; the report opens in the browser, everything else is a download. A CSP stops active content."""
    kept = "inline" if media_type == "text/html" else "attachment"
    return Response(
        content,
        media_type=media_type,
        headers={
            "content-disposition": f'{kept}; filename="{run}-{file}"',
            "content-security-policy": _LOCKED,
            "x-content-type-options": "nosniff",
            "cache-control": "no-store",
        },
    )

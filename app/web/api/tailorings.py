"""Tailored profiles of data streams."""

import time
from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from app.people.rights import operators, viewers
from app.runs.tailor import LONGEST, TailoredProfile, tailored_profiles, take_tailoring
from app.runs.tailoring_out import TailoringWish, tailoring_of
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.wire import Wire, stated
from app.web.deps import TheRuntime, TheSession

router = api_router("tailorings")


class TailoringOrder(Wire):
    name: Annotated[str, stated(maxLength=LONGEST["name"], description="What it is called here.", examples=["site"])]
    content: Annotated[
        str, stated(maxLength=LONGEST["content"], description="The data stream.", examples=["ssg-debian12"])
    ]
    document: Annotated[str, stated(maxLength=LONGEST["document"], description="The xccdf:Tailoring, as XML.")]


class TailoredProfileView(Wire):
    skill: str = Field(description="What a run on this profile asks for.")
    tailoring: str
    content: str
    profile: str
    title: str
    rules: int
    left_out: int = Field(description="Rules of the profile that it extends which are not applicable by tailoring.")
    version: str
    sha256: str


class TailoringList(Wire):
    profiles: list[TailoredProfileView]


@router.get("/tailorings", responses=documented())
@viewers
def list_tailorings() -> TailoringList:
    """List the profiles of every tailoring added to this machine."""
    return TailoringList(profiles=[_view(one) for one in tailored_profiles()])


@router.post("/tailorings", status_code=201, responses=documented("too-large", "wrong-content-type"))
@operators
def add_tailoring(order: TailoringOrder) -> TailoringList:
    """Add a tailoring. It is kept for good: its name cannot be used for another."""
    taken = take_tailoring(order.document.encode("utf-8", "surrogatepass"), order.content, order.name)
    return TailoringList(profiles=[_view(one) for one in taken])


_XML: dict[int | str, dict[str, object]] = {
    200: {"content": {"application/xml": {"schema": {"type": "string", "format": "binary"}}}}
}
_Word = Annotated[str, Query(max_length=200)]


@router.get(
    "/tailoring.xml",
    response_class=Response,
    responses={**documented("unknown-host", "unknown-skill", "unknown-rule"), **_XML},
)
@viewers
def take_tailoring_out(
    session: TheSession,
    runtime: TheRuntime,
    skill: Annotated[str, Query(max_length=200, description="A data stream's profile: scap:CONTENT:PROFILE.")],
    host: _Word = "",
    group: _Word = "",
    rules: Annotated[str, Query(max_length=4000, description="With commas between them; all when left out.")] = "",
) -> Response:
    """Export waivers, site values and selected rules as an xccdf:Tailoring, for OpenSCAP elsewhere."""
    wish = TailoringWish(skill=skill, host=host, group=group, rules=rules)
    content = tailoring_of(session, wish, time.time(), runtime.settings.hosts)
    headers = {"content-disposition": f'attachment; filename="{wish.file}"', "x-content-type-options": "nosniff"}
    return Response(content, media_type="application/xml", headers=headers)


def _view(one: TailoredProfile) -> TailoredProfileView:
    return TailoredProfileView(
        skill=one.skill,
        tailoring=one.tailoring,
        content=one.content,
        profile=one.profile.short,
        title=one.profile.title,
        rules=one.profile.rules,
        left_out=one.left_out,
        version=one.version,
        sha256=one.sha256,
    )

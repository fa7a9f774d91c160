"""Tailored profiles of data streams."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from app.people.rights import operators, viewers
from app.runs.tailored_profiles import LONGEST, TailoredProfile, list_tailored_profiles, validate_and_store_tailoring
from app.runs.waivers_and_values_as_tailoring import TailoringSpec, export_tailoring
from app.web.api.api_model import ApiModel, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.deps import TheRuntime, TheSession, Words

router = api_router("tailorings")


class TailoringOrder(ApiModel):
    name: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["name"], description="Name of the tailoring in Temper.", examples=["site"]
    )
    content: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["content"], description="Name of the data stream.", examples=["ssg-debian12"]
    )
    document: str = declare_field_with_unchecked_bounds(
        maxLength=LONGEST["document"], description="The xccdf:Tailoring file, as XML."
    )


class TailoredProfileView(ApiModel):
    skill: str = Field(description="Skill to use in runs with this profile.")
    tailoring: str
    content: str
    profile: str
    title: str
    rules: int
    left_out: int = Field(description="Rules of the extended profile that the tailoring excludes as not applicable.")
    version: str
    sha256: str


class TailoringList(ApiModel):
    profiles: list[TailoredProfileView]


@router.get("/tailorings", responses=build_problem_responses())
@viewers
def list_tailorings() -> TailoringList:
    """List the profiles of every tailoring added to this machine."""
    return TailoringList(profiles=[_to_profile_view(one) for one in list_tailored_profiles()])


@router.post("/tailorings", status_code=201, responses=build_problem_responses(*BODY_PROBLEMS))
@operators
@declare_example({"name": "site", "content": "ssg-debian12", "document": "<xccdf:Tailoring>…</xccdf:Tailoring>"})
def add_tailoring(order: TailoringOrder) -> TailoringList:
    """Add a tailoring. It is kept for good: its name cannot be used for another."""
    taken = validate_and_store_tailoring(order.document.encode("utf-8", "surrogatepass"), order.content, order.name)
    return TailoringList(profiles=[_to_profile_view(one) for one in taken])


_XML: dict[int | str, dict[str, object]] = {
    200: {"content": {"application/xml": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get(
    "/tailoring.xml",
    response_class=Response,
    responses={**build_problem_responses("unknown-host", "unknown-skill", "unknown-rule"), **_XML},
)
@viewers
@declare_example(query={"skill": "scap:ssg-debian12:base", "host": "fixture"})
def take_tailoring_out(
    session: TheSession,
    runtime: TheRuntime,
    skill: Annotated[str, Query(max_length=200, description="Profile of a data stream: scap:CONTENT:PROFILE.")],
    host: Words = "",
    group: Words = "",
    rules: Annotated[str, Query(max_length=4000, description="Rule ids, separated by commas. Default: all.")] = "",
) -> Response:
    """Export waivers, site values and selected rules as an xccdf:Tailoring, for OpenSCAP elsewhere."""
    wish = TailoringSpec(skill=skill, host=host, group=group, rules=rules)
    content = export_tailoring(session, wish, runtime.clock.now(), runtime.settings.hosts_folder)
    headers = {"content-disposition": f'attachment; filename="{wish.file_name}"', "x-content-type-options": "nosniff"}
    return Response(content, media_type="application/xml", headers=headers)


def _to_profile_view(tailored_profile: TailoredProfile) -> TailoredProfileView:
    profile = tailored_profile.profile
    return TailoredProfileView.from_source(
        tailored_profile,
        skill=tailored_profile.skill_name,
        profile=profile.short_id,
        title=profile.title,
        rules=profile.rules,
    )

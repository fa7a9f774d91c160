"""Index of the API: paths by operation name."""

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import Field

from app.people.rights import guests
from app.web.addresses import path_to
from app.web.api.api_model import ApiModel
from app.web.api.api_route import PREFIX
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import document_problems

router = api_router("index")


class Index(ApiModel):
    version: str
    description: str = Field(description="Address of the machine-readable description.")
    docs: str = Field(description="Address of the same description for people.")
    addresses: dict[str, str] = Field(
        description="Readable addresses, by operation name; {…} stands for an id or a name."
    )


@router.get("", responses=document_problems(), name="index")
@guests
def show_index(request: Request) -> Index:
    """List every path that can be read, by operation name."""
    routes = [route for route in request.app.routes if isinstance(route, APIRoute) and route.include_in_schema]
    read = {
        route.name: route.path for route in routes if "GET" in (route.methods or ()) and route.path.startswith(PREFIX)
    }
    return Index(version=request.app.version, description=path_to("openapi"), docs=path_to("api_docs"), addresses=read)

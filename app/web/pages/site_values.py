"""The page of site values for rules, with the forms that set and clear them."""

from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from app.people.rights import get_name_to_record, operators, viewers
from app.runs.site_values import ParameterSpec, delete_parameter_value, list_parameter_states, set_parameter
from app.runs.tailored_profiles import list_tailored_profiles
from app.store.host_groups import read_groups
from app.targets import host_registry
from app.targets.host_registry import FIXTURE
from app.web.deps import TheRuntime, TheSession, Words
from app.web.pages.form_field_readers import Fields
from app.web.pages.templating import render_page
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)


@router.get("/parameters", name="parameters")
@viewers
def show_parameters(runtime: TheRuntime, session: TheSession, skill: Words = "stig", host: Words = "") -> Response:
    """Show the site values of a host, or those for every host if none is given."""
    return render_page(
        "parameters.html",
        here="hosts",
        parameters=list_parameter_states(session, skill, host, runtime.settings.hosts_folder),
        asked={"skill": skill, "host": host},
        hosts=[FIXTURE, *(one.name for one in host_registry.list_hosts(runtime.settings.hosts_folder))],
        groups=read_groups(session),
        tailored=list_tailored_profiles(),
    )


@router.post("/parameters", name="parameters")
@operators
def submit_parameter(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    set_parameter(session, _read_unchecked_parameter_form(fields), runtime.clock.now(), runtime.settings.hosts_folder)
    return _redirect_to_parameters(fields)


@router.post("/parameters/clear", name="parameters_clear")
@operators
def submit_parameter_clear(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    delete_parameter_value(session, _read_unchecked_parameter_form(fields), runtime.settings.hosts_folder)
    return _redirect_to_parameters(fields)


def _read_unchecked_parameter_form(fields: Fields) -> ParameterSpec:
    words = {name: fields.get(name, "") for name in ("name", "value", "host", "group")}
    return ParameterSpec(**words, skill=fields.get("skill", "stig").strip(), by=get_name_to_record("the page"))


def _redirect_to_parameters(fields: Fields) -> Response:
    asked = {"skill": fields.get("skill", "stig").strip(), "host": fields.get("seen", "")}
    return RedirectResponse(f"{path_to('parameters')}?{urlencode(asked)}", status_code=303)

"""The page of site values for rules, with the forms that set and clear them."""

import time
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.responses import RedirectResponse, Response

from app.people.rights import operators, signed, viewers
from app.runs.parameters import ParameterWish, clear_parameter, set_parameter, shown
from app.runs.tailor import tailored_profiles
from app.store.groups import groups
from app.targets import registry
from app.targets.catalog import FIXTURE
from app.web.addresses import path_to
from app.web.deps import TheRuntime, TheSession
from app.web.pages.order_form import Fields
from app.web.pages.security import new_nonce, page
from app.web.pages.templating import rendered

router = APIRouter(include_in_schema=False)

_Word = Annotated[str, Query(max_length=200)]


@router.get("/parameters", name="parameters")
@viewers
def all_parameters(runtime: TheRuntime, session: TheSession, skill: _Word = "stig", host: _Word = "") -> Response:
    """Show the site values of a host, or those for every host if none is given."""
    nonce = new_nonce()
    context = {
        "parameters": shown(session, skill, host, runtime.settings.hosts),
        "asked": {"skill": skill, "host": host},
        "hosts": [FIXTURE, *(one.name for one in registry.listed(runtime.settings.hosts))],
        "groups": groups(session),
        "tailored": tailored_profiles(),
    }
    return page(rendered("parameters.html", nonce=nonce, here="hosts", **context), nonce)


@router.post("/parameters", name="parameters")
@operators
def set_value(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    set_parameter(session, _wish(fields), time.time(), runtime.settings.hosts)
    return _back(fields)


@router.post("/parameters/clear", name="parameters_clear")
@operators
def clear_value(session: TheSession, runtime: TheRuntime, fields: Fields) -> Response:
    clear_parameter(session, _wish(fields), runtime.settings.hosts)
    return _back(fields)


def _wish(fields: Fields) -> ParameterWish:
    words = {name: fields.get(name, "") for name in ("name", "value", "host", "group")}
    return ParameterWish(**words, skill=fields.get("skill", "stig").strip(), by=signed("the page"))


def _back(fields: Fields) -> Response:
    asked = {"skill": fields.get("skill", "stig").strip(), "host": fields.get("seen", "")}
    return RedirectResponse(f"{path_to('parameters')}?{urlencode(asked)}", status_code=303)

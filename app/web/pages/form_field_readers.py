"""The fields of a submitted form. They are read from the raw form, since FastAPI drops fields that are left empty."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated

from fastapi import Depends, Request

from app.errors import Rejected


async def _read_form_fields(request: Request) -> Mapping[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Fields = Annotated[Mapping[str, str], Depends(_read_form_fields)]


def parse_number_field(fields: Mapping[str, str], name: str, usual: float) -> float:
    words = fields.get(name, "").strip()
    try:
        found = float(words) if words else usual
    except ValueError:
        found = float("nan")
    if not isfinite(found):
        raise Rejected(name, f"{words[:40]!a} is not a number.")
    return found


def parse_whole_number_field(fields: Mapping[str, str], name: str, usual: int) -> int:
    found = parse_number_field(fields, name, usual)
    if found != int(found):
        raise Rejected(name, f"{fields[name].strip()[:40]!a} is not a whole number: enter one without a fraction.")
    return int(found)

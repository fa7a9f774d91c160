"""What a form says of an order. Read as it was sent: to FastAPI a field that is left empty was never there."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request

from app.runs.order import Order, named
from app.targets.catalog import FIXTURE


async def _fields(request: Request) -> Mapping[str, str]:
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Fields = Annotated[Mapping[str, str], Depends(_fields)]


def order_of(fields: Mapping[str, str], *, by: str, mode: str | None = None, pace: float | None = None) -> Order:
    return Order(
        host=fields.get("host", FIXTURE),
        skill=fields.get("skill", "stig").strip(),
        rules=named(fields.get("rules")),
        mode=fields.get("mode", mode),
        consent=fields.get("consent", ""),
        pace=pace,
        after_reboot=fields.get("after_reboot") == "1",
        by=by,
    )

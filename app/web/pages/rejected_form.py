"""A rejected form, shown again with the values that the person typed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import msgspec

from app.engines.endpoint_lineup import ROLES
from app.people.rights import RIGHTS
from app.runs.order import MODES
from app.store.run_list_filters_and_columns import FILTERS
from app.targets.ssh.endpoint import Way
from app.web.pages.order_form_parser import USUAL_MODE

LABELS = msgspec.toml.decode(Path(__file__).with_name("form_labels.toml").read_bytes(), type=dict[str, str]) | {
    str(role): f"Model of the {role}" for role in ROLES
}
CHOICES: dict[str, tuple[str, ...]] = {
    "mode": (USUAL_MODE, *MODES),
    "state": ("", *FILTERS["state"].choices),
    "right": RIGHTS,
    "way": get_args(Way),
}
ORDER_FIELD_NAMES = {"window": "window_minutes"}
"""Form fields that have another name in an order."""
SECRET = ("password", "secret", "key")
LONG = 80


@dataclass(frozen=True)
class RejectedField:
    name: str
    label: str
    value: str
    wrong: bool
    choices: tuple[str, ...] = ()
    secret: bool = False

    @property
    def is_long(self) -> bool:
        return "\n" in self.value or len(self.value) > LONG


@dataclass(frozen=True)
class RejectedForm:
    action: str
    fields: tuple[RejectedField, ...]
    hidden: Mapping[str, str]
    """Values that the person did not type, such as the button and the approval."""
    method: str = "post"


def build_rejected_query_form(action: str, query: Mapping[str, str], wrong_field: str) -> RejectedForm | None:
    """Return a form of a page's query string, with the field `wrong_field` marked, or None if it has no such field."""
    form = build_rejected_form_if_any_visible_field(action, query, wrong_field)
    return replace(form, method="get") if form and any(field.wrong for field in form.fields) else None


def build_rejected_form_if_any_visible_field(
    action: str, typed: Mapping[str, str], wrong_field: str
) -> RejectedForm | None:
    """Return the form to show again, with the field `wrong_field` marked, or None if it has no visible field."""
    at_fault = wrong_field.partition("[")[0]
    fields = tuple(
        RejectedField(
            name,
            label,
            "" if name in SECRET else typed[name],
            at_fault in (name, ORDER_FIELD_NAMES.get(name)),
            _list_choices_with_rejected_value(name, typed[name]),
            name in SECRET,
        )
        for name, label in LABELS.items()
        if name in typed
    )
    hidden = {name: value for name, value in typed.items() if name not in LABELS and name not in SECRET}
    return RejectedForm(action, fields, hidden) if fields else None


def _list_choices_with_rejected_value(name: str, rejected_value: str) -> tuple[str, ...]:
    known = CHOICES.get(name, ())
    return known if not known or rejected_value in known else (rejected_value, *known)

"""Create a signed delivery for a waiver that ends. It belongs to no run. Pure."""

import json

import msgspec

from app.background.webhooks.letter import Delivery, sign_body
from app.background.webhooks.template import fill_template
from app.events.record import format_timestamp
from app.store.waivers import WaiverDue


def create_waiver_expiry_delivery(due: WaiverDue, secret: str, now: float, template: str = "") -> Delivery:
    if template:
        told = {"text": due.summary, "kind": due.kind, "time": format_timestamp(due.since), "path": "/waivers"}
        body, form = fill_template(template, told)
        return sign_body(body, due.name, str(int(now)), secret, form)
    envelope = {
        "specversion": "1.0",
        "id": due.name,
        "source": f"/api/v1/waivers/{due.row.id}",
        "type": f"temper.{due.kind}",
        "time": format_timestamp(due.since),
        "datacontenttype": "application/json",
        "data": {"text": due.summary, "waiver": msgspec.to_builtins(due.row.waiver)},
    }
    return sign_body(json.dumps(envelope, separators=(",", ":")).encode(), due.name, str(int(now)), secret)

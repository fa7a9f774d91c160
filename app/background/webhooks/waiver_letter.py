"""Create a signed delivery for a waiver that ends. It belongs to no run. Pure."""

import json

import msgspec

from app.background.webhooks.letter import Letter, sealed
from app.background.webhooks.template import filled
from app.events.record import stamp
from app.store.waivers import WaiverDue


def waiver_letter(due: WaiverDue, secret: str, now: float, template: str = "") -> Letter:
    if template:
        told = {"text": due.told, "kind": due.kind, "time": stamp(due.since), "path": "/waivers"}
        body, form = filled(template, told)
        return sealed(body, due.name, str(int(now)), secret, form)
    envelope = {
        "specversion": "1.0",
        "id": due.name,
        "source": f"/api/v1/waivers/{due.row.id}",
        "type": f"temper.{due.kind}",
        "time": stamp(due.since),
        "datacontenttype": "application/json",
        "data": {"text": due.told, "waiver": msgspec.to_builtins(due.row.waiver)},
    }
    return sealed(json.dumps(envelope, separators=(",", ":")).encode(), due.name, str(int(now)), secret)

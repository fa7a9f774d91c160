"""A waiver that ends, as a signed CloudEvent: it is of no run. Pure."""

import json

import msgspec

from app.background.webhooks.letter import Letter, sealed
from app.events.record import stamp
from app.store.waivers import WaiverDue


def waiver_letter(due: WaiverDue, secret: str, now: float) -> Letter:
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

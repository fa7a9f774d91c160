"""Create a signed delivery from an event, as a CloudEvent or by the webhook's template. Pure."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

import msgspec

from app.background.webhooks.template import collect_facts, fill_template
from app.events.kinds import RolloutEvent, get_event_kind
from app.events.record import Recorded, format_timestamp
from app.store.waivers import WaiverDue

PREFIX = "whsec_"


@dataclass(frozen=True)
class Delivery:
    body: bytes
    headers: dict[str, str]


CLOUD_EVENT = "application/cloudevents+json; charset=utf-8"


def create_signed_delivery(
    recorded: Recorded, secret: str, now: float, *, simulated: bool, template: str = "", host: str = ""
) -> Delivery:
    """Create a delivery signed over id, time and body (Standard Webhooks), which prevents replays."""
    name, at = f"{recorded.run}.{recorded.seq}", str(int(now))
    place = "rollouts" if isinstance(recorded.event, RolloutEvent) else "runs"
    if template:
        body, form = fill_template(template, collect_facts(recorded, host, simulated=simulated))
        return sign_body(body, name, at, secret, form)
    envelope = {
        "specversion": "1.0",
        "id": name,
        "source": f"/api/v1/{place}/{recorded.run}",
        "type": f"temper.{get_event_kind(recorded.event)}",
        "time": format_timestamp(recorded.at),
        "datacontenttype": "application/json",
        "simulated": simulated,
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()[:-1] + b',"data":' + recorded.line + b"}"
    return sign_body(body, name, at, secret)


def sign_body(body: bytes, name: str, at: str, secret: str, form: str = CLOUD_EVENT) -> Delivery:
    return Delivery(
        body,
        {
            "content-type": form,
            "user-agent": "temper",
            "webhook-id": name,
            "webhook-timestamp": at,
            "webhook-signature": f"v1,{compute_signature(secret, name, at, body)}",
        },
    )


def compute_signature(secret: str, name: str, at: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, f"{name}.{at}.".encode() + body, hashlib.sha256)).decode()


def create_webhook_secret(random: bytes) -> str:
    return PREFIX + base64.b64encode(random).decode()


def is_valid_secret(secret: str) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return secret.startswith(PREFIX) and 16 <= len(key) <= 64


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

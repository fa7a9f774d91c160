"""Create signed deliveries, as CloudEvents or by the webhook's template. Pure."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass

import msgspec

from app.background.webhooks.template import collect_placeholder_values, fill_body_and_content_type
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
    name = f"{recorded.run}.{recorded.seq}"
    if template:
        facts = collect_placeholder_values(recorded, host, simulated=simulated)
        body, form = fill_body_and_content_type(template, facts)
    else:
        source = f"/api/v1/{'rollouts' if isinstance(recorded.event, RolloutEvent) else 'runs'}/{recorded.run}"
        kind = f"temper.{get_event_kind(recorded.event)}"
        body, form = _encode_event_and_content_type(name, source, kind, recorded.at, recorded.line, simulated=simulated)
    return _sign_body(body, name, now, secret, form)


def create_waiver_expiry_delivery(due: WaiverDue, secret: str, now: float, template: str = "") -> Delivery:
    if template:
        facts = {"text": due.summary, "kind": due.kind, "time": format_timestamp(due.since), "path": "/waivers"}
        body, form = fill_body_and_content_type(template, facts)
    else:
        data = _encode_json({"text": due.summary, "waiver": msgspec.to_builtins(due.row.waiver)})
        source = f"/api/v1/waivers/{due.row.id}"
        body, form = _encode_event_and_content_type(due.notice_key, source, f"temper.{due.kind}", due.since, data)
    return _sign_body(body, due.notice_key, now, secret, form)


def create_trial_delivery(secret: str, now: float, delivery_id: str, template: str = "") -> Delivery:
    """Create a test delivery. It is signed, so receivers can test their signature check."""
    kind, text = "temper.test", "A test of this webhook, requested by a person."
    if template:
        facts = {"text": text, "run": "none", "host": "none", "kind": kind, "path": "/ops"}
        body, form = fill_body_and_content_type(template, {**facts, "time": format_timestamp(now)})
    else:
        data = _encode_json({"text": text})
        body, form = _encode_event_and_content_type(delivery_id, "/api/v1/webhooks", kind, now, data)
    return _sign_body(body, delivery_id, now, secret, form)


def _encode_event_and_content_type(
    event_id: str, source: str, kind: str, at: float, data: bytes, **extensions: object
) -> tuple[bytes, str]:
    """Return a CloudEvent and its content type. `data` is JSON, which stays byte for byte as it is."""
    envelope = {
        "specversion": "1.0",
        "id": event_id,
        "source": source,
        "type": kind,
        "time": format_timestamp(at),
        "datacontenttype": "application/json",
        **extensions,
    }
    return _encode_json(envelope)[:-1] + b',"data":' + data + b"}", CLOUD_EVENT


def _encode_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sign_body(body: bytes, delivery_id: str, now: float, secret: str, content_type: str) -> Delivery:
    """Return a delivery signed over id, time and body (Standard Webhooks), which prevents replays."""
    at = str(int(now))
    headers = {
        "content-type": content_type,
        "user-agent": "temper",
        "webhook-id": delivery_id,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{compute_base64_signature(secret, delivery_id, at, body)}",
    }
    return Delivery(body, headers)


def compute_base64_signature(secret: str, delivery_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.digest(key, f"{delivery_id}.{timestamp}.".encode() + body, hashlib.sha256)).decode()


def create_webhook_secret(random: bytes) -> str:
    return PREFIX + base64.b64encode(random).decode()


def is_valid_secret(secret: str) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return secret.startswith(PREFIX) and 16 <= len(key) <= 64

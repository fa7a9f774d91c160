"""Send a test delivery to a webhook."""

import json

from app.background.webhooks.delivery import Delivery, sign_body
from app.background.webhooks.pinned_connection import AddressNotPublic, PinnedConnection
from app.background.webhooks.template import fill_template
from app.events.record import format_timestamp
from app.store.webhooks import WebhookRow

PATIENCE = 10.0
KIND = "temper.test"
TEXT = "A test of this webhook, requested by a person."


async def send_trial_delivery(webhook: WebhookRow, now: float, name: str) -> str:
    """Send a test delivery. Return the problem, or an empty string on success."""
    try:
        async with PinnedConnection(webhook.url, local=webhook.local, patience=PATIENCE) as line:
            return await line.post(create_trial_delivery(webhook.secret, now, name, webhook.template)) or ""
    except AddressNotPublic as exc:
        return str(exc)


def create_trial_delivery(secret: str, now: float, name: str, template: str = "") -> Delivery:
    """Create a test delivery. It is signed, so receivers can test their signature check."""
    at = str(int(now))
    if template:
        said = {
            "text": TEXT,
            "run": "none",
            "host": "none",
            "kind": KIND,
            "time": format_timestamp(now),
            "path": "/ops",
        }
        body, form = fill_template(template, said)
        return sign_body(body, name, at, secret, form)
    envelope = {
        "specversion": "1.0",
        "id": name,
        "source": "/api/v1/webhooks",
        "type": KIND,
        "time": format_timestamp(now),
        "datacontenttype": "application/json",
        "data": {"text": TEXT},
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()
    return sign_body(body, name, at, secret)

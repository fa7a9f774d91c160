"""Send a test delivery to a webhook."""

import json

from app.background.webhooks.letter import Letter, sealed
from app.background.webhooks.line import NotPublic, PinnedConnection
from app.background.webhooks.template import filled
from app.events.record import stamp
from app.store.webhooks import WebhookRow

PATIENCE = 10.0
KIND = "temper.test"
TEXT = "A test of this webhook, asked for by a person."


async def trial(webhook: WebhookRow, now: float, name: str) -> str:
    """Send a test delivery. Return the problem, or an empty string on success."""
    try:
        async with PinnedConnection(webhook.url, local=webhook.local, patience=PATIENCE) as line:
            return await line.post(trial_letter(webhook.secret, now, name, webhook.template)) or ""
    except NotPublic as exc:
        return str(exc)


def trial_letter(secret: str, now: float, name: str, template: str = "") -> Letter:
    """Create a test delivery. It is signed, so receivers can test their signature check."""
    at = str(int(now))
    if template:
        said = {"text": TEXT, "run": "none", "host": "none", "kind": KIND, "time": stamp(now), "path": "/ops"}
        body, form = filled(template, said)
        return sealed(body, name, at, secret, form)
    envelope = {
        "specversion": "1.0",
        "id": name,
        "source": "/api/v1/webhooks",
        "type": KIND,
        "time": stamp(now),
        "datacontenttype": "application/json",
        "data": {"text": TEXT},
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()
    return sealed(body, name, at, secret)

"""Validate and add webhooks, for the CLI, the API and the pages."""

import ipaddress
import secrets
from dataclasses import dataclass

from pydantic import HttpUrl, TypeAdapter, ValidationError
from sqlalchemy import Engine
from sqlmodel import Session

from app.background.webhooks.delivery_body_and_signature import create_webhook_secret, is_valid_secret
from app.background.webhooks.pinned_connection import explain_not_public
from app.background.webhooks.template import USUAL_KINDS, resolve_valid_template
from app.errors import Rejected
from app.events.kinds import ROLLOUT_KINDS, RUN_KINDS, AuditedRequest
from app.people.rights import DEMO, WHO
from app.store import audit, webhooks
from app.store.webhooks import WebhookRow
from app.text.clean import clean_text

MOST = 50
OF_NO_RUN = ("waiver.ending", "waiver.ended", *ROLLOUT_KINDS)
KINDS = (*RUN_KINDS, *OF_NO_RUN)
_URL = TypeAdapter(HttpUrl)


@dataclass(frozen=True, kw_only=True)
class WebhookSpec:
    url: str
    kinds: tuple[str, ...] = ()
    """Kinds of events. If empty: USUAL_KINDS with a template, else every kind except tokens."""
    template: str = ""
    secret: str | None = None
    """Generated if None."""
    local: bool = False


def add_webhook(database: Engine, session: Session, wish: WebhookSpec, now: float) -> WebhookRow:
    if wish.secret is not None and not is_valid_secret(wish.secret):
        raise Rejected("secret", "a secret must be whsec_ followed by 16 to 64 bytes in base64.")
    if len(webhooks.list_webhooks(session)) >= MOST:
        raise Rejected("url", f"there are {MOST} webhooks already: delete one.", "too-many")
    template = resolve_valid_template(wish.template)
    kinds = wish.kinds or (USUAL_KINDS if template else ())
    row = WebhookRow(
        id=secrets.token_hex(4),
        url=_require_valid_url(wish.url, allow_private=wish.local),
        secret=wish.secret or create_webhook_secret(secrets.token_bytes(32)),
        kinds=" ".join(_require_known_event_kind(kind, f"kinds[{place}]") for place, kind in enumerate(kinds)),
        template=template,
        created_at=now,
        local=wish.local,
    )
    if row.local:
        record_private_address_permission(database, row.id, row.url, allowed=True)
    webhooks.add_webhook(session, row)
    return row


def record_private_address_permission(database: Engine, webhook_id: str, url: str, *, allowed: bool) -> None:
    """Record in the audit log whether the webhook may use non-public addresses, before it takes effect."""
    me = WHO.get() or DEMO
    did = f"webhook {webhook_id} may{'' if allowed else ' not'} lead to addresses that are not public"
    detail = clean_text(url, 300)
    event = AuditedRequest(who=me.name, right=me.right, via=me.via, source="", did=did, status=0, detail=detail)
    audit.record_audit_event(database, event)


def _require_valid_url(url: str, *, allow_private: bool) -> str:
    """Return the address. Only one that names an address by itself is looked at: a name may lead elsewhere later."""
    try:
        checked = _URL.validate_python(url.strip())
    except ValidationError as exc:
        raise Rejected("url", "the address must start with http:// or https:// and a host name.") from exc
    if not allow_private and (why := _explain_literal_private_host((checked.host or "").strip("[]"))):
        raise Rejected("url", f'{checked.host} is {why}. If you mean that, send "local": true; an admin may.')
    return str(checked)


def _explain_literal_private_host(host: str) -> str:
    if host == "localhost" or host.endswith(".localhost"):
        return "this machine itself"
    try:
        return explain_not_public(ipaddress.ip_address(host))
    except ValueError:
        return ""


def _require_known_event_kind(kind: str, field: str) -> str:
    if kind not in KINDS:
        known = "the schema Event of /openapi.json lists the kinds"
        raise Rejected(field, f"there are no events of kind {kind[:40]!a}: {known}.")
    return kind

"""Validate and add webhooks, for the CLI, the API and the pages."""

import secrets
from dataclasses import dataclass
from typing import get_args

from pydantic import HttpUrl, TypeAdapter, ValidationError
from sqlalchemy import Engine
from sqlmodel import Session

from app.background.webhooks.letter import new_secret, valid_secret
from app.background.webhooks.template import USUAL_KINDS, checked
from app.errors import NotTaken
from app.events.kinds import PersonDid, RolloutEvent, RunEvent, kind_of
from app.people.rights import DEMO, WHO
from app.store import audit, webhooks
from app.store.webhooks import WebhookRow
from app.text.clean import clean

MOST = 50
OF_NO_RUN = ("waiver.ending", "waiver.ended", *(kind_of(event) for event in get_args(RolloutEvent)))
KINDS = (*(kind_of(event) for event in get_args(RunEvent) if event is not PersonDid), *OF_NO_RUN)
_URL = TypeAdapter(HttpUrl)


@dataclass(frozen=True, kw_only=True)
class WebhookWish:
    url: str
    kinds: tuple[str, ...] = ()
    """Kinds of events. If empty: USUAL_KINDS with a template, else every kind except tokens."""
    template: str = ""
    secret: str | None = None
    """Generated if None."""
    local: bool = False


def add_webhook(database: Engine, session: Session, wish: WebhookWish, now: float) -> WebhookRow:
    if wish.secret is not None and not valid_secret(wish.secret):
        raise NotTaken("secret", "a secret is whsec_ followed by 16 to 64 bytes in base64.")
    if len(webhooks.webhooks(session)) >= MOST:
        raise NotTaken("url", f"there are {MOST} webhooks already: delete one.", "too-many")
    template = checked(wish.template)
    kinds = wish.kinds or (USUAL_KINDS if template else ())
    row = WebhookRow(
        id=secrets.token_hex(4),
        url=_address(wish.url),
        secret=wish.secret or new_secret(secrets.token_bytes(32)),
        kinds=" ".join(_known(kind, f"kinds[{place}]") for place, kind in enumerate(kinds)),
        template=template,
        created_at=now,
        local=wish.local,
    )
    if row.local:
        on_record(database, row.id, row.url, allowed=True)
    webhooks.add(session, row)
    return row


def on_record(database: Engine, webhook: str, url: str, *, allowed: bool) -> None:
    """Record in the audit log whether the webhook may use non-public addresses, before it takes effect."""
    me = WHO.get() or DEMO
    did = f"webhook {webhook} may{'' if allowed else ' not'} lead to addresses that are not public"
    event = PersonDid(who=me.name, right=me.right, via=me.via, source="", did=did, status=0, detail=clean(url, 300))
    audit.note(database, event)


def _address(url: str) -> str:
    try:
        return str(_URL.validate_python(url.strip()))
    except ValidationError as exc:
        raise NotTaken("url", "the address is to begin with http:// or https:// and a host's name.") from exc


def _known(kind: str, field: str) -> str:
    if kind not in KINDS:
        said = f"no run's log has events of kind {kind[:40]!a}: the schema Event of /openapi.json names those it has."
        raise NotTaken(field, said)
    return kind

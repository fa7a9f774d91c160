"""Webhooks on the operator's page: forms that add, test, resend and remove them. For admins only."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from starlette.responses import RedirectResponse, Response

from app.background.webhooks.sender import send_trial_and_get_problem
from app.background.webhooks.webhook_registration import WebhookSpec, add_webhook
from app.errors import Rejected
from app.people.rights import WHO, admins
from app.runtime.runtime import Runtime
from app.store import run_queries, webhooks
from app.store.rollouts import RolloutRow
from app.store.webhooks import WebhookRow
from app.web.deps import TheRuntime, TheSession
from app.web.pages.error_pages import render_error_page
from app.web.pages.form_field_readers import Fields
from app.web.pages.templating import render_page
from app.web.url_paths import path_to

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class WebhookLine:
    row: WebhookRow
    to: str


def list_webhook_lines_if_admin(session: Session) -> Sequence[WebhookLine] | None:
    """Return the webhooks for an admin, or None for anybody else."""
    person = WHO.get()
    if person is None or person.right != "admin":
        return None
    return [WebhookLine(row, hide_url_secret(row.url)) for row in webhooks.list_webhooks(session)]


def hide_url_secret(url: str) -> str:
    """Return the URL without credentials, path and query, which can hold a secret."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}/{'…' if parts.path.strip('/') or parts.query else ''}"


@router.post("/ops/webhooks", name="ops_webhooks")
@admins
def submit_webhook(runtime: TheRuntime, session: TheSession, fields: Fields) -> Response:
    """Add a webhook and show its secret once."""
    kinds = tuple(fields.get("kinds", "").replace(",", " ").split())
    wish = WebhookSpec(
        url=fields.get("url", ""), kinds=kinds, template=fields.get("template", ""), local=fields.get("local") == "1"
    )
    row = add_webhook(runtime.database, session, wish, runtime.clock.now())
    return render_page("webhook.html", here="ops", webhook=row, to=hide_url_secret(row.url))


@router.post("/ops/webhooks/{webhook}", name="ops_webhook")
@admins
async def submit_webhook_command(
    runtime: TheRuntime,
    webhook: str,
    verb: Annotated[str, Form(pattern="^(test|again|remove)$")],
    run: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    row = await run_in_threadpool(_remove_or_resend_and_get_webhook, runtime, webhook, verb, run)
    if row is None:
        return render_error_page(f"There is no webhook {webhook[:40]!a}.", 404)
    if verb != "test":
        return RedirectResponse(f"{path_to('ops')}#webhooks", status_code=303)
    if problem := await send_trial_and_get_problem(row, runtime.clock.now(), f"test.{secrets.token_hex(8)}"):
        return render_error_page(f"The test delivery failed: {hide_url_secret(row.url)}: {problem}.", 502)
    return RedirectResponse(f"{path_to('ops')}?taken={row.id}#webhooks", status_code=303)


def _remove_or_resend_and_get_webhook(runtime: Runtime, webhook: str, verb: str, run: str) -> WebhookRow | None:
    """Remove the webhook or send again, and return its row; None if there is none. A test only needs the row."""
    with Session(runtime.database, expire_on_commit=False) as session, session.begin():
        row = session.get(WebhookRow, webhook)
        if row and verb == "remove":
            webhooks.delete_webhook(session, webhook)
        elif row and verb == "again":
            name = run.strip()
            if run_queries.find_run(session, name) is None and session.get(RolloutRow, name) is None:
                raise Rejected("run", f"there is no run or rollout {name!a}: /runs lists the runs.", "not-found")
            webhooks.request_redelivery_from_first_event(session, webhook, name)
        return row

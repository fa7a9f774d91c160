"""Webhooks: subscriptions to events."""

import secrets
from typing import Annotated

from fastapi import Path, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field, HttpUrl

from app.background.webhooks.sender import send_trial_and_get_problem
from app.background.webhooks.template import LONGEST, PLACES, resolve_valid_template
from app.background.webhooks.webhook_registration import WebhookSpec, record_private_address_permission
from app.background.webhooks.webhook_registration import add_webhook as add
from app.people.rights import admins
from app.runtime.runtime import Runtime
from app.store import webhooks
from app.store.rollouts import RolloutRow
from app.store.session_shared_within_request import open_read_session
from app.store.webhooks import WebhookRow
from app.web.api.api_model import ApiModel, Time, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import PLACEHOLDERS, declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.api.runs import require_run_row
from app.web.deps import TheRuntime, TheSession
from app.web.url_paths import path_to

router = api_router("webhooks")

Id = Annotated[str, Path(max_length=40)]
Template = Annotated[
    str,
    declare_field_with_unchecked_bounds(
        maxLength=LONGEST,
        description="Body instead of a CloudEvent: chat, mail, or your own JSON or plain text with "
        f"{', '.join(f'{{{name}}}' for name in PLACES)}. Text of hosts and models is escaped.",
        examples=["chat", '{"subject": "Temper on {host}", "body": "{text}"}'],
    ),
]


class WebhookOrder(ApiModel):
    url: HttpUrl = Field(description="An http or https URL with a public address. Redirects are not followed.")
    secret: str | None = Field(
        default=None,
        max_length=100,
        description="whsec_ followed by 16 to 64 bytes in base64. Default: Temper generates one.",
    )
    kinds: tuple[Annotated[str, Field(max_length=40)], ...] = Field(
        default=(),
        max_length=60,
        description="Kinds of events, such as waiver.ending. Default: every kind except turn.delta; with a "
        "template, the few kinds that matter to people.",
    )
    template: Template = ""
    local: bool = Field(
        default=False,
        description="True allows loopback, private, link-local and other addresses that are not public. The "
        "audit log records the admin who allowed it.",
    )


class WebhookChange(ApiModel):
    """Fields left out stay unchanged."""

    local: bool | None = Field(default=None, description="Whether addresses that are not public are allowed.")
    template: Template | None = None


class WebhookView(ApiModel):
    id: str
    url: str
    kinds: list[str]
    template: str = Field(description="Body template; empty for a CloudEvent.")
    local: bool = Field(description="True if an admin allowed addresses that are not public.")
    created_at: Time
    delivered: int
    dropped: int = Field(description="Events dropped after twelve failed deliveries.")
    problem: str = Field(description="Error of the newest delivery; empty if it succeeded.")


class WebhookTrial(ApiModel):
    taken: bool
    problem: str = Field(description="Error of the delivery; empty if it succeeded.")


class Redelivery(ApiModel):
    run: str = Field(max_length=40, description="Run or rollout whose events are sent again.")


class NewWebhook(WebhookView):
    secret: str = Field(description="The secret that signs every delivery. It is shown only once.")


class WebhookList(ApiModel):
    webhooks: list[WebhookView]


@router.get("/webhooks", responses=build_problem_responses())
@admins
def list_webhooks(session: TheSession) -> WebhookList:
    """List the webhooks."""
    return WebhookList(webhooks=[_to_webhook_view(row) for row in webhooks.list_webhooks(session)])


@router.post("/webhooks", status_code=201, responses=build_problem_responses("too-many", *BODY_PROBLEMS))
@admins
@declare_example({"url": "http://127.0.0.1:9000/hook", "local": True, "kinds": ["run.finished", "sentry.alarm"]})
def add_webhook(order: WebhookOrder, session: TheSession, runtime: TheRuntime, response: Response) -> NewWebhook:
    """Add a webhook. Each event from now on is sent as a signed CloudEvent, in order per run, at least once."""
    wish = WebhookSpec(**dict(order) | {"url": str(order.url)})
    row = add(runtime.database, session, wish, runtime.clock.now())
    response.headers["location"] = path_to("show_webhook", webhook=row.id)
    return NewWebhook.from_source(row, kinds=row.kinds.split())


@router.get("/webhooks/{webhook}", responses=build_problem_responses("not-found"))
@admins
def show_webhook(webhook: str, session: TheSession) -> WebhookView:
    """Show a webhook with its deliveries."""
    return _to_webhook_view(_require_webhook(session, webhook))


@router.patch("/webhooks/{webhook}", responses=build_problem_responses("not-found", *BODY_PROBLEMS))
@admins
@declare_example({"template": "chat"})
def change_webhook(webhook: Id, change: WebhookChange, session: TheSession, runtime: TheRuntime) -> WebhookView:
    """Change whether it may lead to non-public addresses, or its body template.

    Deliveries still pending are sent with the new settings."""
    row = _require_webhook(session, webhook)
    if change.template is not None:
        row.template = resolve_valid_template(change.template)
    if change.local is not None:
        record_private_address_permission(runtime.database, row.id, row.url, allowed=change.local)
        row.local = change.local
    session.add(row)
    return _to_webhook_view(row)


@router.delete("/webhooks/{webhook}", status_code=204, responses=build_problem_responses("not-found"))
@admins
def delete_webhook(webhook: Id, session: TheSession) -> None:
    """Delete a webhook. Pending deliveries are dropped."""
    webhooks.delete_webhook(session, _require_webhook(session, webhook).id)


@router.post("/webhooks/{webhook}/test", responses=build_problem_responses("not-found"))
@admins
async def try_webhook(webhook: Id, runtime: TheRuntime) -> WebhookTrial:
    """Send one signed test delivery of type temper.test now, and return the result."""
    row = await run_in_threadpool(_read_required_webhook_row, runtime, webhook)
    problem = await send_trial_and_get_problem(row, runtime.clock.now(), f"test.{secrets.token_hex(8)}")
    return WebhookTrial(taken=not problem, problem=problem)


@router.post(
    "/webhooks/{webhook}/again", status_code=202, responses=build_problem_responses("not-found", *BODY_PROBLEMS)
)
@admins
@declare_example({"run": PLACEHOLDERS["run"]})
def send_again(webhook: Id, order: Redelivery, session: TheSession) -> WebhookView:
    """Send all matching events of one run or rollout again, from the first, with the same ids."""
    row = _require_webhook(session, webhook)
    of = order.run if session.get(RolloutRow, order.run) else require_run_row(session, order.run).id
    webhooks.request_redelivery_from_first_event(session, row.id, of)
    return _to_webhook_view(row)


def _read_required_webhook_row(runtime: Runtime, webhook: str) -> WebhookRow:
    """Read a webhook in a short session of its own: a slow endpoint must not hold one."""
    with open_read_session(runtime.database) as session:
        return _require_webhook(session, webhook)


def _require_webhook(session: TheSession, webhook: str) -> WebhookRow:
    row = session.get(WebhookRow, webhook)
    if row is None:
        said = f"There is no webhook {webhook[:40]!a}: GET /api/v1/webhooks lists them."
        raise Problem("not-found", said, field="webhook")
    return row


def _to_webhook_view(row: WebhookRow) -> WebhookView:
    return WebhookView.from_source(row, kinds=row.kinds.split())

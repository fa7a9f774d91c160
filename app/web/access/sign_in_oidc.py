"""Sign in through an identity provider. The state to be matched travels in a cookie of the browser."""

import hashlib
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from sqlmodel import Session
from starlette.background import BackgroundTask
from starlette.responses import RedirectResponse, Response

from app.events.kinds import AuditedRequest
from app.people.credential_expiry import SESSION_SECONDS
from app.people.names import is_person_name
from app.people.rights import Right, everybody
from app.store import issued_credentials, people
from app.store.database_clock import database_time
from app.store.models import PersonRow
from app.web.access.oidc import IdentityRejected, OidcClient, OidcSignIn, VerifiedIdentity
from app.web.access.password_checker import issue_session_or_browser_credential
from app.web.access.sign_in import create_signed_in_response, render_sign_in_form, set_cookie, to_local_path
from app.web.deps import TheSession
from app.web.url_paths import path_to

ERRAND_SECONDS = 600
COOKIE = "temper-errand"

router = APIRouter(include_in_schema=False)


@router.get("/sign-in/oidc", name="sign_in_oidc")
@everybody
async def start_oidc_sign_in(request: Request, next: Annotated[str, Query(max_length=500)] = "/") -> Response:  # noqa: A002
    oidc: OidcClient | None = request.app.state.oidc
    if oidc is None:
        said = "No identity provider is configured. Sign in with a name and a password."
        return render_sign_in_form(request, next, said, 404)
    begun = OidcSignIn.create(to_local_path(next))
    try:
        to = await oidc.build_authorization_url(begun, _build_return_url(request))
    except IdentityRejected as exc:
        return render_sign_in_form(request, next, str(exc), 502)
    answer = RedirectResponse(to, status_code=303)
    carried = msgspec.json.encode(begun).hex()
    set_cookie(request, answer, COOKIE, carried, ERRAND_SECONDS, path=path_to("sign_in_oidc_back"))
    return answer


@router.get("/sign-in/oidc/back", name="sign_in_oidc_back")
@everybody
async def finish_oidc_sign_in(
    request: Request,
    session: TheSession,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=2000)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    oidc: OidcClient | None = request.app.state.oidc
    begun = _decode_sign_in_cookie(request)
    if oidc is None or begun is None or not state or state != begun.state:
        said = "This sign-in was not started in this browser, or it took too long. Start again."
        return render_sign_in_form(request, "/", said, 403)
    if error or not code:
        return render_sign_in_form(request, begun.to, f"{oidc.host_name} refused the sign-in.", 403)
    source = request.client.host if request.client else ""
    try:
        vouched = await oidc.fetch_identity(begun, code, _build_return_url(request))
        secret, did = await run_in_threadpool(_issue_session_and_right_change_event, session, oidc, vouched, source)
    except IdentityRejected as exc:
        return render_sign_in_form(request, begun.to, str(exc), 403)
    answer = create_signed_in_response(request, begun.to, secret, SESSION_SECONDS)
    answer.delete_cookie(COOKIE, path=path_to("sign_in_oidc_back"))
    if did:
        answer.background = BackgroundTask(request.app.state.ledger.record_action_or_warn, did)
    return answer


def _issue_session_and_right_change_event(
    session: Session, oidc: OidcClient, identity: VerifiedIdentity, source: str
) -> tuple[str, AuditedRequest | None]:
    """Create a session. Return its secret and, if the right changed, the audit event."""
    owner, changed = _admit_person_and_describe_change(session, oidc, identity)
    secret = issue_session_or_browser_credential(session, owner, "session", f"{oidc.host_name}, {source}", source)
    if not changed:
        return secret, None
    return secret, AuditedRequest(
        who=owner.name, right=owner.right, via="session", source=source, did=changed, status=303
    )


def _admit_person_and_describe_change(
    session: Session, oidc: OidcClient, verified_identity: VerifiedIdentity
) -> tuple[PersonRow, str]:
    """Find or create the person of an identity, and describe any change of their right.

    A name belongs to the identity that first used it: a password account or another subject is never taken over.
    Raises IdentityRejected."""
    if not is_person_name(verified_identity.name):
        raise IdentityRejected(
            f"{oidc.host_name} sent a name that is not valid in Temper: choose another --oidc-claim."
        )
    identity = hashlib.sha256(f"{oidc.provider.issuer} {verified_identity.subject}".encode()).hexdigest()
    owner, groups = people.find_person(session, verified_identity.name), oidc.provider.groups
    right = groups.find_right(verified_identity.groups) if groups else oidc.provider.right
    if owner is None and right:
        owner = PersonRow(name=verified_identity.name, right=right, identity=identity, made_at=database_time(session))
        session.add(owner)
        session.flush()
    if owner and owner.identity != identity:
        raise IdentityRejected(f"The name {verified_identity.name} belongs to another person. Ask an admin to free it.")
    if owner is None or right is None:
        if owner:
            issued_credentials.end_credentials_of(
                session, owner.name
            )  # tokens and sessions from before open nothing either
        raise IdentityRejected(
            f"No group of {verified_identity.name} gives a right in Temper. Ask the administrator of the groups."
        )
    if owner.disabled:
        raise IdentityRejected(f"{verified_identity.name} is not allowed to sign in. Ask an admin.")
    return owner, _apply_group_right(session, owner, right) if groups else ""


def _apply_group_right(session: Session, owner: PersonRow, right: Right) -> str:
    """Set the right that the groups give, which also limits existing sessions and tokens. Return a description."""
    if owner.right == right:
        return ""
    said = f"sign-in: groups give the right {right}, and it was {owner.right}"
    owner.right = right
    session.add(owner)
    return said


def _decode_sign_in_cookie(request: Request) -> OidcSignIn | None:
    try:
        return msgspec.json.decode(bytes.fromhex(request.cookies.get(COOKIE, "")), type=OidcSignIn)
    except (ValueError, msgspec.MsgspecError):
        return None


def _build_return_url(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers.get('host', '')}{path_to('sign_in_oidc_back')}"

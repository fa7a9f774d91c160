"""OpenID Connect client: authorization code flow with PKCE, ID tokens verified here."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from app.errors import BadInput, TemperError
from app.people.identity_provider_groups import GroupRights, parse_groups_or_none_if_malformed
from app.people.rights import Right

T = TypeVar("T")
PATIENCE = 10.0
LONGEST_ANSWER = 1024 * 1024
LEEWAY = 60
"""Seconds of clock skew tolerated."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric signatures only: never `none`, never a shared secret."""


class IdentityRejected(TemperError):
    """The provider's answer is invalid or refused."""


@dataclass(frozen=True)
class OidcProvider:
    """An identity provider as the operator configured it."""

    issuer: str
    client_id: str
    secret_from: str = ""
    """Environment variable or file with the client secret; empty for a public client."""
    name_claim: str = "preferred_username"
    right: Right = "viewer"
    """Right of a new person when groups decide nothing."""
    groups: GroupRights | None = None
    """If set, groups alone decide the right, at every sign-in."""
    scope: str = ""
    """Scopes besides openid, profile and email."""

    def read_secret(self) -> str:
        if not self.secret_from:
            return ""
        if found := os.environ.get(self.secret_from):
            return found
        try:
            return Path(self.secret_from).read_text(encoding="utf-8").strip()
        except OSError as exc:
            raise BadInput(f"--oidc-secret-from: {self.secret_from!r} is neither a variable nor a file.") from exc


@dataclass(frozen=True)
class OidcSignIn:
    """State of a sign-in that the browser carries to the provider and back."""

    state: str
    nonce: str
    verifier: str
    to: str

    @classmethod
    def create(cls, to: str) -> "OidcSignIn":
        return cls(secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), to)


@dataclass(frozen=True)
class VerifiedIdentity:
    subject: str
    name: str
    groups: tuple[str, ...] = ()


class _Discovery(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str


class _Tokens(msgspec.Struct):
    id_token: str


class OidcClient:
    def __init__(self, provider: OidcProvider, http: httpx.AsyncClient) -> None:
        self.provider, self._http = provider, http
        self._secret = provider.read_secret()
        self._found: _Discovery | None = None

    @property
    def host_name(self) -> str:
        return httpx.URL(self.provider.issuer).host

    async def build_authorization_url(self, begun: OidcSignIn, redirect_uri: str) -> str:
        """Return the provider's authorization URL; `redirect_uri` is the redirect URI."""
        found = await self._load_discovery()
        return str(
            prepare_grant_uri(
                found.authorization_endpoint,
                client_id=self.provider.client_id,
                response_type="code",
                redirect_uri=redirect_uri,
                scope=f"openid profile email {self.provider.scope}".strip(),
                state=begun.state,
                nonce=begun.nonce,
                code_challenge=create_s256_code_challenge(begun.verifier),
                code_challenge_method="S256",
            )
        )

    async def fetch_identity(self, begun: OidcSignIn, code: str, redirect_uri: str) -> VerifiedIdentity:
        found = await self._load_discovery()
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.provider.client_id,
            "code_verifier": begun.verifier,
        }
        if self._secret:
            asked["client_secret"] = self._secret
        answer = await self._fetch_content("POST", found.token_endpoint, data=asked)
        keys = await self._fetch_content("GET", found.jwks_uri)
        return self._verify_and_read_identity(_parse_provider_answer(answer, _Tokens).id_token, keys, begun.nonce)

    def _verify_and_read_identity(self, token: str, keys: bytes, nonce: str) -> VerifiedIdentity:
        try:
            signed = jwt.decode(token, KeySet.import_key_set(msgspec.json.decode(keys)), algorithms=list(ALGORITHMS))
            options = {
                "iss": {"essential": True, "value": self.provider.issuer},
                "aud": {"essential": True, "value": self.provider.client_id},
            }
            params = {"nonce": nonce, "client_id": self.provider.client_id}
            claims = CodeIDToken(signed.claims, signed.header, options, params)
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError, KeyError, TypeError, msgspec.MsgspecError) as exc:
            raise self._create_rejection(f"sent an invalid ID token ({type(exc).__name__}).") from exc
        name = signed.claims.get(self.provider.name_claim)
        if not isinstance(name, str) or not name:
            raise self._create_rejection(f"sent no claim {self.provider.name_claim}: choose another --oidc-claim.")
        return VerifiedIdentity(str(signed.claims["sub"]), name, self._read_groups(signed.claims))

    def _read_groups(self, claims: dict[str, Any]) -> tuple[str, ...]:
        if self.provider.groups is None:
            return ()
        found = parse_groups_or_none_if_malformed(claims, self.provider.groups.claim)
        if found is None:
            said = f"sent no list of group names as {self.provider.groups.claim}, or the list is too long."
            raise self._create_rejection(said)
        return found

    async def _load_discovery(self) -> _Discovery:
        if self._found is None:
            address = f"{self.provider.issuer.rstrip('/')}/.well-known/openid-configuration"
            found = _parse_provider_answer(await self._fetch_content("GET", address), _Discovery)
            if found.issuer != self.provider.issuer:
                raise IdentityRejected(f"{address} belongs to the issuer {found.issuer}: give that as --oidc.")
            self._found = found
        return self._found

    async def _fetch_content(self, method: str, url: str, **more: dict[str, str]) -> bytes:
        try:
            answer = await self._http.request(method, url, timeout=PATIENCE, **more)  # type: ignore[arg-type]
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            raise self._create_rejection(f"could not be reached ({type(exc).__name__}).") from exc
        if not answer.is_success:
            said = f"answered {answer.status_code}. Sign in again, or correct the client's settings there."
            raise self._create_rejection(said)
        if len(answer.content) > LONGEST_ANSWER:
            raise self._create_rejection(f"answered with {len(answer.content)} bytes; the limit is {LONGEST_ANSWER}.")
        return answer.content

    def _create_rejection(self, complaint: str) -> IdentityRejected:
        """Return the error to raise; `complaint` continues a sentence about the provider."""
        return IdentityRejected(f"{self.host_name} {complaint}")


def _parse_provider_answer(content: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=shape)
    except msgspec.MsgspecError as exc:
        raise IdentityRejected("The answer of the identity provider is not OpenID Connect.") from exc

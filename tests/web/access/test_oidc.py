"""Signing in by an identity provider, and what of it is not believed."""

import asyncio
import time

import httpx
import pytest
from fastapi import FastAPI
from joserfc.jwk import OctKey, RSAKey
from sqlmodel import Session

from app.people.identity_provider_groups import GroupRights
from app.people.passwords import hash_password
from app.store import audit, issued_credentials, people
from app.store.db import open_and_migrate_database
from app.store.models import PersonRow
from app.web.access import sign_in_oidc
from app.web.access.action_and_refusal_audit import AccessLedger, AuditSyslog
from app.web.access.authenticator import COOKIE, Authenticator
from app.web.access.oidc import OidcClient, OidcProvider
from tests.web.access.provider import CLIENT, ISSUER, IdentityProvider

HOME = "https://temper.example"


class Browser:
    """A browser's cookies and redirects between Temper and the provider."""

    def __init__(self, database, http, provider, right="viewer", **more):
        self.application = FastAPI()
        self.application.include_router(sign_in_oidc.router)
        self.application.state.reading, self.application.state.readers = database, asyncio.Semaphore(1)
        self.application.state.oidc = OidcClient(OidcProvider(ISSUER, CLIENT, right=right, **more), http)
        self.application.state.ledger = AccessLedger(database, AuditSyslog(""))
        self.provider = provider
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(self.application), base_url=HOME)

    async def goes(self, to="/runs"):
        away = await self.http.get("/sign-in/oidc", params={"next": to})
        assert away.status_code == 303, away.text
        return self.provider.visit(away.headers["location"])

    async def signs_in(self, to="/runs"):
        return await self.http.get(await self.goes(to))

    async def person(self, database):
        authenticator = Authenticator(database, demo=False)
        found = await authenticator.authenticate(httpx.Headers({"cookie": f"{COOKIE}={self.http.cookies.get(COOKIE)}"}))
        authenticator.close()
        return found


@pytest.fixture
def database(tmp_path):
    made = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield made
    made.dispose()


@pytest.fixture
def provider():
    return IdentityProvider()


@pytest.fixture
async def browser(database, provider):
    async with httpx.AsyncClient(transport=httpx.MockTransport(provider)) as http:
        made = Browser(database, http, provider)
        yield made
        await made.http.aclose()


async def test_who_is_vouched_for_comes_in_where_they_wanted_to_and_with_the_least_right(browser, database):
    answer = await browser.signs_in("/runs?x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?x=1")
    person = await browser.person(database)
    assert (person.name, person.right, person.via) == ("ada", "viewer", "session")


async def test_a_right_that_an_admin_gave_stays_and_a_disabled_person_stays_out(browser, database):
    await browser.signs_in()
    with Session(database) as session, session.begin():
        people.find_person(session, "ada").right = "operator"
    await browser.signs_in()
    assert (await browser.person(database)).right == "operator"
    with Session(database) as session, session.begin():
        people.find_person(session, "ada").disabled = True
    answer = await browser.signs_in()
    assert answer.status_code == 403
    assert "is not allowed to sign in" in answer.text


async def test_a_name_is_never_taken_over(browser, database, provider):
    with Session(database) as session, session.begin():
        session.add(PersonRow(name="ada", right="admin", password=hash_password("a" * 12), made_at=time.time()))
    assert "The name ada belongs to another person" in (await browser.signs_in()).text
    provider.claims = {"preferred_username": "bob"}
    assert (await browser.signs_in()).status_code == 303
    provider.claims = {"preferred_username": "bob", "sub": "2"}
    assert "The name bob belongs to another person" in (await browser.signs_in()).text


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({"iss": "https://elsewhere.example"}, "sent an invalid ID token (InvalidClaimError)"),
        ({"aud": "another-client"}, "sent an invalid ID token (InvalidClaimError)"),
        ({"aud": ["another-client", CLIENT], "azp": "another-client"}, "sent an invalid ID token"),
        ({"exp": 1000}, "sent an invalid ID token (ExpiredTokenError)"),
        ({"nonce": "of another sign-in"}, "sent an invalid ID token (InvalidClaimError)"),
        ({"preferred_username": ""}, "choose another --oidc-claim"),
        ({"preferred_username": "ada\nadmin"}, "choose another --oidc-claim"),
        ({"preferred_username": "a" * 65}, "choose another --oidc-claim"),
    ],
)
async def test_a_token_that_does_not_hold_lets_nobody_in(browser, database, provider, claims, sentence):
    provider.claims = claims
    answer = await browser.signs_in()
    assert answer.status_code == 403
    assert sentence in answer.text
    with Session(database) as session:
        assert people.list_people(session) == []


async def test_a_token_of_another_key_or_of_no_key_lets_nobody_in(browser, provider):
    provider.signer = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
    assert "sent an invalid ID token" in (await browser.signs_in()).text
    provider.header, provider.signer = {"alg": "HS256", "kid": "one"}, OctKey.import_key(b"x" * 32)
    assert "sent an invalid ID token" in (await browser.signs_in()).text


async def test_a_return_that_was_not_begun_in_this_browser_is_refused(browser):
    back = await browser.goes()
    cookies, browser.http.cookies = browser.http.cookies, httpx.Cookies()
    assert "was not started in this browser" in (await browser.http.get(back)).text
    browser.http.cookies = cookies
    assert "was not started in this browser" in (await browser.http.get(back.replace("state=", "state=x"))).text
    assert (await browser.http.get(back)).status_code == 303
    assert "was not started in this browser" in (await browser.http.get(back)).text, "a sign-in is begun once"


async def test_a_provider_that_is_gone_or_speaks_for_another_is_said(browser, provider):
    provider.up = False
    answer = await browser.http.get("/sign-in/oidc")
    assert (answer.status_code, "could not be reached" in answer.text) == (502, True)
    provider.up, provider.issuer = True, "https://other.example"
    assert "belongs to the issuer https://other.example" in (await browser.http.get("/sign-in/oidc")).text


async def test_nobody_is_sent_to_another_site(browser):
    for to in ("//evil.example", "https://evil.example", "/\\evil.example"):
        assert (await browser.signs_in(to)).headers["location"] == "/"


GROUPS = GroupRights("groups", (("stig-admins", "admin"), ("stig-operators", "operator"), ("everyone", "viewer")))


@pytest.fixture
async def grouped(database, provider):
    async with httpx.AsyncClient(transport=httpx.MockTransport(provider)) as http:
        made = Browser(database, http, provider, groups=GROUPS, scope="groups")
        yield made
        await made.http.aclose()


@pytest.mark.parametrize(
    ("groups", "right"),
    [
        (["everyone", "stig-operators", "chess"], "operator"),
        (["stig-admins", "everyone"], "admin"),
        (["everyone"], "viewer"),
        ("stig-operators", "operator"),
    ],
)
async def test_the_highest_right_that_a_group_gives_is_theirs(grouped, database, provider, groups, right):
    provider.claims = {"groups": groups}
    assert (await grouped.signs_in()).status_code == 303
    assert (await grouped.person(database)).right == right


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({}, "No group of ada gives a right in Temper"),
        ({"groups": []}, "No group of ada gives a right"),
        ({"groups": ["Stig-Admins", "stig-admins ", "*", "admin"]}, "No group of ada gives a right"),
        ({"groups": "chess,stig-admins"}, "No group of ada gives a right"),
        ({"groups": ["x"], "role": "stig-admins"}, "No group of ada gives a right"),
        ({"groups": [["stig-admins"]]}, "sent no list of group names"),
        ({"groups": ["everyone", {"name": "stig-admins"}]}, "sent no list of group names"),
        ({"groups": {"stig-admins": True}}, "sent no list of group names"),
        ({"groups": True}, "sent no list of group names"),
        ({"groups": ["stig-admins"] + ["x"] * 2000}, "sent no list of group names"),
        ({"groups": ["stig-admins", "x" * 257]}, "sent no list of group names"),
        ({"groups": ["x" * 200] * 6000}, "the limit is 1048576"),
    ],
)
async def test_a_claim_that_is_no_list_of_known_groups_lets_nobody_in(grouped, database, provider, claims, says):
    provider.claims = claims
    answer = await grouped.signs_in()
    assert (answer.status_code, says in answer.text) == (403, True), answer.text[-1500:]
    with Session(database) as session:
        assert people.list_people(session) == []


async def test_a_group_that_was_taken_away_is_taken_from_tokens_and_other_sessions_as_well(grouped, database, provider):
    authenticator = Authenticator(database, demo=False)
    provider.claims = {"groups": ["stig-admins"]}
    await grouped.signs_in()
    with Session(database) as session, session.begin():
        _, token = issued_credentials.issue_credential(
            session, person="ada", right="admin", kind="token", label="", seconds=3600.0
        )
    provider.claims = {"groups": ["everyone"]}
    await grouped.signs_in()
    assert authenticator.find_token_owner(token).right == "viewer"
    provider.claims = {"groups": ["chess"]}
    assert (await grouped.signs_in()).status_code == 403
    assert authenticator.find_token_owner(token) is None
    assert await grouped.person(database) is None
    provider.claims = {"groups": ["stig-operators"]}
    await grouped.signs_in()
    assert (await grouped.person(database)).right == "operator"
    authenticator.close()
    with Session(database) as session:
        did = [line.event.did for line in audit.list_audit_events(session, 9)]
    assert did == [
        "sign-in: groups give the right operator, and it was viewer",
        "sign-in: groups give the right viewer, and it was admin",
    ]


async def test_groups_do_not_take_over_a_name_either(grouped, database, provider):
    with Session(database) as session, session.begin():
        session.add(PersonRow(name="ada", right="viewer", password=hash_password("a" * 12), made_at=time.time()))
    provider.claims = {"groups": ["stig-admins"]}
    assert "The name ada belongs to another person" in (await grouped.signs_in()).text
    provider.claims = {"groups": []}
    assert "The name ada belongs to another person" in (await grouped.signs_in()).text
    with Session(database) as session:
        assert people.find_person(session, "ada").right == "viewer"


async def test_the_scope_is_asked_for(grouped):
    away = await grouped.http.get("/sign-in/oidc")
    assert "openid+profile+email+groups" in away.headers["location"] or "email%20groups" in away.headers["location"]


async def test_groups_may_lie_inside_a_claim(database, provider):
    async with httpx.AsyncClient(transport=httpx.MockTransport(provider)) as http:
        inside = Browser(database, http, provider, groups=GroupRights("realm_access.roles", (("ops", "operator"),)))
        provider.claims = {"realm_access": {"roles": ["ops"]}, "groups": ["stig-admins"]}
        await inside.signs_in()
        assert (await inside.person(database)).right == "operator"
        provider.claims = {"realm_access": ["ops"]}
        assert (await inside.signs_in()).status_code == 403
        await inside.http.aclose()

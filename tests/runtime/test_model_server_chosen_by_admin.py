"""A server that an admin names: what is asked, what is refused, and what is kept of it."""

import asyncio
import ipaddress

import httpx
import pytest

from app.errors import Rejected
from app.lineups.reader import read_lineup
from app.runtime.model_server_chosen_by_admin import (
    KEPT_SECONDS,
    LINEUP_FILE,
    LineupChange,
    OwnServer,
    ServerAddress,
    explain_forbidden,
)
from tests.engines.test_server_capabilities import Server

ADDRESS = "http://server:8080/v1"
KEY = "sk-a-key-that-nobody-may-see"
TWO = [{"id": "m-7b"}, {"id": "other-2b"}]


async def find_loopback(_host, _port):
    return [ipaddress.ip_address("127.0.0.1")]


def talk_to(answer):
    return httpx.AsyncClient(transport=httpx.MockTransport(answer))


async def test_one_model_is_seated_in_all_four_roles_and_the_key_is_in_no_file(tmp_path):
    own = OwnServer(find_loopback)
    async with talk_to(Server(models=TWO, key=KEY)) as http:
        found = await own.inspect(http, ServerAddress(f"  {ADDRESS}/ ", key=KEY))
        assert not own.requested.is_set()
        change = await own.write_and_request_lineup(http, found.id, {}, tmp_path)
    lineup = read_lineup(tmp_path / LINEUP_FILE)
    assert {seat.engine for seat in lineup.seats.values()} == {"endpoint"}
    assert lineup.engines["endpoint"].model == "m-7b"
    assert lineup.engines["endpoint"].api_key_env == "TEMPER_ENGINE_KEY"
    assert (change.key, own.requested.is_set()) == (KEY, True)
    assert KEY not in (tmp_path / LINEUP_FILE).read_text()
    assert KEY not in repr((own.change, found))


async def test_roles_are_seated_one_by_one_and_each_model_is_asked(tmp_path):
    own, server = OwnServer(find_loopback), Server(models=TWO)
    async with talk_to(server) as http:
        found = await own.inspect(http, ServerAddress(ADDRESS))
        await own.write_and_request_lineup(http, found.id, {"architect": "other-2b"}, tmp_path)
    lineup = read_lineup(tmp_path / LINEUP_FILE)
    assert {role: lineup.engines[seat.engine].model for role, seat in lineup.seats.items()} == {
        "architect": "other-2b",
        "worker": "m-7b",
        "auditor": "m-7b",
        "sentry": "m-7b",
    }
    assert {body["model"] for body in server.bodies} == {"m-7b", "other-2b"}


async def test_a_model_that_is_not_served_is_an_error_of_its_role_and_changes_nothing(tmp_path):
    own = OwnServer(find_loopback)
    async with talk_to(Server(models=TWO)) as http:
        found = await own.inspect(http, ServerAddress(ADDRESS))
        with pytest.raises(Rejected, match="does not serve 'nope'") as caught:
            await own.write_and_request_lineup(http, found.id, {"worker": "nope"}, tmp_path)
        assert caught.value.field == "worker"
        assert list(tmp_path.iterdir()) == []
        assert own.change is None
        await own.write_and_request_lineup(http, found.id, {}, tmp_path)


@pytest.mark.parametrize(
    "typed",
    [
        *("", "server:8080", "ftp://server/v1", "http://user:word@server/v1", "http://server/v1?x=1", "http:///v1"),
        *(
            "http://server:99999/v1",
            "http://[::1/v1",
            "architect=http://server/v1",
            "http://server/v1#m",
            "file:///etc",
        ),
    ],
)
async def test_what_is_no_address_is_refused_before_anything_is_asked(typed):
    def answer(_request):
        raise AssertionError("nothing may be asked")

    async with talk_to(answer) as http:
        with pytest.raises(Rejected, match="is not an address") as caught:
            await OwnServer(find_loopback).inspect(http, ServerAddress(typed))
    assert caught.value.field == "address"


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        *((one, True) for one in ("127.0.0.1", "::1", "10.1.2.3", "192.168.1.9", "fd12::7", "93.184.216.34")),
        *((one, False) for one in ("169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "2002:a9fe:a9fe::1")),
        *((one, False) for one in ("64:ff9b::a9fe:a9fe", "64:ff9b::100.100.100.200", "::a9fe:a9fe")),
        *((one, False) for one in ("64:ff9b:1::a9fe:a9fe", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:ffff::1")),
        *((one, True) for one in ("64:ff9b::5db8:d822", "64:ff9c::a9fe:a9fe", "64:ff9b:2::1")),
        *((one, False) for one in ("100.100.100.200", "168.63.129.16", "fd00:ec2::254", "0.0.0.0", "::", "224.0.0.1")),
    ],
)
async def test_private_networks_are_allowed_and_the_places_of_a_clouds_secrets_are_not(address, allowed):
    assert (explain_forbidden(ipaddress.ip_address(address)) == "") is allowed
    asked = []

    async def find_both(_host, _port):
        return [ipaddress.ip_address("127.0.0.1"), ipaddress.ip_address(address)]

    async with talk_to(lambda request: asked.append(request) or httpx.Response(500)) as http:
        with pytest.raises(Rejected):
            await OwnServer(find_both).inspect(http, ServerAddress(ADDRESS))
    assert bool(asked) is allowed


async def test_a_redirect_is_not_followed():
    def send_away(request):
        assert request.url.host == "server"
        return httpx.Response(307, headers={"location": "http://169.254.169.254/latest"})

    async with talk_to(send_away) as http:
        with pytest.raises(Rejected):
            await OwnServer(find_loopback).inspect(http, ServerAddress(ADDRESS))


async def test_a_wrong_key_and_garbage_and_an_unknown_name_each_have_their_field_and_keep_no_key():
    own = OwnServer(find_loopback)
    async with talk_to(Server(key=KEY)) as http:
        with pytest.raises(Rejected, match="key") as wrong:
            await own.inspect(http, ServerAddress(ADDRESS, key="another-key"))
    assert (wrong.value.field, "another-key" in str(wrong.value)) == ("key", False)
    async with talk_to(lambda _: httpx.Response(200, text="<html>\x1b[31m")) as http:
        with pytest.raises(Rejected, match="not a list of models") as garbage:
            await own.inspect(http, ServerAddress(ADDRESS))
    assert garbage.value.field == "address"

    async def find_nothing(_host, _port):
        raise OSError("no such name")

    async with talk_to(Server()) as http:
        with pytest.raises(Rejected, match="not known here"):
            await OwnServer(find_nothing).inspect(http, ServerAddress(ADDRESS))
        with pytest.raises(Rejected, match="printable ASCII") as odd:
            await own.inspect(http, ServerAddress(ADDRESS, key="a\nb"))
    assert odd.value.field == "key"


async def test_one_server_is_asked_at_a_time_and_a_lost_question_makes_room():
    own, begun = OwnServer(find_loopback), asyncio.Event()

    async def never_answer(_request):
        begun.set()
        await asyncio.get_running_loop().create_future()

    async with talk_to(never_answer) as http:
        first = asyncio.create_task(own.inspect(http, ServerAddress(ADDRESS)))
        await begun.wait()
        with pytest.raises(Rejected, match="already") as busy:
            await own.inspect(http, ServerAddress(ADDRESS))
        assert busy.value.kind == "busy"
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
    async with talk_to(Server()) as http:
        assert (await own.inspect(http, ServerAddress(ADDRESS))).report.model == "m-7b"


async def test_an_inspection_is_forgotten_with_its_key_after_a_while(tmp_path):
    now = [0.0]
    own = OwnServer(find_loopback, lambda: now[0])
    async with talk_to(Server()) as http:
        found = await own.inspect(http, ServerAddress(ADDRESS))
        now[0] = KEPT_SECONDS + 1
        with pytest.raises(Rejected, match="ask again"):
            await own.write_and_request_lineup(http, found.id, {}, tmp_path)


async def test_a_server_is_given_up_once(tmp_path):
    own = OwnServer(find_loopback)
    (tmp_path / LINEUP_FILE).write_text("")
    assert (await own.delete_lineup_and_request_original(tmp_path)).path == ""
    assert own.requested.is_set()
    with pytest.raises(Rejected, match="nothing to stop using"):
        await own.delete_lineup_and_request_original(tmp_path)


async def test_of_admins_who_give_a_server_up_at_the_same_time_one_does(tmp_path):
    own = OwnServer(find_loopback)
    (tmp_path / LINEUP_FILE).write_text("")
    both = [own.delete_lineup_and_request_original(tmp_path) for _ in range(2)]
    told = await asyncio.gather(*both, return_exceptions=True)
    assert {type(one) for one in told} == {LineupChange, Rejected}


async def test_a_name_is_looked_up_anew_before_each_model_is_asked(tmp_path):
    leads_to = ["127.0.0.1"]

    async def find_current(_host, _port):
        return [ipaddress.ip_address(leads_to[-1])]

    own, server = OwnServer(find_current), Server(models=TWO)
    async with talk_to(server) as http:
        found = await own.inspect(http, ServerAddress(ADDRESS))
        leads_to.append("169.254.169.254")
        with pytest.raises(Rejected, match=r"leads to 169\.254\.169\.254"):
            await own.write_and_request_lineup(http, found.id, {"architect": "other-2b"}, tmp_path)
    assert {body["model"] for body in server.bodies} == {"m-7b"}
    assert own.change is None

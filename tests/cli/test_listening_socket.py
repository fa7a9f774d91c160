"""What is listened with: whose word on where somebody came from is believed, and how much may be open."""

import asyncio
import resource

import httpx
import pytest
from sqlmodel import Session

from app.cli.listening_socket import bind_listening_socket, create_server, parse_trusted_proxies, raise_file_limit
from app.config import Settings
from app.errors import BadInput
from app.store import audit
from app.store.db import open_and_migrate_database
from tests.forkserver import temper
from tests.served import served


@pytest.mark.parametrize(
    ("words", "source"),
    [((), "127.0.0.1"), (("--proxy", "127.0.0.1"), "198.51.100.9"), (("--proxy", "192.0.2.0/24"), "127.0.0.1")],
)
def test_what_is_forwarded_is_believed_of_a_proxy_that_was_named_and_of_nobody_else(tmp_path, words, source):
    data = tmp_path / "data"
    made = temper("admin", "create", "ada", "--data", data, input="a long enough password\n")
    assert made.returncode == 0, made.stderr
    with served(data, "--sign-in", "--speed", "0", *words) as server:
        refused = httpx.get(f"{server.url}/audit", headers={"x-forwarded-for": "198.51.100.9"})
        assert refused.status_code == 401
    database = open_and_migrate_database(data / "temper.sqlite")
    with Session(database) as session:
        [line] = audit.list_audit_events(session, 1)
    database.dispose()
    assert line.event.source == source


def test_what_is_no_address_of_a_proxy_is_said():
    with pytest.raises(BadInput, match="--proxy requires an address or a network"):
        parse_trusted_proxies(["proxy.example"])
    assert [str(one) for one in parse_trusted_proxies(["192.0.2.1", "2001:db8::/32"])] == [
        "192.0.2.1/32",
        "2001:db8::/32",
    ]


def test_the_soft_limit_of_open_files_is_raised():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        assert raise_file_limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_server_that_is_told_to_end_ends_and_its_answers_have_the_time(tmp_path):
    async def nothing(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    ended, settings = [], Settings(data=tmp_path, host="127.0.0.1", port=0)
    with bind_listening_socket(settings) as listener:
        server = create_server(nothing, settings, lambda: ended.append(True))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        assert answer.headers["date"].endswith(" GMT")
        server.request_exit()
        await serving
    assert ended

"""A webhook's connection goes to the address that was looked at, under the name that it was given."""

import asyncio
import datetime as dt
import ipaddress
import ssl
from contextlib import aclosing, asynccontextmanager

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.background.webhooks.delivery_body_and_signature import Delivery
from app.background.webhooks.pinned_connection import (
    AddressNotPublic,
    PinnedConnection,
    explain_not_public,
    get_first_if_all_allowed,
    resolve_host,
)

PUBLIC = ("8.8.8.8", "93.184.215.14", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::808:808", "::ffff:8.8.8.8")
INSIDE = (
    "127.0.0.1",
    "127.9.9.9",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2001:0:53aa:64c::1",
    "fe80::1",
    "fc00::1",
    "fd00:ec2::254",
    "fec0::1",
    "ff02::1",
    "2001:db8::1",
)
LETTER = Delivery(b"{}", {"content-type": "application/json"})
HERE = [ipaddress.ip_address("127.0.0.1")]
PATIENCE = 30.0
MOVED = b"HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:%d/\r\ncontent-length: 0\r\n\r\n"
NOWHERE = [ipaddress.ip_address("192.0.2.1")]


class Names:
    """A name server that says something else each time it is asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    async def __call__(self, host, port):
        self.asked.append((host, port))
        return self.answers.pop(0)


@asynccontextmanager
async def answering(answer=b"HTTP/1.1 204 No Content\r\n\r\n", tls=None):
    heads, serving = [], {}

    async def serve(reader, writer):
        serving[asyncio.current_task()] = writer
        try:
            while True:
                heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
                await reader.readexactly(len(LETTER.body))
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1], heads
        for writer in serving.values():
            writer.close()
        await asyncio.gather(*serving)


async def test_a_name_is_asked_for_once_and_stays_in_the_request():
    async with answering() as (port, heads):
        names = Names(HERE, NOWHERE)
        async with aclosing(
            PinnedConnection(f"http://hook.example:{port}/in?a=1", local=True, patience=PATIENCE, names=names)
        ) as line:
            assert await line.post(LETTER) == await line.post(LETTER) == ""
    assert names.asked == [("hook.example", port)]
    assert [head.splitlines()[0] for head in heads] == ["POST /in?a=1 HTTP/1.1"] * 2
    assert all(f"\r\nhost: hook.example:{port}\r\n" in head.lower() for head in heads)


async def test_a_name_that_leads_elsewhere_the_next_time_is_looked_at_the_next_time():
    """Rebinding: each round asks anew, and looks at what it is told."""
    async with answering() as (port, heads):
        names, url = Names(NOWHERE, HERE), f"http://hook.example:{port}/"
        for _ in range(2):
            with pytest.raises(AddressNotPublic):
                async with aclosing(PinnedConnection(url, local=False, patience=PATIENCE, names=names)) as line:
                    await line.post(LETTER)
    assert heads == []


async def test_a_redirect_is_not_followed():
    async with answering() as (inner, told), answering(MOVED % inner) as (port, heads):
        async with aclosing(PinnedConnection(f"http://127.0.0.1:{port}/", local=True, patience=PATIENCE)) as line:
            assert await line.post(LETTER) == "it answered 307"
        assert (len(heads), told) == (1, [])


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch):
    async with answering() as (port, heads), answering() as (proxy, asked):
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy}")
        monkeypatch.delenv("no_proxy", raising=False)
        async with aclosing(
            PinnedConnection(f"http://hook.example:{port}/", local=True, patience=PATIENCE, names=Names(HERE))
        ) as line:
            assert await line.post(LETTER) == ""
    assert (len(heads), asked) == (1, [])


async def test_over_tls_the_name_is_asked_for_and_the_certificate_has_to_be_its(tmp_path):
    named = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path, "other.example"))
    context.sni_callback = lambda _, name, __: named.append(name)
    async with (
        answering(tls=context) as (port, heads),
        aclosing(
            PinnedConnection(f"https://hook.example:{port}/", local=True, patience=PATIENCE, names=Names(HERE))
        ) as line,
    ):
        assert "certificate" in (await line.post(LETTER)).lower()
        assert (named, heads) == (["hook.example"], [])


async def test_a_name_that_leads_nowhere_is_a_sentence():
    async def nobody(*_):
        raise OSError("no such name")

    async with aclosing(PinnedConnection("http://hook.example/", local=False, patience=PATIENCE, names=nobody)) as line:
        assert await line.post(LETTER) == "it is unreachable: no such name"


def certificate(folder, name):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.mark.parametrize("address", INSIDE)
def test_a_place_that_is_not_public(address):
    assert explain_not_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_place(address):
    assert explain_not_public(ipaddress.ip_address(address)) == ""


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost", "0", "::1"]
)
async def test_odd_spellings_lead_where_they_lead(host):
    found = await resolve_host(host, 80)
    with pytest.raises(AddressNotPublic, match=r"nothing is sent there unless an admin allows it"):
        get_first_if_all_allowed(host, found, allow_private=False)
    assert get_first_if_all_allowed(host, found, allow_private=True) == found[0]


def test_of_several_all_have_to_be_public():
    found = [ipaddress.ip_address(one) for one in ("8.8.8.8", "10.0.0.1")]
    with pytest.raises(AddressNotPublic, match=r"leads to 10\.0\.0\.1, which is a private network"):
        get_first_if_all_allowed("hook.example", found, allow_private=False)
    assert str(get_first_if_all_allowed("hook.example", found[:1], allow_private=False)) == "8.8.8.8"

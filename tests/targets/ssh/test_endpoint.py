"""A password of the environment is for one host: its name, account, address, port and key."""

import asyncio
import threading

import asyncssh
import pytest

from app.errors import BadInput, EnvironmentUnusable, TemperError
from app.targets.ssh.connection_opening import open_ssh_connection
from app.targets.ssh.endpoint import Endpoint, check_environment_password_host, load_key_pairs, parse_endpoint
from app.targets.ssh.shell_script import ShellCommand
from app.targets.ssh.tunnel_through_remote_script import Tunnel

KEY, OTHER = "SHA256:one", "SHA256:other"


def web(place="root@web1.example:22", at="TEMPER_SSH_WEB1"):
    return parse_endpoint(place, "password", at)


@pytest.mark.parametrize(("key", "watched"), [("~nosuchuser/key", ()), ("/k", ["ana=~nosuchuser/key"])])
def test_a_key_in_the_home_of_nobody_is_bad_input(key, watched):
    with pytest.raises(BadInput, match=r"'~nosuchuser/key' begins with the home of an unknown user: write an"):
        parse_endpoint("root@web1.example", "key", key, watched)


@pytest.fixture
def bound(monkeypatch):
    return lambda text: monkeypatch.setenv("TEMPER_SSH_WEB1_FOR", text)


def test_it_goes_to_the_host_that_it_names(bound):
    for text in (f"root@web1.example {KEY}", f"root@WEB1.example:22 {OTHER} {KEY}"):
        bound(text)
        check_environment_password_host(web(), [KEY], must_name_host=True)
        check_environment_password_host(web(), [KEY], must_name_host=False)


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        ("root@web2.example", [KEY]),
        ("root@web1.example:2222", [KEY]),
        ("deploy@web1.example", [KEY]),
        ("root@192.0.2.7", [KEY]),
        ("root@web1.example.evil.example", [KEY]),
        ("root@web1.example", [OTHER]),
        ("root@web1.example", [KEY, OTHER]),
    ],
)
def test_it_goes_to_no_other(bound, place, keys):
    bound(f"root@web1.example {KEY}")
    for said, error in ((True, BadInput), (False, EnvironmentUnusable)):
        with pytest.raises(error, match=r"was given for another host.*Nothing was sent"):
            check_environment_password_host(web(place), keys, must_name_host=said)


def test_over_the_network_nobody_says_what_a_variable_is_for(bound):
    with pytest.raises(BadInput, match=r"set TEMPER_SSH_WEB1_FOR='root@web1.example:22 SHA256:one', or add the host"):
        check_environment_password_host(web(), [KEY], must_name_host=True)
    check_environment_password_host(
        web(), [KEY], must_name_host=False
    )  # added at the terminal, by who holds the environment
    bound("root@web1.example")
    with pytest.raises(BadInput, match="does not say which host it is for"):
        check_environment_password_host(web(), [KEY], must_name_host=True)
    bound("nonsense")
    with pytest.raises(TemperError):
        check_environment_password_host(web(), [KEY], must_name_host=False)


def test_a_file_and_a_key_are_no_business_of_it(bound):
    bound("root@elsewhere")
    check_environment_password_host(web(at="/etc/temper/web1"), [KEY], must_name_host=True)
    check_environment_password_host(parse_endpoint("root@web1.example", "key", "/k"), [KEY], must_name_host=True)


class Listening(asyncssh.SSHServer):
    def __init__(self, heard):
        self._heard = heard

    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        self._heard.append(password)
        return False


def test_a_key_is_read_once_until_another_lies_there(tmp_path, monkeypatch):
    at, read, usual = tmp_path / "key", [], asyncssh.load_keypairs
    monkeypatch.setattr(asyncssh, "load_keypairs", lambda paths: read.extend(paths) or usual(paths))
    end = Endpoint(user="temper", address="web", way="key", secret_at=str(at))
    with pytest.raises(EnvironmentUnusable, match="cannot be read"):
        load_key_pairs(end)
    read.clear()
    offered = []
    for _ in range(2):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(at)
        (one,), (other,) = load_key_pairs(end), load_key_pairs(end)
        offered.append(one.public_data)
        assert one.public_data == other.public_data == key.public_data
        assert one is not other, "each connection agrees on a signature of its own"
    assert len(set(offered)) == len(read) == 2


@pytest.fixture
def strange(tmp_path):
    """Somebody else's server: where it is, its known_hosts, its key, and the passwords that it was told."""
    heard, ready, ended, found = [], threading.Event(), None, {}
    key = asyncssh.generate_private_key("ssh-ed25519")

    async def listen():
        nonlocal ended
        ended = asyncio.Event()
        server = await asyncssh.listen("127.0.0.1", 0, server_factory=lambda: Listening(heard), server_host_keys=[key])
        found.update(port=server.get_port(), loop=asyncio.get_running_loop())
        ready.set()
        await ended.wait()
        server.close()
        await server.wait_closed()

    thread = threading.Thread(target=asyncio.run, args=(listen(),))
    thread.start()
    assert ready.wait(30)
    known = tmp_path / "known_hosts"
    known.write_text(f"[127.0.0.1]:{found['port']} {key.export_public_key().decode()}")
    yield f"root@127.0.0.1:{found['port']}", known, key.get_fingerprint(), heard
    found["loop"].call_soon_threadsafe(ended.set)
    thread.join(30)


async def test_a_stranger_is_not_told_the_password_of_another(strange, bound, monkeypatch):
    place, known, fingerprint, heard = strange
    monkeypatch.setenv("TEMPER_SSH_WEB1", "hunter2")
    for text in (f"root@web1.example {fingerprint}", f"{place} {KEY}"):
        bound(text)
        with pytest.raises(EnvironmentUnusable, match="was given for another host"):
            await open_ssh_connection(web(place), known)
    assert heard == []
    bound(f"{place} {fingerprint}")
    with pytest.raises(EnvironmentUnusable, match="refuses the login of root"):
        await open_ssh_connection(web(place), known)
    assert set(heard) == {"hunter2"}


async def test_no_tunnel_is_opened_for_a_login_without_credentials(tmp_path, monkeypatch):
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    opened = []

    async def outer():
        opened.append("tunnel")
        raise OSError

    tunnel = Tunnel(outer, ShellCommand("", b"", b""))
    with pytest.raises(EnvironmentUnusable, match="no agent answers"):
        await open_ssh_connection(parse_endpoint("root@web1.example", "agent", ""), tmp_path / "known_hosts", tunnel)
    assert opened == []

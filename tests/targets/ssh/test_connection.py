"""Who is let in, what is said when nobody is, and that what runs over there ends over there."""

import hashlib
import time
from pathlib import Path

import asyncssh
import msgspec
import pytest

from app.errors import ConnectionLost, EnvironmentUnusable
from app.targets.file_and_account_baseline import Baseline
from app.targets.path_walk import spell_out_undecodable_name_bytes
from app.targets.ssh import file_fetch
from app.targets.ssh.connection import SshConnection
from app.targets.ssh.file_digest_baseline import take_host_baseline
from app.targets.ssh.registration import (
    fetch_host_key_and_fingerprint,
    find_rollback_obstacle_at_login,
    read_identity_from_known_hosts,
)

TALK = "\x1b]0;owned\x07 uid=0(root) temper-0000\n0\nall is well\n"


@pytest.fixture
def line(host, tmp_path):
    """Lines by other ways in."""
    known, lines = tmp_path / "known_hosts", []

    def one(known_host=None, **changed):
        known.write_text(host.known_host if known_host is None else known_host)
        lines.append(SshConnection(host.endpoint(**changed), known))
        return lines[-1]

    yield one
    for each in lines:
        each.close()


def test_another_host_key_is_never_talked_to(host, line):
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    for known in (f"[127.0.0.1]:{host.port} {other}", ""):
        with pytest.raises(EnvironmentUnusable, match="shows a different host key"):
            line(known).log_in()


def test_who_is_not_let_in_is_told_why(host, line, tmp_path):
    with pytest.raises(EnvironmentUnusable, match="refuses the login of nobody-here with its key"):
        line(user="nobody-here").log_in()
    strange = tmp_path / "strange"
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(strange)
    with pytest.raises(EnvironmentUnusable, match="refuses the login"):
        line(secret_at=str(strange)).log_in()
    with pytest.raises(EnvironmentUnusable, match="cannot be read"):
        line(secret_at=str(tmp_path / "none")).log_in()
    with pytest.raises(EnvironmentUnusable, match="NO_SUCH_VARIABLE, which holds the password, is not set"):
        line(way="password", secret_at="NO_SUCH_VARIABLE").log_in()
    host.cut(listener=True)
    with pytest.raises(ConnectionLost, match="does not answer"):
        line().log_in()


def test_an_account_without_sudo_is_a_sentence(host, line):
    host.enters(uid=1000, sudo=False)
    with pytest.raises(
        EnvironmentUnusable, match=r"may not use sudo without a password .*a password is required.*allow it there"
    ):
        line().become_root()


def test_an_account_with_sudo_works_as_root(host, line):
    host.enters(uid=1000)
    assert line().run_text("id -u").text == "0\n"


def test_a_time_limit_ends_what_runs_over_there(host, line):
    talking = line()
    with pytest.raises(EnvironmentUnusable, match=r"did not finish within 0\.5 s"):
        talking.run_text("sh -c 'echo $$ >/var/pid; exec sleep 600' & sleep 600", seconds=0.5)
    pid = int((host.root / "var/pid").read_text())
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline
    assert talking.run_text("echo again").text == "again\n"


def test_what_a_login_prints_is_not_taken_for_an_answer(host, line):
    host.talks(TALK)
    talking = line()
    assert (talking.run_text("echo one; echo two >&2; exit 5").out, talking.run_text("exit 5").code) == (b"one\n", 5)
    heard = []
    talking.run_text(
        "printf 'a\\033[31mb\\nc\\n'; printf '%s\\n' \"$1\"", "x; touch /var/x '\"$(id)\n", on_line=heard.append
    )
    assert heard == ["ab", "c", "x; touch /var/x '\"$(id)", ""]
    assert not (host.root / "var/x").exists()


def test_one_connection_is_used_again_and_opened_again(host, line):
    talking = line()
    assert [talking.run_text("echo $PPID >/dev/null; echo 1").text for _ in range(3)] == ["1\n"] * 3
    log = host.folder / "sshd.log"
    assert log.read_text().count("Accepted publickey") == 1
    host.cut()
    for _ in range(2):
        try:
            assert talking.run_text("echo 2").text == "2\n"
        except ConnectionLost:
            continue
    assert talking.run_text("echo 2").text == "2\n"
    assert log.read_text().count("Accepted publickey") == 2


async def test_a_host_is_introduced_by_its_key_and_checked_before_it_is_known(host, tmp_path):
    known = await fetch_host_key_and_fingerprint(host.endpoint())
    assert known.fingerprint == host.host_key.get_fingerprint()
    assert known.fingerprint.startswith("SHA256:")
    file = tmp_path / "theirs"
    file.write_text(host.known_host)
    assert read_identity_from_known_hosts(host.endpoint(), file) == known
    assert find_rollback_obstacle_at_login(host.endpoint(), known) == ""
    host.enters(small="--size 65536 --tmpfs /var/lib")
    assert "no room to write in /var/lib/temper/journal" in find_rollback_obstacle_at_login(host.endpoint(), known)
    host.enters(small="--ro-bind /etc /etc")
    with pytest.raises(EnvironmentUnusable, match=r"Temper cannot change .*/etc, or it is read-only"):
        find_rollback_obstacle_at_login(host.endpoint(), known)
    assert not (host.root / "etc/.temper-trial").exists()
    assert list((host.root / "var/lib/temper/journal").iterdir()) == []


def test_odd_names_are_kept_as_text(host, line):
    odd = ["new\nline", "\x1b[31mred", "-rf", "a b", "\udcff\udcfe", "$(id)", ".hidden"]
    folder = host.root / "etc/sudoers.d"
    for name in odd:
        (folder / name).write_text("x")
    (folder / "out").symlink_to("../passwd")
    found = file_fetch.fetch_patterns(line())
    assert all(f"/etc/sudoers.d/{spell_out_undecodable_name_bytes(name)}" in found.entries for name in odd)
    assert found.read("/etc/sudoers.d/out") == found.read("/etc/passwd") is not None
    assert found.find_first_link("/etc/sudoers.d/out") == "/etc/sudoers.d/out"
    assert not [path for path in found.entries if path.endswith("_key")]


def test_what_stands_on_a_host_is_listed_by_digest_whatever_it_is_called(host, line):
    odd = ["new\nline", "caf\udce9", "-rf", "a\tb  c"]
    for name in odd:
        (host.root / "etc" / name).write_text("x")
    (host.root / "etc/here").symlink_to("new\nline")
    with (host.root / "etc/passwd").open("ab") as passwd:
        passwd.write(b"ren\xe9:x:1009:1009::/:/bin/sh\n")
    baseline = take_host_baseline(line(), file_fetch.fetch_patterns(line()))
    found = baseline.entries
    names = {"/etc/new\nline", "/etc/" + spell_out_undecodable_name_bytes("caf\udce9"), "/etc/-rf", "/etc/a\tb  c"}
    assert {found[name].digest for name in names} == {hashlib.sha256(b"x").hexdigest()}
    assert (found["/etc/here"].kind, found["/etc/ssh"].kind) == ("link", "folder")
    assert found["/etc/shadow"].mode == 0
    assert found["/etc/ssh/ssh_host_ed25519_key"].digest
    assert msgspec.json.decode(msgspec.json.encode(baseline), type=Baseline) == baseline
    assert baseline.accounts[spell_out_undecodable_name_bytes("ren\udce9")] == 1009

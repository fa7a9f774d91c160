"""A time stamp by a real authority, openssl's, on loopback; and what is made of others."""

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from app.errors import BadInput, EnvironmentUnusable
from app.evidence import time_stamping
from app.evidence.notary import Requester, open_notary
from app.evidence.pack import build_pack
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.time_stamping import check_and_describe_stamp, find_or_request_stamp
from app.evidence.verify import (
    STAMP,
    BrokenPack,
    check_pack_and_get_manifest,
    list_proof_explanations,
    read_stamp_time,
    unpack_zip_packed_by_temper,
)
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.evidence.logs import plain_log
from tests.evidence.played import KEY
from tests.evidence.test_verify import listed_anew

CONFIG = """
[tsa]
dir = .
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""
WORDS = {"V-257984": "pass"}


def openssl(folder, *words, feed=None):
    done = subprocess.run(["openssl", *words], cwd=folder, input=feed, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Its folder, with what it signs by."""
    folder = tmp_path_factory.mktemp("authority")
    (folder / "tsa.cnf").write_text(CONFIG)
    (folder / "serial").write_text("01\n")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=A test's authority"]
    usage = ["-addext", "extendedKeyUsage=critical,timeStamping", "-keyout", "key.pem", "-out", "ca.pem"]
    openssl(folder, *made, *usage)
    return folder


@pytest.fixture(scope="module")
def address(authority):
    """openssl answers each query; `answer` stands in for it where it is set."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = self.rfile.read(int(self.headers["content-length"]))
            (authority / "query").write_bytes(asked)
            server.asked += 1
            said = ["-inkey", "key.pem", "-signer", "ca.pem", "-config", "tsa.cnf", "-section", "tsa"]
            body = server.answer or openssl(authority, "ts", "-reply", "-queryfile", "query", *said)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answer = 0, b""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def token(address, tmp_path_factory):
    manifest = b"what is stamped"
    return find_or_request_stamp(tmp_path_factory.mktemp("stamps"), address[0], manifest), manifest


def test_openssl_checks_it_against_its_authority(authority, token, tmp_path):
    content, manifest = token
    (tmp_path / "manifest.json").write_bytes(manifest)
    (tmp_path / STAMP).write_bytes(content)
    words = ["ts", "-verify", "-data", "manifest.json", "-in", STAMP, "-CAfile", str(authority / "ca.pem")]
    assert b"Verification: OK" in openssl(tmp_path, *words)
    told = openssl(tmp_path, "ts", "-reply", "-in", STAMP, "-text").decode()
    assert read_stamp_time(content, manifest)[11:19] in told


@pytest.mark.parametrize(("status", "granted"), [(b"\x01", True), (b"\x02", False)])
def test_a_stamp_whose_authority_says_no_is_none(token, status, granted):
    content, manifest = token
    answer = content.replace(b"\x30\x03\x02\x01\x00", b"\x30\x03\x02\x01" + status, 1)
    if granted:
        assert read_stamp_time(answer, manifest) == read_stamp_time(content, manifest)
    else:
        with pytest.raises(ValueError, match="was not granted"):
            read_stamp_time(answer, manifest)


def test_it_is_asked_for_once_and_kept(address, tmp_path):
    url, server = address
    before = server.asked
    first = find_or_request_stamp(tmp_path, url, b"a")
    assert find_or_request_stamp(tmp_path, url, b"a") == find_or_request_stamp(tmp_path, "", b"a") == first
    assert server.asked == before + 1
    assert find_or_request_stamp(tmp_path, "", b"b") is None


def test_what_is_no_stamp_of_this_is_a_sentence_and_is_not_kept(address, token, tmp_path):
    url, server = address
    for answer in (b"<html>", token[0], token[0][:-100], b"\x30\x00"):
        server.answer = answer
        with pytest.raises(EnvironmentUnusable, match="returned no valid time stamp for this pack"):
            find_or_request_stamp(tmp_path, url, b"something else")
    server.answer = b""
    with pytest.raises(EnvironmentUnusable, match="returned no time stamp"):
        find_or_request_stamp(tmp_path, "http://127.0.0.1:9/", b"x")
    assert [*tmp_path.iterdir()] == []


def test_a_pack_is_handed_out_with_it_and_holds(address, tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    log = plain_log(WORDS, WORDS)
    EventStore(database).append(log)
    notary = open_notary(tmp_path, database, address[0])
    files = unpack_zip_packed_by_temper(notary.issue_evidence(log[0].run, Requester("ada", "operator", "token")))
    database.dispose()
    manifest = check_pack_and_get_manifest(files, key=notary.key.public)
    assert describe_difference_from_rebuild(files) == ""
    assert "an authority says that it saw this manifest at 2" in "\n".join(list_proof_explanations(files, manifest))


def test_where_the_authority_is_away_the_pack_goes_out_without_and_says_so(tmp_path, caplog):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    log = plain_log(WORDS, WORDS)
    EventStore(database).append(log)
    files = unpack_zip_packed_by_temper(
        open_notary(tmp_path, database, "http://127.0.0.1:9/").issue_evidence(log[0].run, Requester("ada", "", ""))
    )
    database.dispose()
    assert STAMP not in files
    assert "without a time stamp: http://127.0.0.1:9/ returned no time stamp" in caplog.text
    assert list_proof_explanations(files, check_pack_and_get_manifest(files))[-1].startswith("no time stamp")


def test_a_stamp_of_another_pack_is_found(token):
    files = unpack_zip_packed_by_temper(build_pack(plain_log(WORDS, WORDS), KEY))
    assert "no time stamp" in list_proof_explanations(files, check_pack_and_get_manifest(files))[-1]
    with pytest.raises(BrokenPack, match="of something else"):
        check_pack_and_get_manifest(listed_anew({**files, STAMP: token[0]}))
    with pytest.raises(BrokenPack):
        check_pack_and_get_manifest(listed_anew({**files, STAMP: b"\x30\x80\x00"}))


def test_an_openssl_that_says_nothing_of_a_verification_vouches_for_no_stamp(authority, token, tmp_path, monkeypatch):
    (content, manifest), mute = token, tmp_path / "openssl"
    mute.write_text("#!/bin/sh\nexit 0\n")
    mute.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(BrokenPack, match=r"not signed by an authority of ca\.pem"):
        check_and_describe_stamp({"manifest.json": manifest, STAMP: content}, authority / "ca.pem")


def test_an_openssl_that_does_not_end_is_a_sentence(authority, token, tmp_path, monkeypatch):
    (content, manifest), endless = token, tmp_path / "openssl"
    endless.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    endless.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(time_stamping, "CHECK_PATIENCE", 0.01)
    with pytest.raises(EnvironmentUnusable, match="openssl did not end"):
        check_and_describe_stamp({"manifest.json": manifest, STAMP: content}, authority / "ca.pem")


def test_openssl_is_asked_whose_stamp_it_is(authority, address, tmp_path):
    manifest = b"a manifest"
    files = {"manifest.json": manifest, STAMP: find_or_request_stamp(tmp_path / "stamps", address[0], manifest)}
    assert "is signed by an authority of ca.pem" in check_and_describe_stamp(files, authority / "ca.pem")
    other = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=A test's authority"]
    openssl(tmp_path, *other, "-addext", "extendedKeyUsage=critical,timeStamping", "-keyout", "k.pem", "-out", "o.pem")
    with pytest.raises(BrokenPack, match=r"not signed by an authority of o\.pem"):
        check_and_describe_stamp(files, tmp_path / "o.pem")
    broken = bytearray(files[STAMP])
    broken[-10] ^= 1  # of the signature, which the reading of its time does not look at
    with pytest.raises(BrokenPack, match="not signed by"):
        check_and_describe_stamp({**files, STAMP: bytes(broken)}, authority / "ca.pem")
    with pytest.raises(BrokenPack, match="has no time stamp"):
        check_and_describe_stamp({"manifest.json": manifest}, authority / "ca.pem")
    with pytest.raises(BadInput, match="there is no file"):
        check_and_describe_stamp(files, tmp_path / "none.pem")


def test_without_openssl_an_authority_cannot_be_checked_and_that_is_said(authority, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInput, match="--ca needs openssl, which is not installed"):
        check_and_describe_stamp({STAMP: b""}, authority / "ca.pem")

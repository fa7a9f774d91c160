"""The in-toto statement in its DSSE envelope, put together and checked here by the two specifications alone."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.evidence.pack import build_pack, build_signed_envelope
from app.evidence.verify import (
    ATTESTED,
    BrokenPack,
    check_pack_and_get_manifest,
    compute_sha256,
    unpack_zip_packed_by_temper,
)
from tests.evidence.played import KEY
from tests.evidence.test_verify import FORGERS
from tests.evidence.waived import OTHER, RULE, waived_log


@pytest.fixture(scope="module")
def files():
    return unpack_zip_packed_by_temper(build_pack(waived_log(), KEY))


def payload(files):
    return base64.b64decode(json.loads(files[ATTESTED])["payload"])


def test_the_envelope_is_dsses_and_signed_over_type_and_content(files):
    envelope = json.loads(files[ATTESTED])
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    (signature,) = envelope["signatures"]
    body = payload(files)
    signed = b"DSSEv1 28 application/vnd.in-toto+json " + str(len(body)).encode() + b" " + body
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(KEY.public))
    public.verify(base64.b64decode(signature["sig"]), signed)


def test_the_statement_is_in_totos_and_its_subject_is_the_manifest(files):
    said = json.loads(payload(files))
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["subject"] == [{"name": "manifest.json", "digest": {"sha256": compute_sha256(files["manifest.json"])}}]
    assert {one["group"]: (one["before"], one["after"], one["waived"]) for one in said["predicate"]["rules"]} == {
        RULE: ("fail", "fail", True),
        OTHER: ("fail", "fail", False),
    }
    assert said["predicate"]["lineup"]["seats"][0]["vllm"] == "0.19.0"


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b'"after": "fail"', b'"after": "pass"'),
        (b'"waived": true', b'"waived": false'),
        (b'"host": "web-1"', b'"host": "web-2"'),
        (b'"model": "m"', b'"model": "n"'),
        (b'"name": "manifest.json"', b'"name": "another.json"'),
    ],
)
def test_one_that_says_something_else_is_found_also_when_the_maker_signed_it(files, was, becomes):
    said = payload(files)
    assert was in said
    with pytest.raises(BrokenPack, match="states something else than the pack"):
        check_pack_and_get_manifest({**files, ATTESTED: build_signed_envelope(said.replace(was, becomes, 1), KEY)})


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"payload": "!", "signatures": []}', None])
def test_one_of_another_key_or_shape_or_none_is_found(files, content):
    without = {name: one for name, one in files.items() if name != ATTESTED}
    with pytest.raises(BrokenPack):
        check_pack_and_get_manifest(without if content is None else {**files, ATTESTED: content})
    with pytest.raises(BrokenPack, match="not signed by the key"):
        check_pack_and_get_manifest({**files, ATTESTED: build_signed_envelope(payload(files), FORGERS)})

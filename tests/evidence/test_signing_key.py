"""The key that evidence is signed with, and a check of signatures that needs nothing but the standard library."""

import errno
import os
import random
import stat
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.signing_key import create_key_if_missing, derive_key, find_key, is_valid_signature, read_public_key
from app.evidence.verify import ORDER, verify_ed25519

# RFC 8032, section 7.1: seed, public key, message, signature
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
]


@pytest.mark.parametrize(("seed", "public", "message", "signature"), VECTORS)
def test_the_vectors_of_the_standard(seed, public, message, signature):
    key = derive_key(bytes.fromhex(seed))
    assert (key.public, key.sign(bytes.fromhex(message))) == (public, signature)
    assert verify_ed25519(bytes.fromhex(public), bytes.fromhex(signature), bytes.fromhex(message))


def test_what_a_library_signs_holds_and_with_any_bit_turned_it_does_not():
    dice = random.Random(8032)
    for _ in range(20):
        private = Ed25519PrivateKey.from_private_bytes(dice.randbytes(32))
        public, message = private.public_key().public_bytes_raw(), dice.randbytes(dice.randrange(200))
        signature = private.sign(message)
        assert verify_ed25519(public, signature, message)
        at, bit = dice.randrange(64), 1 << dice.randrange(8)
        assert not verify_ed25519(public, signature[:at] + bytes([signature[at] ^ bit]) + signature[at + 1 :], message)
        assert not verify_ed25519(public, signature, message + b"x")
        other = Ed25519PrivateKey.from_private_bytes(dice.randbytes(32)).public_key().public_bytes_raw()
        assert not verify_ed25519(other, signature, message)


def test_a_signature_has_one_spelling_and_a_key_one_length():
    key = derive_key(bytes(32))
    signature = bytes.fromhex(key.sign(b"m"))
    larger = (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")
    assert not verify_ed25519(bytes.fromhex(key.public), signature[:32] + larger, b"m")
    assert not verify_ed25519(b"\xff" * 32, signature, b"m")
    assert not verify_ed25519(b"", signature, b"m")
    assert not verify_ed25519(bytes.fromhex(key.public), signature[:63], b"m")


def test_it_is_made_once_and_nobody_else_reads_it(tmp_path):
    made = create_key_if_missing(tmp_path / "keys")
    assert create_key_if_missing(tmp_path / "keys").public == made.public == find_key(tmp_path / "keys").public
    assert [stat.S_IMODE(at.stat().st_mode) for at in (tmp_path / "keys", tmp_path / "keys/signing.key")] == [
        0o700,
        0o600,
    ]
    assert [at.name for at in (tmp_path / "keys").iterdir()] == ["signing.key"]
    assert made.sign(b"m") == find_key(tmp_path / "keys").sign(b"m")
    assert (tmp_path / "keys/signing.key").read_text().strip() not in repr(made)


def test_where_no_folder_for_it_can_be_made_that_is_a_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentUnusable, match=r"cannot create a key in .*: Not a directory"):
        create_key_if_missing(tmp_path / "file" / "keys")


def test_on_a_file_system_without_links_that_is_a_sentence_and_nothing_stays(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(EnvironmentUnusable, match=r"cannot create a key in .*: Operation not permitted"):
        create_key_if_missing(tmp_path / "keys")
    assert [*(tmp_path / "keys").iterdir()] == []


def test_of_many_that_make_it_at_once_one_does(tmp_path):
    said = "print(create_key_if_missing(Path(sys.argv[1])).public)"
    made = f"import sys\nfrom pathlib import Path\nfrom app.evidence.signing_key import create_key_if_missing\n{said}"
    starting = [
        subprocess.Popen([sys.executable, "-c", made, tmp_path / "keys"], stdout=subprocess.PIPE) for _ in range(4)
    ]
    [public] = {child.communicate()[0] for child in starting}
    assert len(public.strip()) == 64


def test_what_is_no_key_is_said_to_be_none(tmp_path):
    (tmp_path / "signing.key").write_text("nonsense")
    with pytest.raises(EnvironmentUnusable, match="is not a Temper key"):
        find_key(tmp_path)
    public = derive_key(bytes(32)).public
    (tmp_path / "noted").write_text(f"{public.upper()}\n")
    assert read_public_key(public) == read_public_key(str(tmp_path / "noted")) == public
    with pytest.raises(BadInput, match="64 hexadecimal digits"):
        read_public_key("abc")
    with pytest.raises(BadInput, match="cannot be read: File name too long"):
        read_public_key("a" * 300)


@pytest.mark.parametrize(
    ("public", "signature"), [("no hex", "00" * 64), ("00" * 32, "no hex"), ("", ""), ("00" * 32, "00" * 64)]
)
def test_what_is_no_key_or_no_signature_signs_nothing(public, signature):
    assert not is_valid_signature(public, signature, b"m")


def test_a_file_that_is_named_like_a_key_is_not_read_in_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    key = "a" * 64
    (tmp_path / key).write_text("b" * 64)
    assert read_public_key(key) == key

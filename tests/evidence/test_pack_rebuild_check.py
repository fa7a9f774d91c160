"""Papers by another hand, with the manifest mended: the events make others."""

import json

import pytest

from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.verify import NEXT_KEY, BrokenPack, check_pack_and_get_manifest, unpack_zip_packed_by_temper
from tests.evidence.played import KEY
from tests.evidence.test_verify import FORGERS, listed_anew, signed_anew


@pytest.fixture(scope="session")
def files(archive):
    return unpack_zip_packed_by_temper(archive)


def test_a_pack_of_ours_comes_out_the_same(files):
    assert describe_difference_from_rebuild(files) == ""


@pytest.mark.parametrize("name", ["report.html", "results.arf.xml", "lineup.json", "README.txt", "verify.py"])
def test_what_the_script_cannot_tell_is_made_again_and_differs(files, name):
    changed = listed_anew({**files, name: files[name] + b" "})
    check_pack_and_get_manifest(changed, key=FORGERS.public)
    with pytest.raises(BrokenPack, match=f"{name} is not what this Temper makes"):
        describe_difference_from_rebuild(changed)


def test_a_manifest_that_lists_more_than_we_do_is_told(files):
    manifest = {**json.loads(files["manifest.json"]), "signed": "by nobody"}
    with pytest.raises(BrokenPack, match=r"manifest.json is not what this Temper makes"):
        describe_difference_from_rebuild({**files, "manifest.json": json.dumps(manifest).encode()})


def test_a_change_of_the_key_that_signed_all_along_is_not_what_temper_writes(files):
    vouched = KEY.sign(NEXT_KEY + bytes.fromhex(KEY.public))
    changes = {"key_changes": [{"key": KEY.public, "signature": vouched}]}
    manifest = {}
    for name, value in json.loads(files["manifest.json"]).items():
        manifest |= {name: value} | (changes if name == "key" else {})
    changed = signed_anew(files, manifest, KEY)
    check_pack_and_get_manifest(changed, key=KEY.public)
    with pytest.raises(BrokenPack, match=r"manifest.json is not what this Temper makes"):
        describe_difference_from_rebuild(changed)


def test_a_pack_of_another_temper_is_said_to_be_one(files):
    changed = listed_anew(files, made_by="temper 7")
    assert describe_difference_from_rebuild(changed).startswith(
        "its papers are what this Temper makes, too: 'temper 7' wrote it, and this is "
    )
    other = listed_anew({**files, "report.html": files["report.html"] + b" "}, made_by="temper 7")
    assert describe_difference_from_rebuild(other).startswith(
        "report.html is not what this Temper makes of these events: 'temper 7' wrote it"
    )

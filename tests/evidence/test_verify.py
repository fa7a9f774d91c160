"""One flipped byte anywhere in a pack is found and named; and so is a pack that was put together anew."""

import ast
import base64
import io
import json
import random
import re
import zipfile
from pathlib import Path

import pytest

from app.errors import EnvironmentUnusable
from app.events.kinds import ItemEscalated, ItemStarted
from app.evidence import verify
from app.evidence.pack import build_pack, build_signed_envelope
from app.evidence.signing_key import derive_key
from app.evidence.verify import (
    BrokenPack,
    build_zip_chunks_with_part_names,
    check_pack_and_get_manifest,
    compute_sha256,
    unpack_zip_packed_by_temper,
)
from tests.evidence.logs import plain_log
from tests.evidence.played import KEY

SAMPLED = 4000
FORGERS = derive_key(bytes(32))
SMALL = {"V-257984": "pass"}


def found(data):
    """What is said of a pack that does not hold."""
    with pytest.raises(BrokenPack) as caught:
        check_pack_and_get_manifest(unpack_zip_packed_by_temper(data))
    return str(caught.value)


def flipped(data, at, bit):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def zipped(files):
    return b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(dict(sorted(files.items()))))


def listed_anew(files, key=FORGERS, **said):
    """As somebody would who knows the manifest, mends it, and signs it with a key of his own."""
    manifest = {**json.loads(files["manifest.json"]), "key": key.public, **said}
    names = sorted(set(files) - verify.UNLISTED_FILES)
    manifest["files"] = [{"name": n, "size": len(files[n]), "sha256": compute_sha256(files[n])} for n in names]
    return signed_anew(files, manifest, key)


def signed_anew(files, manifest, key):
    mended = json.dumps(manifest, indent=1).encode() + b"\n"
    signature = f"{key.sign(verify.SEALED + mended)}\n".encode()
    return {**files, "manifest.json": mended, "manifest.sig": signature, **stated_anew(files, mended, key)}


def stated_anew(files, manifest, key):
    """The in-toto statement, of this manifest and by this key."""
    if verify.ATTESTED not in files:
        return {}
    said = json.loads(base64.b64decode(json.loads(files[verify.ATTESTED])["payload"]))
    said["subject"][0]["digest"]["sha256"] = compute_sha256(manifest)
    named = json.loads(manifest)
    said["predicate"] |= {field: named[field] for field in ("run", "host", "chain_head", "simulated", "made_by")}
    return {verify.ATTESTED: build_signed_envelope(json.dumps(said, ensure_ascii=True).encode(), key)}


@pytest.fixture(scope="session")
def files(archive):
    return unpack_zip_packed_by_temper(archive)


@pytest.fixture(scope="session")
def small():
    return build_pack(plain_log(SMALL, SMALL), KEY)


def test_a_whole_pack_holds(archive):
    assert check_pack_and_get_manifest(unpack_zip_packed_by_temper(archive))["run"]


def test_every_byte_of_every_header_and_of_the_directory(small):
    """Header, name, directory and end: all that is not content, at every byte and every bit."""
    at = 0
    for index, (_, chunk) in enumerate(build_zip_chunks_with_part_names(unpack_zip_packed_by_temper(small))):
        is_content = index < 2 * len(unpack_zip_packed_by_temper(small)) and index % 2
        if not is_content:
            for place in range(at, at + len(chunk)):
                for bit in range(8) if place % 7 == 0 else (place % 8,):
                    assert found(flipped(small, place, bit))
        at += len(chunk)
    assert at == len(small)


def test_sampled_bytes_of_a_real_pack_name_the_file_that_holds_them(archive):
    dice = random.Random(7)
    places, at = [], 0
    for index, (what, chunk) in enumerate(build_zip_chunks_with_part_names(unpack_zip_packed_by_temper(archive))):
        places.append((at, at + len(chunk), what, index))
        at += len(chunk)
    contents = 2 * len(unpack_zip_packed_by_temper(archive))
    for _ in range(SAMPLED):
        start, end, what, index = dice.choice(places)
        if start == end:
            continue
        place = dice.randrange(start, end)
        said = found(flipped(archive, place, dice.randrange(8)))
        if index < contents and index % 2:
            assert said.startswith(f"{what} is not as it was packed"), said


def test_every_region_of_a_real_pack_at_first_and_last_byte(archive):
    at = 0
    for _, chunk in build_zip_chunks_with_part_names(unpack_zip_packed_by_temper(archive)):
        for place in {at, at + len(chunk) - 1} if chunk else ():
            assert found(flipped(archive, place, 0))
        at += len(chunk)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda data: data + b"\0", "1 bytes follow the end"),
        (lambda data: data + data, "bytes follow the end"),
        (lambda data: b"#!/bin/sh\n" + data, "after nothing, byte 0"),
        (lambda data: data[:-1], "the end of the archive is not as it was packed"),
        (lambda data: data[: len(data) // 2], "begins neither a file nor its directory|is not as it was packed"),
        (lambda data: data[:-10] + b"comment!!!", "the end of the archive"),
        (lambda _: b"", "after nothing, byte 0"),
        (lambda data: data[:29], "after nothing, byte 0"),
        (lambda data: data[:30], "a file with the name '', which no pack has"),
        (lambda _: b"PK\5\6" + bytes(18), "after nothing, byte 0"),
    ],
)
def test_what_is_before_behind_or_cut_off(small, changed, said):
    assert re.search(said, found(changed(small)))


def test_a_name_twice(small):
    files = unpack_zip_packed_by_temper(small)
    first = build_zip_chunks_with_part_names(files)[0][1] + files["README.txt"]
    assert found(first + small) == "the archive has README.txt twice"


def test_a_name_that_would_leave_the_folder(small):
    for name in (b"../EADME.tx", b"/EADME.txtx"):
        hostile = small.replace(b"README.txt", name[:10])
        assert "which no pack has" in found(hostile)


def test_files_in_another_order(small):
    files = unpack_zip_packed_by_temper(small)
    backwards = dict(reversed(files.items()))
    assert "is not where it was packed" in found(
        b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(backwards))
    )


def test_what_another_zip_writer_makes_of_the_same_files(small):
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in unpack_zip_packed_by_temper(small).items():
            archive.writestr(name, content)
    assert "byte" in found(other.getvalue())


def test_a_file_changed_and_zipped_anew_is_named(files):
    for name in sorted(set(files) - verify.UNLISTED_FILES):
        said = found(zipped({**files, name: files[name] + b" "}))
        assert said.startswith(f"{name} is not what the manifest says"), said


def test_a_file_added_or_taken_away_is_named(files):
    assert "extra.txt is in the pack alone" in found(zipped({**files, "extra.txt": b""}))
    for name in sorted(set(files) - verify.UNLISTED_FILES):
        less = {one: content for one, content in files.items() if one != name}
        assert f"{name} is in the manifest alone" in found(zipped(less))
    assert "manifest.json" in found(zipped({name: files[name] for name in files if name != "manifest.json"}))


CHECKED = re.compile(r"events|chain|actions|approvals|verdicts|turns/|diffs/|checklist|poam|rules")


def test_with_the_manifest_mended_the_events_still_tell(files):
    """All that the script can hold against the events; the rest `temper verify` makes again."""
    for name in filter(CHECKED.match, files):
        changed = listed_anew({**files, name: files[name].replace(b"9", b"8").replace(b"pass", b"fail") + b"x"})
        assert found(zipped(changed)), name


@pytest.mark.parametrize("field", ["run", "host", "events", "chain_head", "as_of"])
def test_a_manifest_that_says_something_else_than_the_events_is_named(files, field):
    assert "event" in found(zipped(listed_anew(files, **{field: "other"})))


@pytest.mark.parametrize("name", sorted(verify.OSCAL))
def test_one_oscal_paper_without_the_other_is_named(files, name):
    kept = {file: content for file, content in files.items() if file != name}
    with pytest.raises(BrokenPack, match="one without the other"):
        check_pack_and_get_manifest(listed_anew(kept, KEY))
    older = {file: content for file, content in files.items() if file not in verify.OSCAL}
    check_pack_and_get_manifest(listed_anew(older, KEY))


def test_an_event_changed_added_or_dropped_is_named(files):
    lines, hashes = files["events.jsonl"].splitlines(True), files["chain.txt"].splitlines(True)
    changed = [*lines[:4], lines[4].replace(b"fail", b"pass"), *lines[5:]]
    assert "event 5 is not what was recorded" in found(
        zipped(listed_anew({**files, "events.jsonl": b"".join(changed)}))
    )
    less = {**files, "events.jsonl": b"".join(lines[:-1]), "chain.txt": b"".join(hashes[:-1])}
    assert "the manifest says" in found(zipped(listed_anew(less)))
    fewer = {**files, "events.jsonl": b"".join(lines[:-1])}
    assert "events and" in found(zipped(listed_anew(fewer)))


def test_a_log_written_anew_from_end_to_end_is_told_by_a_head_from_elsewhere(files, log):
    assert check_pack_and_get_manifest(files, log[-1].hash)
    with pytest.raises(BrokenPack, match="this is another log"):
        check_pack_and_get_manifest(files, "0" * 64)


def test_a_status_that_the_closing_scan_did_not_give_is_named(files):
    for name, was, becomes in (
        ("checklist.cklb", b'"status": "open"', b'"status": "not_a_finding"'),
        ("checklist.ckl", b"<STATUS>Open<", b"<STATUS>NotAFinding<"),
        ("poam.json", b'"rule": "V-258106"', b'"rule": "V-257984"'),
        ("poam.csv", b"V-258106,RHEL", b"V-257984,RHEL"),
    ):
        assert was in files[name]
        changed = listed_anew({**files, name: files[name].replace(was, becomes, 1)})
        assert name in found(zipped(changed))


def test_xml_that_declares_entities_is_not_read(files):
    bomb = files["checklist.ckl"].replace(b"<CHECKLIST>", b'<!DOCTYPE a [<!ENTITY b "c">]><CHECKLIST>', 1)
    assert "declares what Temper never does" in found(zipped(listed_anew({**files, "checklist.ckl": bomb})))


@pytest.mark.parametrize("name", ["manifest.json", "rules.json", "checklist.cklb", "poam.json"])
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"7", b"[" * 100_000, b'{"files": [{}]}', b"\xff"])
def test_what_is_no_shape_of_ours_is_a_sentence_too(files, name, content):
    changed = {**files, name: content}
    assert found(zipped(changed if name == "manifest.json" else listed_anew(changed)))


def test_no_annotation_that_an_old_python_evaluates_has_a_union():
    """Python 3.9 has no X | None; in quotes it does not evaluate it."""
    functions = [
        one for one in ast.walk(ast.parse(Path(verify.__file__).read_text())) if isinstance(one, ast.FunctionDef)
    ]
    arguments = [one for function in functions for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    notes = [*(one.returns for one in functions), *(one.annotation for one in arguments)]
    assert len(notes) > len(functions) > 50
    assert [ast.unparse(note) for note in notes if note and any(isinstance(n, ast.BitOr) for n in ast.walk(note))] == []


def test_it_takes_nothing_but_an_old_python():
    source = Path(verify.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else
            [node.module] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    checking = {
        "base64",
        "collections",
        "csv",
        "hashlib",
        "html",
        "io",
        "json",
        "pathlib",
        "re",
        "struct",
        "typing",
        "xml",
        "zlib",
    }
    assert imported == checking | {"sys"}


@pytest.mark.parametrize(("do", "broken"), [("run_vendor_script", True), ("set_option", False)])
def test_a_vendors_script_that_nobody_approved_breaks_the_pack_in_any_mode(do, broken):
    told = [
        {"kind": "run.queued", "host": "h", "mode": "auto"},
        {"kind": "attempt.started"},
        {"kind": "action.proposed", "actions": [{"do": do}]},
        {"kind": "action.allowed"},
        {"kind": "action.applying", "rule": "A", "journal": "j"},
    ]
    events = [("", {"seq": seq, **event}) for seq, event in enumerate(told, 1)]
    if broken:
        with pytest.raises(BrokenPack, match="without the approval"):
            verify._check_change_approvals({"rules.json": b"[]"}, events)
    else:
        verify._check_change_approvals({"rules.json": b"[]"}, events)


def test_a_cell_that_a_spreadsheet_would_run_says_the_same_in_the_table_and_in_json():
    files = unpack_zip_packed_by_temper(
        build_pack(plain_log({"V-257984": "fail"}, {"V-257984": "fail"}, host="=1+1"), KEY)
    )
    assert b",'=1+1," in files["poam.csv"]
    assert check_pack_and_get_manifest(files)["host"] == "=1+1"


def test_a_rule_that_was_taken_for_another_category_is_named_where_the_run_has_no_digest_of_its_rules():
    begun = ItemStarted(rule="V-257984", title="", category="III"), ItemEscalated(rule="V-257984", reason="r")
    log = plain_log({"V-257984": "fail"}, {"V-257984": "fail"}, begun)
    with pytest.raises(EnvironmentUnusable, match=r"rules\.json gives V-257984 another category"):
        build_pack(log, KEY)


@pytest.mark.parametrize(
    ("actual", "expected", "odd"), [([1, 2], [1, 3], "2"), ([1], [1, 4], "4"), ([1, 2], [2, 1], "the order")]
)
def test_what_differs_is_named(actual, expected, odd):
    with pytest.raises(BrokenPack, match=f"x does not say what the run and its rules say: see {odd}"):
        verify._check_same("x", actual, expected)

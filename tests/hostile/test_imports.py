"""Files of anybody's: whatever they would grow into, fetch or crash, the end is one plain sentence."""

import hashlib
import io
import json
import struct
import zipfile

import pytest

from app.errors import BadInput
from app.evidence.build_id import compute_build_id
from app.evidence.incoming.open_rules_of_foreign_assessment import read_starting_point
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.verify import (
    BrokenPack,
    build_zip_chunks_with_part_names,
    check_pack_and_get_manifest,
    open_pack,
    unpack_zip_packed_by_temper,
)
from app.scanners.openscap.arf import read_arf
from app.scanners.openscap.benchmark import read_benchmark
from app.skills.catalog import load_skill

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
QUADRATIC = f'<!ENTITY a "{"x" * 50_000}">'
DOCTYPES = {
    "billion laughs": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><r>&l11;</r>',
    "laughs in an attribute": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><r a="&l11;"/>',
    "laughs as a default": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}<!ATTLIST r a CDATA "&l11;">]><r/>',
    "quadratic": f"<!DOCTYPE r [{QUADRATIC}]><r>{'&a;' * 50_000}</r>",
    "a file": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    "an address": '<!DOCTYPE r [<!ENTITY x SYSTEM "http://127.0.0.1:1/x">]><r>&x;</r>',
    "a parameter": '<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/passwd">%x;]><r/>',
    "a DTD elsewhere": '<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd"><r/>',
    "round in circles": '<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]><r>&a;</r>',
}
SHAPES = {
    "deep": "<a>" * 100_000,
    "deep and closed": "<a>" * 100_000 + "</a>" * 100_000,
    "many attributes": "<a " + " ".join(f"b{n}='1'" for n in range(50_000)) + "/>",
    "an attribute twice": '<a b="1" b="2"/>',
    "many namespaces": "<a " + " ".join(f"xmlns:n{n}='u{n}'" for n in range(5_000)) + "/>",
    "an encoding nobody knows": '<?xml version="1.0" encoding="x-nobody"?><a/>',
    "an encoding that shifts": '<?xml version="1.0" encoding="utf-7"?><a/>',
    "an encoding that is none": '<?xml version="1.0" encoding="rot13"?><a/>',
    "two roots": "<a/><a/>",
    "nothing": "",
    "a null": "<a>\x00</a>",
    "a long name": f"<{'a' * 100_000}/>",
    "include": '<x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>',
    "a style sheet": '<?xml-stylesheet href="file:///etc/passwd"?><a/>',
}
JSONS = {
    "deep lists": '{"stigs":' + "[" * 500_000,
    "deep objects": '{"stigs":' + '{"stigs":' * 200_000,
    "a number without an end": '{"stigs": ' + "9" * 1_000_000 + "}",
    "an exponent": '{"stigs": 1e999999999}',
    "keys twice": '{"stigs": 1, "stigs": []}',
    "many rules": '{"stigs": [{"rules": [' + ", ".join(['{"status": "open"}'] * 300_000) + "]}]}",
    "large": '{"stigs": [], "x": "' + "a" * (33 << 20) + '"}',
    "a half of a pair": '{"stigs": [{"rules": [{"status": "\\ud800"}]}]}',
    "not a number": '{"stigs": NaN}',
    "no text": '{"stigs": "\x00"}',
}


def one_sentence(error):
    said = str(error.value)
    assert 0 < len(said) < 800
    assert said.isprintable()
    return said


XMLS = DOCTYPES | SHAPES
FILES = [*(("results.xml", text) for text in XMLS.values()), *(("checklist.cklb", text) for text in JSONS.values())]


@pytest.mark.parametrize(("name", "text"), FILES, ids=[*XMLS, *JSONS])
def test_a_run_does_not_start_from_such_a_file(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(BadInput) as error:
        read_starting_point(file, load_skill("stig"))
    one_sentence(error)


def test_a_run_does_not_start_from_an_archive(tmp_path):
    file = tmp_path / "x.cklb"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("0", bytes(1 << 24))
    with pytest.raises(BadInput, match="unpack it"):
        read_starting_point(file, load_skill("stig"))


@pytest.mark.parametrize("text", [*DOCTYPES.values(), *SHAPES.values()], ids=[*DOCTYPES, *SHAPES])
def test_no_such_xml_becomes_a_data_stream_or_a_result(tmp_path, text):
    file = tmp_path / "x-ds.xml"
    file.write_text(text)
    for read in (lambda: read_benchmark(file), lambda: read_arf(text.encode())):
        with pytest.raises(BadInput) as error:
            read()
        one_sentence(error)


def benchmark(*inside):
    return f'<Benchmark id="b"><title>T</title>{"".join(inside)}</Benchmark>'


def rules_of_p0(file):
    found = read_benchmark(file)
    return found.list_profile_rules(found.resolve_profile_id("p0"))


@pytest.mark.parametrize(
    "content",
    [
        benchmark(*(f'<Profile id="p{n}" extends="p{n + 1}"/>' for n in range(5000))),
        benchmark('<Profile id="a&#10;b"/>'),
        benchmark('<Profile id="p0"/>', '<Rule id="r&#10;## Plan"/>'),
        benchmark('<Profile id="p0"/>', '<Rule id="--remediate"/>'),
        benchmark('<Profile id="p0"/>', '<Rule id="&#x202e;r"/>'),
        benchmark('<Profile id="p0"/>', f'<Rule id="{"r" * 5000}"/>'),
    ],
    ids=["a chain of profiles", "a profile of two lines", "a rule of two lines", "an option", "backwards", "long"],
)
def test_content_with_names_that_are_none_is_not_read(tmp_path, content):
    file = tmp_path / "x-ds.xml"
    file.write_text(content)
    with pytest.raises(BadInput) as error:
        rules_of_p0(file)
    one_sentence(error)


def test_profiles_that_extend_each_other_come_to_an_end(tmp_path):
    file = tmp_path / "x-ds.xml"
    file.write_text(benchmark('<Profile id="a" extends="b"/>', '<Profile id="b" extends="a"/>', '<Rule id="r"/>'))
    assert [rule.id for rule in read_benchmark(file).list_profile_rules("a")] == ["r"]


def zipped(*files, **how):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **how) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def local(name, size, content=b""):
    return struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, size, size, len(name), 0) + name + content


DEFLATED = {"compression": zipfile.ZIP_DEFLATED}
ARCHIVES = {
    "high ratio": lambda: zipped(("events.jsonl", bytes(1 << 26)), **DEFLATED),
    "nested": lambda: zipped(("events.jsonl", zipped(("events.jsonl", bytes(1 << 24)), **DEFLATED)), **DEFLATED),
    "many": lambda: zipped(*((f"f{n}", b"") for n in range(20_000))),
    "twice": lambda: local(b"a", 0) + local(b"a", 0),
    "upwards": lambda: zipped(("../../x", b"x")),
    "absolute": lambda: zipped(("/etc/cron.d/x", b"x")),
    "a drive": lambda: zipped(("C:\\x", b"x")),
    "hidden": lambda: zipped((".ssh/authorized_keys", b"x")),
    "a folder": lambda: zipped(("x/", b"")),
    "two lines": lambda: zipped(("x\ny", b"x")),
    "backwards": lambda: zipped(("\u202ex", b"x")),
    "a size that lies": lambda: local(b"a", 0xFFFFFFFF, b"x"),
    "over each other": lambda: local(b"a", 10, b"x" * 5) + local(b"b", 10, b"y" * 10),
    "something behind": lambda: zipped(("a", b"")) + b"x",
    "something before": lambda: b"x" + zipped(("a", b"")),
    "empty": bytes,
    "half": lambda: zipped(("a", b"x" * 100))[:60],
}


@pytest.mark.parametrize("made", ARCHIVES.values(), ids=ARCHIVES)
def test_an_archive_that_is_no_pack_is_told_apart_without_unpacking_it(made):
    data = made()
    with pytest.raises(BrokenPack) as error:
        check_pack_and_get_manifest(unpack_zip_packed_by_temper(data))
    one_sentence(error)


@pytest.mark.parametrize(
    "manifest",
    [
        "[" * 200_000,
        "9" * 100_000,
        '{"files": ' + "[" * 200_000,
        '{"files": {}}',
        "null",
        "{}",
        '{"files": [{"name": 1}]}',
    ],
    ids=["deep", "a number", "deep inside", "a table", "null", "nothing", "a name that is none"],
)
def test_a_manifest_that_is_none(manifest):
    with pytest.raises(BrokenPack) as error:
        check_pack_and_get_manifest({"manifest.json": manifest.encode()})
    one_sentence(error)


def test_a_link_out_of_an_unpacked_pack_is_one_more_file_that_nobody_listed(tmp_path):
    (tmp_path / "manifest.json").write_text('{"files": []}')
    (tmp_path / "x").symlink_to("/etc/passwd")
    with pytest.raises(BrokenPack, match="in the pack alone"):
        check_pack_and_get_manifest(open_pack(tmp_path))


def test_a_pack_whose_events_are_of_no_shape_that_we_write_is_said_to_be():
    line = b'{"kind":"run.queued","seq":1,"run":"r"}'
    digest = hashlib.sha256(b"0" * 64 + line).hexdigest()
    manifest = json.dumps({"made_by": compute_build_id()}).encode()
    files = {"manifest.json": manifest, "events.jsonl": line + b"\n", "chain.txt": digest.encode()}
    with pytest.raises(BrokenPack) as error:
        describe_difference_from_rebuild(files)
    one_sentence(error)
    assert b"".join(chunk for _, chunk in build_zip_chunks_with_part_names(files)).startswith(b"PK")

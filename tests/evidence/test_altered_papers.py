"""Papers of runs of many kinds hold, and each text that the script knows is noticed when it is altered."""

import base64
import csv
import io
import json
import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from app.events.event_field_types import ParameterUsed, Published, PublishedRule
from app.events.hosts_of_waiver_or_site_value import HostScope
from app.events.kinds import RunStopped, ScanFinished, VerdictGiven
from app.evidence.pack import build_pack
from app.evidence.verify import (
    ATTESTED,
    LONGEST_RECEIPT,
    RECEIPT,
    BrokenPack,
    check_pack_and_get_manifest,
    compute_sha256,
    list_proof_explanations,
    list_signer_and_unverified_claims,
    parse_der,
    read_stamp_time,
    read_unverified_external_log_answer,
    unpack_zip_packed_by_temper,
)
from tests.evidence.logs import EVERY_WORD, chain, finished, plain_log, queued, scoped, started, verdicts
from tests.evidence.played import KEY
from tests.evidence.test_verify import listed_anew
from tests.evidence.waived import OTHER, RULE, waived_log, waiver

WORDS = {RULE: "fail", OTHER: "fail"}
RESULT = "@id rule-result/@idref rule-result/@severity rule-result/ident rule-result/message rule-result/result"
ARF = "arf:asset-report-collection/arf:reports/arf:report/arf:content/TestResult/"
CKL = "STIG_DATA/ATTRIBUTE_DATA[{}]"
CKL_NAMES = ("Fix_Text", "Rule_ID", "Rule_Title", "Rule_Ver", "Severity", "Vuln_Discuss", "Vuln_Num", "CCI_REF")
TEXTS = (
    "comments discussion finding_details fix_text group_id rule_id_src rule_title rule_version severity status ccis/*"
)


def below(prefix: str, names: str) -> set[str]:
    return {prefix + name for name in names.split()}


CHECKED = {
    "checklist.cklb": below("stigs/*/rules/*/", TEXTS) | below("target_data/", "comments host_name"),
    "checklist.ckl": below("CHECKLIST/ASSET/", "HOST_NAME TARGET_COMMENT")
    | below("CHECKLIST/STIGS/iSTIG/VULN/", "COMMENTS FINDING_DETAILS STATUS")
    | {"CHECKLIST/STIGS/iSTIG/VULN/" + CKL.format(name) for name in CKL_NAMES},
    "results.xccdf.xml": below("Benchmark/TestResult/", f"{RESULT} score score/@maximum target"),
    "results.arf.xml": below(ARF, f"{RESULT} score score/@maximum target"),
    "results.oscal.json": below(
        "assessment-results/results/*/",
        "findings/*/description findings/*/target/status/reason findings/*/target/status/state"
        " findings/*/target/target-id observations/*/description risks/*/statement risks/*/status",
    ),
    "poam.oscal.json": below(
        "plan-of-action-and-milestones/",
        "observations/*/description poam-items/*/description risks/*/statement risks/*/status",
    ),
    "poam.emass.csv": {"Comments", "Devices Affected", "Raw Severity", "Recommendations", "Security Checks", "Status"},
    "poam.json": set(),
    "poam.csv": set(),
    "lineup.json": set(),
}
"""The texts that the script compares with the log. An empty set stands for all of a paper."""


def alter_json(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the document with one value changed, for each place; a list's first and last element stand for all."""
    document = json.loads(content)

    def walk(node, path):
        places = [(at, "*") for at in sorted({0, len(node) - 1})] if isinstance(node, list) and node else []
        for at, name in [(key, key) for key in node] if isinstance(node, dict) else places:
            here, value = f"{path}/{name}", node[at]
            if isinstance(value, dict | list):
                yield from walk(value, here)
                continue
            node[at] = 7 if isinstance(value, str) and not value else f"{value}x" if isinstance(value, str) else "x"
            yield here.lstrip("/"), json.dumps(document, indent=1, ensure_ascii=False).encode()
            node[at] = value

    yield from walk(document, "")


def alter_xml(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The same for the last text and attributes of each path of elements; a CKL's texts have names beside them."""
    found, stack, attribute = {}, [], ""
    for tag in re.finditer(r"<(/?)([\w:-]+)([^>]*?)(/?)>([^<]*)", content.decode()):
        ends, name, attributes, empty, text = tag.groups()
        if ends:
            stack.pop()
            continue
        attribute = text if name == "VULN_ATTRIBUTE" else attribute
        path = "/".join([*stack, f"{name}[{attribute}]" if name == "ATTRIBUTE_DATA" else name])
        for one in re.finditer(r'([\w:-]+)="([^"]*)"', attributes):
            found[f"{path}/@{one[1]}"] = tag.start(3) + one.end(2)
        if text.strip():
            found[path] = tag.start(5) + len(text.rstrip())
        stack += [] if empty else [name]
    text = content.decode()
    for path, at in found.items():
        yield path, f"{text[:at]}x{text[at:]}".encode()


def alter_csv(content: bytes) -> Iterator[tuple[str, bytes]]:
    head, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    for column, name in enumerate(head):
        last = [f"{cell}x" if at == column else cell for at, cell in enumerate(rows[-1])]
        out = io.StringIO(newline="")
        csv.writer(out).writerows([head, *rows[:-1], last])
        yield name, out.getvalue().encode("utf-8-sig")


def get_altered(files, name):
    alter = {"xml": alter_xml, "ckl": alter_xml, "csv": alter_csv}.get(name.rpartition(".")[2], alter_json)
    return alter(files[name])


def check_altered(files, name):
    """Return the places of a paper that were altered, and those of which the script noticed nothing."""
    altered, overlooked = set(), set()
    for place, content in get_altered(files, name):
        if CHECKED[name] and place not in CHECKED[name]:
            continue
        altered.add(place)
        assert content != files[name]
        try:
            check_pack_and_get_manifest(listed_anew({**files, name: content}))
        except BrokenPack:
            continue
        overlooked.add(place)
    return altered, overlooked


def used(name, value, rule):
    digest = compute_sha256(value.encode())
    return ParameterUsed(name=name, value=value, sha256=digest, rules=(rule,), where="group web")


PARAMETERS = (used("banner", "warn\n" * 100, RULE), used("days", "7", OTHER), used("edge", "y" * 200, OTHER))
NAMED = PublishedRule(
    rule=RULE, group="V-1", id="SV-1r2_rule", stig_id="RHEL-1", title="T", ccis=("C-1", "C-2"), discussion="D", fix="F"
)


def published(fix):
    named = replace(NAMED, fix=fix)
    return Published(file="f.xml", sha256="0" * 64, id="x", title="x", version="1", release="", rules=(named,))


def looked(*events, mode="auto"):
    return chain([queued(WORDS, mode=mode), started(), *verdicts("opening", WORDS), scoped(WORDS), *events])


def closing(*places, evidence="no"):
    """A closing scan that names these places of files."""
    found = zip(WORDS, places, strict=True)
    shared = {"phase": "closing", "word": "fail", "evidence": evidence, "scanner": "s"}
    given = [VerdictGiven(rule=rule, path=path, line=line, **shared) for rule, (path, line) in found]
    return [*given, ScanFinished(phase="closing", seconds=0.1), finished()]


WAIVERS = (waiver(scope=HostScope("group", "web"), ticket=""), waiver(id="2", until="2027-01-01", scope=HostScope()))
LOGS = {
    "each word of a scan": plain_log(EVERY_WORD, EVERY_WORD),
    "two waivers of one rule": waived_log(*WAIVERS),
    "values of the site": plain_log(WORDS, WORDS, begun={"parameters": PARAMETERS}),
    "a benchmark": plain_log(WORDS, WORDS, begun={"published": published("F")}),
    "texts that begin with a quote": plain_log(WORDS, WORDS, begun={"published": published("'no' is the value")}),
    "texts that begin like a quoted formula": plain_log(WORDS, WORDS, begun={"published": published("'=1")}),
    "texts that begin like a formula": plain_log(WORDS, WORDS, begun={"published": published(" =1")}),
    "no closing scan": plain_log(WORDS),
    "stopped": looked(RunStopped(by="ada", reason="enough", tree="")),
    "a look": looked(finished(), mode="scan"),
    "simulated": plain_log(WORDS, WORDS, simulated=True, begun={"simulated": True}),
    "from before hosts over SSH": plain_log(WORDS, WORDS, begun={"simulated": None}),
    "places in files": looked(*closing(("/etc/x", 3), ("/etc/y", None))),
    "a place that the text names": looked(*closing(("/etc/x", 3), (None, None), evidence="no line in /etc/x")),
    "long evidence": looked(*closing((None, None), (None, None), evidence="x" * 30_000)),
    "rules in another order": plain_log(WORDS, WORDS, rules=(OTHER, RULE)),
}


@pytest.mark.parametrize("name", LOGS)
def test_papers_of_ours_hold(name):
    files = unpack_zip_packed_by_temper(build_pack(LOGS[name], KEY))
    assert check_pack_and_get_manifest(files, LOGS[name][-1].hash, KEY.public)["host"] == "web-1"


@pytest.mark.parametrize("name", CHECKED)
def test_another_text_in_a_paper_is_noticed(name):
    altered = set()
    for kind in ("two waivers of one rule", *(["a benchmark"] if name.startswith("checklist") else [])):
        places, overlooked = check_altered(unpack_zip_packed_by_temper(build_pack(LOGS[kind], KEY)), name)
        assert overlooked == set()
        altered |= places
    assert altered >= CHECKED[name]


def test_a_value_of_the_site_that_its_digest_contradicts_is_noticed():
    files = unpack_zip_packed_by_temper(build_pack(LOGS["values of the site"], KEY))
    for was, becomes in ((b"days = 7", b"days = 8"), (b"banner = warn", b"banner = warm")):
        assert was in files["checklist.cklb"]
        changed = files["checklist.cklb"].replace(was, becomes)
        with pytest.raises(BrokenPack, match=r"checklist\.cklb does not say"):
            check_pack_and_get_manifest(listed_anew({**files, "checklist.cklb": changed}))


def receipt(answer=b"index 7", statement=b"s", **more):
    fields = {"statement": compute_sha256(statement), "command": "c", "answer": base64.b64encode(answer).decode()}
    return json.dumps(fields | more).encode()


def test_a_receipt_is_of_its_statement_and_no_longer_than_temper_keeps():
    longest = b"x" * LONGEST_RECEIPT
    assert LONGEST_RECEIPT == 65536
    assert read_unverified_external_log_answer(receipt(longest), b"s") == longest
    for content, says in (
        (receipt(longest + b"x"), "not of the shape"),
        (receipt(more=1), "not of the shape"),
        (receipt(statement=b"other"), "of something else"),
    ):
        with pytest.raises(ValueError, match=says):
            read_unverified_external_log_answer(content, b"s")


def test_each_seal_has_its_line_and_what_a_log_answered_is_cut_and_plain():
    signed = {"key": KEY.public}
    assert [line[:16] for line in list_proof_explanations({}, {})] == ["the chain proves", "no time stamp: w"]
    assert [line[:16] for line in list_proof_explanations({ATTESTED: b"s"}, signed)] == [
        "the chain proves", "the signature pr", "statement.json i", "no time stamp: w",
    ]  # fmt: skip
    files = {ATTESTED: b"s", RECEIPT: receipt(b"a \x1b~ \xff\n" + b"b" * 300)}
    assert list_proof_explanations(files, {})[3].endswith(f"in its own words: a ~ {'b' * 196}")


def test_what_nothing_vouches_for_is_said():
    signed, compare = {"key": "k"}, "compare the chain head, too, with one that was noted elsewhere"
    assert list_signer_and_unverified_claims(signed, "h", "k") == ["signed by k, the key that you gave"]
    assert list_signer_and_unverified_claims(signed, "", "k") == ["signed by k, the key that you gave"]
    for manifest, start in ((signed, "signed by k, a key that nobody"), ({}, "it is not signed")):
        first, second = list_signer_and_unverified_claims(manifest, "h", "")
        assert first.startswith(start)
        assert second.startswith("not pinned: the papers could have been replaced by the maker of the pack")
        assert list_signer_and_unverified_claims(manifest, "", "") == [first, second, compare]


def der(tag, *parts):
    content = b"".join(parts)
    size = [len(content)] if len(content) < 128 else [130, *len(content).to_bytes(2, "big")]
    return bytes([tag, *size]) + content


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 300])
def test_elements_of_every_length_are_read(size):
    first, second = der(4, b"a" * size), der(5, b"b")
    assert parse_der(first + second) == [(4, b"a" * size), (5, b"b")]
    with pytest.raises(ValueError, match="ends behind it"):
        parse_der(first + second[:-1])


def stamp(manifest, time=b"20260921142640Z", status=0, *, after=()):
    """A time stamp, without the signature that only openssl looks at."""
    imprint = der(0x30, der(0x30), der(4, bytes.fromhex(compute_sha256(manifest))))
    info = der(0x30, der(2, b"\1"), der(6, b"p"), imprint, der(2, b"\1"), der(0x18, time), *after)
    inner = der(0x30, der(6, b"tst"), der(0xA0, der(4, info)))
    token = der(0x30, der(6, b"signed"), der(0xA0, der(0x30, der(2, b"\3"), der(0x31), inner)))
    return der(0x30, der(0x30, der(2, bytes([status]))), token)


def test_the_time_of_a_stamp_is_read_where_it_was_granted_for_this_manifest():
    for given in (stamp(b"m"), stamp(b"m", status=1), stamp(b"m", b"20260921142640.25Z", after=[der(2, b"\1")])):
        assert read_stamp_time(given, b"m") == "2026-09-21T14:26:40Z"
    for given, says in (
        (stamp(b"m", status=2), "was not granted"),
        (stamp(b"other"), "of something else"),
        (stamp(b"m", b"today"), "has no time"),
    ):
        with pytest.raises(ValueError, match=says):
            read_stamp_time(given, b"m")

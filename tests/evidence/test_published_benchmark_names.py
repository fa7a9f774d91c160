"""What papers call rules: by the benchmark that the run began with, and where there was none, plainly incomplete."""

import csv
import io
import json
from xml.etree import ElementTree as ET

import pytest

from app.events.event_field_types import ParameterUsed
from app.evidence.ckl import build_ckl
from app.evidence.cklb import build_cklb
from app.evidence.pack import build_pack
from app.evidence.pack_rebuild_check import describe_difference_from_rebuild
from app.evidence.poam import build_poam_csv, build_temper_poam_json
from app.evidence.published_benchmark_names import INCOMPLETE, build_benchmark_title
from app.evidence.run_record import read_run_record
from app.evidence.verify import BrokenPack, check_pack_and_get_manifest, unpack_zip_packed_by_temper
from app.skills.catalog import load_skill
from tests.evidence.logs import EVERY_WORD, plain_case
from tests.evidence.played import KEY
from tests.evidence.published import NAMES, named, named_log
from tests.evidence.test_verify import listed_anew
from tests.loop.playing import pack, rule

ROOT, OTHER = "V-257985", "V-257820"


@pytest.fixture(scope="module")
def named_run():
    return named_log()


@pytest.fixture(scope="module")
def files(named_run):
    return unpack_zip_packed_by_temper(build_pack(named_run, KEY))


def test_a_cklb_has_disas_own_names_and_texts(named_run):
    made = json.loads(build_cklb(read_run_record(named_run)))
    (stig,) = made["stigs"]
    assert (stig["stig_id"], stig["version"]) == ("RHEL_9_STIG", "2")
    assert stig["release_info"] == "Release: 9 Benchmark Date: 01 Jul 2026"
    rules = {rule["group_id"]: rule for rule in stig["rules"]}
    root = rules[ROOT]
    assert (root["rule_id_src"], root["rule_id"]) == ("SV-257985r1000001_rule", "SV-257985r1000001")
    assert (root["rule_version"], root["group_title"]) == ("RHEL-09-255045", "SRG-OS-000001-GPOS-00001")
    assert root["ccis"] == ["CCI-000770", "CCI-004045"]
    assert root["check_content"] == "Look for PermitRootLogin <no>."
    assert "VulnDiscussion" not in root["discussion"]
    assert rules[OTHER]["rule_id_src"] == "SV-257820"


def test_a_ckl_has_them_too(named_run):
    root = ET.fromstring(build_ckl(read_run_record(named_run)))
    pairs = [
        [(one.findtext("VULN_ATTRIBUTE"), one.findtext("ATTRIBUTE_DATA")) for one in vuln.findall("STIG_DATA")]
        for vuln in root.iter("VULN")
    ]
    (vuln,) = [one for one in pairs if ("Vuln_Num", ROOT) in one]
    assert ("Rule_ID", "SV-257985r1000001_rule") in vuln
    assert [text for name, text in vuln if name == "CCI_REF"] == ["CCI-000770", "CCI-004045"]


def test_what_is_left_to_do_has_them_too(named_run):
    case = read_run_record(named_run)
    (row,) = csv.DictReader(io.StringIO(build_poam_csv(case).decode("utf-8-sig"), newline=""))
    (item,) = json.loads(build_temper_poam_json(case))["items"]
    assert (row["rule_id"], row["ccis"]) == (item["rule_id"], item["ccis"]) == (NAMES["V-257984"], "CCI-000766")


def test_papers_say_which_benchmark_by_its_digest_and_without_one_that_they_are_incomplete(named_run):
    told = f"2 of 30 rules are named by {named().file}, sha256 {named().sha256}."
    for case, says in ((read_run_record(named_run), told), (plain_case(EVERY_WORD, EVERY_WORD), INCOMPLETE)):
        assert json.loads(build_cklb(case))["stigs"][0]["rules"]
        assert says in json.loads(build_cklb(case))["target_data"]["comments"]
        assert says in (ET.fromstring(build_ckl(case)).findtext("ASSET/TARGET_COMMENT") or "")
        assert json.loads(build_temper_poam_json(case))["benchmark"] == says


def test_a_run_that_failed_before_it_began_has_the_names_of_its_skill():
    title = build_benchmark_title(load_skill("stig"), None)
    assert (title.id, title.note) == ("RHEL_9_STIG", INCOMPLETE)


def test_the_note_names_the_values_that_the_site_chose():
    used = [ParameterUsed(name=name, value="1", sha256="f" * 64, rules=(ROOT,), where="every host") for name in "ab"]
    case = plain_case({ROOT: "fail"}, {ROOT: "fail"}, begun={"parameters": tuple(used)})
    assert case.published.note == f"{INCOMPLETE} Values that the site chose: a, b."
    assert plain_case({ROOT: "fail"}, {ROOT: "fail"}).published.note == INCOMPLETE


def test_no_rule_is_decided_by_nothing():
    checks = [
        rule["check_content"] for rule in json.loads(build_cklb(plain_case(EVERY_WORD, None)))["stigs"][0]["rules"]
    ]
    assert "Decided by ." not in checks


def test_the_pack_is_made_again_from_the_log_without_the_benchmark(files):
    check_pack_and_get_manifest(files)
    assert describe_difference_from_rebuild(files) == ""


@pytest.mark.parametrize(
    "paper", ["checklist.ckl", "checklist.cklb", "results.arf.xml", "results.xccdf.xml", "poam.csv"]
)
@pytest.mark.parametrize("name", [NAMES["V-257984"], "CCI-000766"])
def test_another_name_than_the_log_has_is_found_by_the_script(files, paper, name):
    forged = files[paper].replace(name.encode(), name.replace("7", "8").encode())
    assert forged != files[paper]
    with pytest.raises(BrokenPack, match=f"{paper} does not say"):
        check_pack_and_get_manifest(listed_anew({**files, paper: forged}))


def test_a_pack_of_a_temper_that_knew_no_benchmarks_still_holds(archive):
    files = unpack_zip_packed_by_temper(archive)
    for name in ("checklist.ckl", "checklist.cklb", "poam.json"):
        for told in (f". {INCOMPLETE}", f'"benchmark": "{INCOMPLETE}",\n'):
            files[name] = files[name].replace(told.encode(), b"")
    plan = json.loads(files["poam.json"])
    for item in plan["items"]:
        del item["rule_id"], item["ccis"]
    files["poam.json"] = json.dumps(plan).encode()
    rows = list(csv.DictReader(io.StringIO(files["poam.csv"].decode("utf-8-sig"), newline="")))
    table = io.StringIO(newline="")
    kept = [name for name in rows[0] if name not in ("rule_id", "ccis")]
    writer = csv.DictWriter(table, kept, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    files["poam.csv"] = table.getvalue().encode("utf-8-sig")
    del files["results.xccdf.xml"]
    check_pack_and_get_manifest(listed_anew(files, key=KEY))


def test_a_skill_that_is_no_stig_is_named_by_itself():
    own = pack([rule("V-1"), rule("X-1")])
    title = build_benchmark_title(own, None)
    assert (title.id, title.title, title.version, title.note) == (own.name, own.title, "1", INCOMPLETE)

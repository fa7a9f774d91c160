"""On an excerpt OpenSCAP finds what it finds on the whole stream, in the same words."""

import pytest

from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.datastream_excerpt import CannotCut, DataStream, open_datastream
from app.scanners.openscap.local_oscap_shell import TreeShell
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.scap_files import FOLDERS, ScapContent, map_names_to_datastreams
from tests.scanners.openscap.content import DATA, PROFILE, RULE, VALUE

LINKED = DATA / "scap" / "linked-ds.xml"
BASE = f"{PROFILE}base"
SAMPLE = 12


def rules_of(file, profile):
    return {rule.name: rule.id for rule in read_benchmark(file).list_profile_rules(profile)}


async def judge_both_ways(root, folder, content, rules=None):
    """The verdicts of the whole profile, and those of each rule by itself."""
    ids = rules_of(content.datastream, content.profile)
    scanner = OpenScapScanner(TreeShell(root, folder), content, ids, str(folder))
    whole = {one.rule: one for one in await scanner.judge_rules([*ids])}
    alone = [(await scanner.judge_rules([rule]))[0] for rule in rules or ids]
    return whole, {one.rule: one for one in alone}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root/etc/users").mkdir(parents=True)
    (tmp_path / "root/etc/linked").write_text("user=alice\nuser=bob\nguest=carol\n")
    (tmp_path / "root/etc/users/bob").write_text("name=bob\n")
    return tmp_path / "root"


async def test_each_rule_alone_has_the_verdict_and_evidence_of_the_whole(root, tmp_path):
    whole, alone = await judge_both_ways(root, tmp_path / "cache", ScapContent(LINKED, BASE))
    assert {name: one.word for name, one in whole.items()} == {
        "extends": "pass",
        "filter": "fail",
        "variable": "pass",
        "chosen": "fail",
        "complex": "fail",
        "document": "fail",
        "by_hand": "unknown",
        "elsewhere": "unknown",
        "clustered": "unknown",
        "requires": "unknown",
        "required": "pass",
        "conflicts": "unknown",
        "absent": "notapplicable",
    }
    assert alone == whole


async def test_rules_that_share_an_excerpt_have_them_too(root, tmp_path):
    ids = rules_of(LINKED, BASE)
    scanner = OpenScapScanner(TreeShell(root, tmp_path), ScapContent(LINKED, BASE), ids, str(tmp_path))
    whole, some = await scanner.judge_rules([*ids]), await scanner.judge_rules(["variable", "absent", "chosen"])
    assert some == [one for name in ("variable", "absent", "chosen") for one in whole if one.rule == name]


async def test_a_host_of_another_kind_is_not_judged_by_an_excerpt_either(tmp_path):
    (tmp_path / "root/etc").mkdir(parents=True)
    whole, alone = await judge_both_ways(tmp_path / "root", tmp_path, ScapContent(LINKED, BASE), ["extends", "chosen"])
    assert {one.word for one in alone.values()} == {"notapplicable"}
    assert alone.items() <= whole.items()


async def test_a_tailoring_counts_in_an_excerpt(root, tmp_path):
    tailoring = f"""<Tailoring xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_temper_tailoring_site">
      <benchmark href="linked-ds.xml"/><version time="2026-11-25T00:00:00">1</version>
      <Profile id="xccdf_temper.test_profile_site" extends="{BASE}"><title>Ours</title>
        <select idref="{RULE}filter" selected="false"/>
        <set-value idref="{VALUE}name">carol</set-value>
        <refine-rule idref="{RULE}complex" weight="2"/>
      </Profile></Tailoring>""".encode()
    content = ScapContent(LINKED, "xccdf_temper.test_profile_site", tailoring)
    ids = rules_of(LINKED, BASE)
    scanner = OpenScapScanner(TreeShell(root, tmp_path), content, ids, str(tmp_path))
    whole = {one.rule: one for one in await scanner.judge_rules([*ids])}
    alone = [(await scanner.judge_rules([rule]))[0] for rule in ids]
    assert {one.rule: one for one in alone} == whole
    assert (whole["variable"].word, whole["filter"].word) == ("fail", "unknown")


async def test_content_of_this_machine_finds_the_same_on_an_excerpt(root, tmp_path):
    """A sample; all rules of all profiles are compared in tests/hosts."""
    (root / "etc/debian_version").write_text("11.9\n")
    (root / "etc/login.defs").write_text("PASS_MAX_DAYS 99999\nUMASK 022\n")
    for file in [*map_names_to_datastreams(FOLDERS[-1:]).values()][-1:]:
        profile = max(read_benchmark(file).profiles, key=lambda one: one.rules).id
        sample = [*rules_of(file, profile)]
        sample = sample[:: max(1, len(sample) // SAMPLE)]
        whole, alone = await judge_both_ways(root, tmp_path / "cache", ScapContent(file, profile), sample)
        assert alone == {rule: whole[rule] for rule in sample}


def test_nothing_that_other_rules_need_is_in_it():
    datastream, tailoring = DataStream(LINKED.read_bytes()).build_excerpt_and_tailoring(BASE, [f"{RULE}extends"])
    assert tailoring == b""
    for name in ("nobody", "guest", "filter", f"{VALUE}name", "absent", "/etc/other", "Written for the tests"):
        assert name.encode() not in datastream
    assert len(datastream) < LINKED.stat().st_size / 3


def test_cutting_does_not_change_the_stream():
    stream = DataStream(LINKED.read_bytes())
    first = stream.build_excerpt_and_tailoring(BASE, [f"{RULE}variable"])
    stream.build_excerpt_and_tailoring(BASE, [f"{RULE}extends", f"{RULE}document"])
    assert stream.build_excerpt_and_tailoring(BASE, [f"{RULE}variable"]) == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'<Rule id="{RULE}extends"', f'<Rule extends="{RULE}filter" id="{RULE}extends"'),
        ('<check-content-ref href="linked-oval.xml" name="oval:temper.linked:def:1"/>', "<check-content/>"),
        ('href="linked-oval.xml" name="oval:temper.linked:def:1"', 'href="elsewhere.xml"'),
        ('<check system="http://oval.mitre.org/XMLSchema/oval-definitions-5">', '<check system="urn:sce">'),
        ("http://checklists.nist.gov/xccdf/1.2", "http://checklists.nist.gov/xccdf/1.1"),
        (f'id="{RULE}extends"', f'id="{RULE}other"'),
    ],
    ids=["extended", "inline", "elsewhere", "other-system", "other-version", "unknown"],
)
def test_what_could_be_lost_is_not_cut(old, new):
    content = LINKED.read_text()
    assert old in content
    with pytest.raises(CannotCut):
        DataStream(content.replace(old, new).encode()).build_excerpt_and_tailoring(BASE, [f"{RULE}extends"])


def test_a_stream_is_read_once_and_again_when_its_file_changes(tmp_path):
    file = tmp_path / "a-ds.xml"
    file.write_bytes(LINKED.read_bytes())
    first = open_datastream(file)
    assert open_datastream(file) is first
    file.touch()
    assert open_datastream(file) is not first

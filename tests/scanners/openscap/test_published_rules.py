import hashlib

import pytest

from app.errors import BadInput
from app.scanners.openscap.benchmark import Benchmark
from app.scanners.openscap.published_rules import read_published
from tests.scanners.openscap.content import SMALL, STIG


def scap(rules, version="002.009", release="Benchmark Date: 01 Jul 2026"):
    """In the form of DISA's SCAP content, or of SSG's."""
    return f"""<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_mil.disa.stig_benchmark_RHEL_9_STIG">
    <title>Small</title><plain-text id="release-info">{release}</plain-text><version>{version}</version>
    <Profile id="xccdf_t_profile_all"><title>All</title></Profile>{rules}</Benchmark>""".encode()


def test_a_manual_stig_says_all_of_its_own_names():
    made = read_published(STIG.read_bytes(), STIG.name)
    assert (made.id, made.version, made.release) == ("RHEL_9_STIG", "2", "Release: 9 Benchmark Date: 01 Jul 2026")
    assert made.sha256 == hashlib.sha256(STIG.read_bytes()).hexdigest()
    root = made.rules[0]
    assert (root.group, root.id, root.stig_id) == ("V-257985", "SV-257985r1000001_rule", "RHEL-09-255045")
    assert (root.group_title, root.ccis) == ("SRG-OS-000001-GPOS-00001", ("CCI-000770", "CCI-004045"))
    assert root.discussion == "Who logs in as root is nobody in the record.\n\nSatisfies: SRG-OS-000001"
    assert root.check == "Look for PermitRootLogin <no>."
    assert root.fix.endswith("PermitRootLogin no")


def test_its_scap_content_says_the_release_in_another_way():
    rule = """<Group id="xccdf_mil.disa.stig_group_V-257985"><title>SRG-1</title>
    <Rule id="xccdf_mil.disa.stig_rule_SV-257985r7_rule"><version>RHEL-09-255045</version></Rule></Group>"""
    made = read_published(scap(rule), "it")
    assert (made.id, made.version, made.release) == ("RHEL_9_STIG", "2", "Release: 9 Benchmark Date: 01 Jul 2026")
    assert [(one.group, one.id, one.check) for one in made.rules] == [("V-257985", "SV-257985r7_rule", "")]


def test_references_of_somebody_elses_content_name_its_rules_too():
    rule = """<Group id="xccdf_org.ssgproject.content_group_ssh">
    <Rule id="xccdf_org.ssgproject.content_rule_a"><title>A</title>
    <reference href="u">SRG-OS-000109-GPOS-00056</reference><reference href="u">CCI-000770</reference>
    <reference href="u">RHEL-09-255045</reference><reference href="u">SV-257985r7_rule</reference></Rule>
    <Rule id="xccdf_org.ssgproject.content_rule_b"><title>B</title>
    <reference href="u">SV-1r7_rule</reference><reference href="u">SV-2r7_rule</reference></Rule>
    <Rule id="xccdf_org.ssgproject.content_rule_c"><title>C</title></Rule></Group>"""
    (one,) = read_published(scap(rule), "it").rules
    assert (one.rule, one.group) == ("xccdf_org.ssgproject.content_rule_a", "V-257985")
    assert (one.id, one.stig_id, one.ccis) == ("SV-257985r7_rule", "RHEL-09-255045", ("CCI-000770",))
    assert one.group_title == "SRG-OS-000109-GPOS-00056"


def test_content_without_such_names_has_none():
    assert read_published(SMALL.read_bytes(), "it").rules == ()
    with pytest.raises(BadInput, match="no benchmark"):
        read_published(b"<a/>", "it")


def test_what_a_requirement_shows_is_taken_out_of_the_markup():
    rules = Benchmark(STIG.read_bytes(), "It").list_profile_rules("MAC-1_Public")
    assert rules[1].requirement == "An empty password is none."

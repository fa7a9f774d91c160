"""Writes small content in the shape of DISA's, and ComplianceAsCode's for the same rules. The words are ours.

DISA's data stream has ids of its own, checks in OVAL, prose in escaped markup, and fixes without a script.
"""

from dataclasses import dataclass
from pathlib import Path

from lxml import etree

NAME = "U_SMALL_9_V2R9_STIG_SCAP_1-3_Benchmark"
MANUAL = "U_SMALL_9_STIG_V2_Manual-xccdf.xml"
PROFILE = "MAC-1_Public"
XCCDF, SOURCE, OVAL = (
    "http://checklists.nist.gov/xccdf/1.2",
    "http://scap.nist.gov/schema/scap/source/1.2",
    "http://oval.mitre.org/XMLSchema/oval-definitions-5",
)
_TASKS = "urn:xccdf:fix:script:ansible"


@dataclass(frozen=True)
class SmallRule:
    number: int
    stig_id: str
    path: str
    pattern: str
    """The line that the check wants."""
    fix: str
    severity: str = "medium"
    tasks: str = ""
    """What ComplianceAsCode has for it."""

    @property
    def group(self) -> str:
        return f"V-{self.number}"

    @property
    def rule(self) -> str:
        return f"SV-{self.number}r{self.number * 4}_rule"


KPTR = SmallRule(
    257800,
    "RHEL-09-213025",
    "/etc/sysctl.d/99-kptr.conf",
    "^kernel.kptr_restrict *= *1$",
    'Add to "/etc/sysctl.d/99-kptr.conf":\n\nkernel.kptr_restrict = 1',
    tasks="- lineinfile: {path: /etc/sysctl.d/99-kptr.conf, line: kernel.kptr_restrict=1, create: true}",
)
LOCKED = SmallRule(
    258229, "RHEL-09-654275", "/etc/audit/rules.d/audit.rules", "^-e 2$", "Add the line:\n\n-e 2", severity="high"
)
RULES = (KPTR, LOCKED)


def write_datastream(folder: Path, rules: tuple[SmallRule, ...] = RULES, *, with_fixes: bool = True) -> Path:
    """Write a data stream collection as DISA publishes them, and return its file."""
    groups = "".join(_format_group(one, with_fixes=with_fixes) for one in rules)
    selects = "".join(f'<x:select idref="xccdf_mil.disa.stig_group_{one.group}" selected="true"/>' for one in rules)
    checks = "".join(_format_definition(one) for one in rules)
    tests = "".join(
        f'<textfilecontent54_test xmlns="{OVAL}#independent" id="oval:mil.disa.stig.small:tst:{one.number}" version="1"'
        f' check="all" check_existence="at_least_one_exists" comment="the line"><object object_ref="'
        f'oval:mil.disa.stig.small:obj:{one.number}"/></textfilecontent54_test>'
        for one in rules
    )
    objects = "".join(
        f'<textfilecontent54_object xmlns="{OVAL}#independent" id="oval:mil.disa.stig.small:obj:{one.number}" '
        f'version="1"><filepath>{one.path}</filepath><pattern operation="pattern match">{one.pattern}</pattern>'
        '<instance datatype="int">1</instance></textfilecontent54_object>'
        for one in rules
    )
    text = f"""<data-stream-collection xmlns="{SOURCE}" xmlns:xlink="http://www.w3.org/1999/xlink"
 id="scap_mil.disa.stig_collection_{NAME}" schematron-version="1.3">
<data-stream id="scap_mil.disa.stig_datastream_{NAME}" use-case="CONFIGURATION" scap-version="1.3"
 timestamp="2026-06-25T00:00:00"><checklists><component-ref id="scap_mil.disa.stig_cref_{NAME}-xccdf.xml"
 xlink:href="#scap_mil.disa.stig_comp_{NAME}-xccdf.xml"><catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
<uri name="{NAME}-oval.xml" uri="#scap_mil.disa.stig_cref_{NAME}-oval.xml"/></catalog></component-ref></checklists>
<checks><component-ref id="scap_mil.disa.stig_cref_{NAME}-oval.xml"
 xlink:href="#scap_mil.disa.stig_comp_{NAME}-oval.xml"/>
</checks></data-stream>
<component id="scap_mil.disa.stig_comp_{NAME}-xccdf.xml" timestamp="2026-06-25T00:00:00">
<x:Benchmark xmlns:x="{XCCDF}" id="xccdf_mil.disa.stig_benchmark_SMALL_9_STIG" style="SCAP_1.3" xml:lang="en">
<x:status date="2026-05-20">accepted</x:status><x:title>Small 9 STIG SCAP Benchmark</x:title>
<x:description>Written for tests.</x:description>
<x:plain-text id="release-info">Benchmark Date: 01 Jul 2026</x:plain-text><x:version>002.009</x:version>
<x:Profile id="xccdf_mil.disa.stig_profile_{PROFILE}"><x:title>Public</x:title>{selects}</x:Profile>
{groups}</x:Benchmark></component>
<component id="scap_mil.disa.stig_comp_{NAME}-oval.xml" timestamp="2026-06-25T00:00:00">
<oval_definitions xmlns="{OVAL}"><generator>
<schema_version xmlns="http://oval.mitre.org/XMLSchema/oval-common-5">5.11.2</schema_version>
<timestamp xmlns="http://oval.mitre.org/XMLSchema/oval-common-5">2026-06-25T00:00:00</timestamp></generator>
<definitions>{checks}</definitions><tests>{tests}</tests><objects>{objects}</objects></oval_definitions></component>
</data-stream-collection>"""
    return _write(folder / f"{NAME}.xml", text)


def write_manual(folder: Path, rules: tuple[SmallRule, ...] = RULES) -> Path:
    """Write the STIG as people read it: XCCDF 1.1, plain ids, and the checks as prose."""
    groups = "".join(
        f'<Group id="{one.group}"><title>SRG-OS-000001-GPOS-00001</title><Rule id="{one.rule}" weight="10.0" '
        f'severity="{one.severity}"><version>{one.stig_id}</version><title>{one.path} has its line.</title>'
        "<description>&lt;VulnDiscussion&gt;Why.&lt;/VulnDiscussion&gt;</description>"
        f'<ident system="http://cyber.mil/cci">CCI-000366</ident><fixtext fixref="F-1_fix">{one.fix}</fixtext>'
        f'<check system="C-1_chk"><check-content>Look into {one.path}.</check-content></check></Rule></Group>'
        for one in rules
    )
    return _write(
        folder / MANUAL,
        f'<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.1" id="SMALL_9_STIG"><title>Small 9 STIG</title>'
        f'<plain-text id="release-info">Release: 9 Benchmark Date: 01 Jul 2026</plain-text><version>2</version>'
        f'<Profile id="MAC-1_Public"><title>Public</title></Profile>{groups}</Benchmark>',
    )


def write_community(folder: Path, rules: tuple[SmallRule, ...] = RULES, name: str = "ssg-rhel9-ds.xml") -> Path:
    """Write ComplianceAsCode's data stream for the same system: it names a STIG's rules by references."""
    texts = "".join(
        f'<Rule id="xccdf_org.ssgproject.content_rule_r{one.number}" severity="medium" selected="false">'
        f'<title>r</title><reference href="stig">{one.stig_id}</reference>'
        f'<fix system="{_TASKS}" id="r{one.number}">{one.tasks}</fix></Rule>'
        for one in rules
        if one.tasks
    )
    selects = "".join(
        f'<select idref="xccdf_org.ssgproject.content_rule_r{one.number}" selected="true"/>' for one in rules
    )
    return _write(
        folder / name,
        f'<Benchmark xmlns="{XCCDF}" id="xccdf_org.ssgproject.content_benchmark_RHEL-9"><title>Guide</title>'
        f'<Profile id="xccdf_org.ssgproject.content_profile_stig"><title>STIG</title>{selects}</Profile>{texts}'
        "</Benchmark>",
    )


def _format_group(one: SmallRule, *, with_fixes: bool) -> str:
    fix = f'<x:fixtext fixref="F-{one.number}_fix">{one.fix}</x:fixtext>' if with_fixes else ""
    return (
        f'<x:Group id="xccdf_mil.disa.stig_group_{one.group}"><x:title>SRG-OS-000001-GPOS-00001</x:title>'
        f'<x:Rule id="xccdf_mil.disa.stig_rule_{one.rule}" severity="{one.severity}" weight="10.0">'
        f"<x:version>{one.stig_id}</x:version><x:title>{one.path} has its line.</x:title>"
        "<x:description>&lt;VulnDiscussion&gt;Why.&lt;/VulnDiscussion&gt;</x:description>"
        f'<x:ident system="http://cyber.mil/cci">CCI-000366</x:ident>{fix}<x:fix id="F-{one.number}_fix"/>'
        f'<x:check system="{OVAL}"><x:check-content-ref href="{NAME}-oval.xml" '
        f'name="oval:mil.disa.stig.small:def:{one.number}"/></x:check></x:Rule></x:Group>'
    )


def _format_definition(one: SmallRule) -> str:
    return (
        f'<definition id="oval:mil.disa.stig.small:def:{one.number}" version="1" class="compliance"><metadata><title>'
        f"{one.stig_id}</title><description>d</description></metadata><criteria><criterion "
        f'test_ref="oval:mil.disa.stig.small:tst:{one.number}"/></criteria></definition>'
    )


def _write(file: Path, text: str) -> Path:
    etree.fromstring(text)  # content that is not well-formed would test another refusal
    file.write_text(text)
    return file

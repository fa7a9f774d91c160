"""What OpenSCAP found on a host, as a role and a reader are told it."""

import pytest
from lxml import etree

from app.scanners.openscap.oval_explanation import index_report

REPORT = """<r>
<definition definition_id="d" result="false">
<criteria result="false"><criterion test_ref="t" result="false"/></criteria></definition>
<test test_id="t" result="false"><tested_item item_id="1" result="false"/></test>
<textfilecontent54_test id="t" comment="a line"/>
<textfilecontent_item id="1"><filepath>{path}</filepath><text>low entropy canary</text></textfilecontent_item>
</r>"""


@pytest.mark.parametrize(
    ("path", "told"),
    [("/etc/login.defs", True), ("/etc/shadow", False), ("/root/.pgpass", False), ("/etc/x/web.key", False)],
)
def test_a_line_of_a_file_that_keeps_secrets_is_not_quoted(path, told):
    (finding,) = index_report(etree.fromstring(REPORT.format(path=path))).explain_result("d", "false")
    assert ("canary" in finding.text) is told
    assert path in finding.text


FILES = """<r>
<definition definition_id="d" result="false">
<criteria result="false"><criterion test_ref="t" result="false"/></criteria></definition>
<test test_id="t" check="{check}" result="false">{tested}</test>
<file_test id="t" comment="modes"/>
{items}
</r>"""
ITEM = '<file_item id="{0}"><filepath>/etc/{0:02}</filepath><user_id>0</user_id><group_id>0</group_id></file_item>'


def explain_files(check, *results):
    tested = "".join(f'<tested_item item_id="{at}" result="{word}"/>' for at, word in enumerate(results))
    items = "".join(ITEM.format(at) for at in range(len(results)))
    report = index_report(etree.fromstring(FILES.format(check=check, tested=tested, items=items)))
    (finding,) = report.explain_result("d", "false")
    return finding.text


@pytest.mark.parametrize(
    ("check", "shown"), [("all", ["/etc/01", "/etc/03"]), ("none satisfy", ["/etc/00", "/etc/02"])]
)
def test_the_files_that_made_it_fail_are_shown_and_no_others(check, shown):
    text = explain_files(check, "true", "false", "true", "false")
    assert [path for path in ("/etc/00", "/etc/01", "/etc/02", "/etc/03") if path in text] == shown


def test_where_the_report_does_not_tell_them_apart_all_are_shown_and_a_long_list_says_that_it_goes_on():
    text = explain_files("all", *["not evaluated"] * 11)
    assert [f"/etc/{at:02}" in text for at in range(11)] == [True] * 8 + [False] * 3
    assert text.endswith("; and 3 more.")

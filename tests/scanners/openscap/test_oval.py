"""What OpenSCAP found on a host, as a role and a reader are told it."""

import pytest
from lxml import etree

from app.scanners.openscap.oval import index_report

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

"""What the vendor's script leaves is read from the scanner's own results."""

import pytest

from app.errors import EnvironmentUnusable
from app.scores.ssh_client import SshResult
from app.scores.vendor_fixes import VendorOutcome, parse_outcome

RESULTS = """<?xml version="1.0"?><Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2"><TestResult id="t">
<rule-result idref="a"><result>{}</result></rule-result>
<rule-result idref="b"><result>notselected</result></rule-result>
</TestResult></Benchmark>"""


def out(first, last):
    parts = f"<<before>>\n{RESULTS.format(first)}\n<<after>>\n{RESULTS.format(last)}\n"
    return f"{parts}<<deeds>>\nroot\tno\n<<took>>\n10.5 12.0\n".encode()


def test_before_and_after_are_read():
    assert parse_outcome(SshResult(0, out("fail", "pass"), "")) == VendorOutcome(
        {"a": "fail"}, {"a": "pass"}, {"root": "no"}, 1.5
    )


def test_a_script_that_did_not_run_is_told():
    with pytest.raises(EnvironmentUnusable, match="no script was generated"):
        parse_outcome(SshResult(9, b"", "no script was generated"))

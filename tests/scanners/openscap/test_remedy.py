import pytest

from app.scanners.openscap.oscap_command import ScanFailed
from app.scanners.openscap.scanner import extract_fix_script

BAR = "#" * 79
MADE = f"""#!/usr/bin/env bash
{BAR}
# BEGIN fix (1 / 2) for 'xccdf_a_rule_one'
{BAR}
(>&2 echo "Remediating rule 1/2: 'xccdf_a_rule_one'")
(>&2 echo "FIX FOR THIS RULE 'xccdf_a_rule_one' IS MISSING!")

# END fix for 'xccdf_a_rule_one'
{BAR}
# BEGIN fix (2 / 2) for 'xccdf_a_rule_two'
{BAR}
(>&2 echo "Remediating rule 2/2: 'xccdf_a_rule_two'"); (
  chmod 600 /etc/x

) # END fix for 'xccdf_a_rule_two'
"""


def test_a_rules_own_part_is_taken_and_nothing_around_it():
    assert extract_fix_script(MADE, "xccdf_a_rule_two") == "(\n  chmod 600 /etc/x\n\n) \n"


def test_where_the_content_has_none_there_is_none():
    assert extract_fix_script(MADE, "xccdf_a_rule_one") == ""
    assert extract_fix_script(MADE, "xccdf_a_rule_three") == ""


@pytest.mark.parametrize("made", [MADE + MADE, MADE.partition("\n) # END")[0]])
def test_what_is_there_twice_or_breaks_off_is_not_taken(made):
    with pytest.raises(ScanFailed):
        extract_fix_script(made, "xccdf_a_rule_two")

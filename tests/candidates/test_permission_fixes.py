"""Permissions of the scanner's evidence, brought to what a rule's title asks for."""

import pytest

from app.candidates.permission_fixes import require_permission_actions
from app.candidates.scratch_files_to_actions import Undecidable
from app.resources.permission import SetPermissions

FILES = (
    "OpenSCAP: fail, does not hold. Files of users: /home/ops/.profile has mode 0744, owner 1001:1001; /home/ops/.x has"
    " mode 0600, owner 1001:1001. Files of root: /root/.profile has mode 0644, owner 0:0."
)


def test_a_mode_loses_what_the_title_forbids_and_gains_nothing():
    assert require_permission_actions("Initialization files must have mode 0740 or less permissive.", FILES) == (
        SetPermissions(path="/home/ops/.profile", mode="0740"),
        SetPermissions(path="/root/.profile", mode="0640"),
    )


def test_a_bit_beside_the_rights_of_people_stays():
    shown = "/usr/bin/wall has mode 2755, owner 0:5."
    assert require_permission_actions('Programs must have mode "0750" or less permissive.', shown) == (
        SetPermissions(path="/usr/bin/wall", mode="2750"),
    )


@pytest.mark.parametrize(
    ("title", "owner"),
    [
        ("The audit log must be group-owned by root.", ":root"),
        ("The audit log must be owned by root.", "root"),
        ("The audit log must be owned by root, and group-owned by root.", "root:root"),
    ],
)
def test_an_owner_is_given_where_the_title_names_it(title, owner):
    shown = "/var/log/audit/audit.log has mode 0640, owner 7:4."
    assert require_permission_actions(title, shown) == (SetPermissions(path="/var/log/audit/audit.log", owner=owner),)


@pytest.mark.parametrize(
    "title", ["The host must log.", "It must have mode 0777 or less permissive.", "It must be owned by admin."]
)
def test_a_title_that_forbids_nothing_of_it_proposes_nothing(title):
    with pytest.raises(Undecidable, match="no path with a mode or an owner"):
        require_permission_actions(title, FILES)


@pytest.mark.parametrize("end", ["; and 3 more.", "; /home/ops/.y has mo…"])
def test_a_list_that_is_not_whole_proposes_nothing_as_the_rule_would_fail_all_the_same(end):
    with pytest.raises(Undecidable, match="more paths than its evidence shows"):
        require_permission_actions(
            "Initialization files must have mode 0740 or less permissive.", FILES.rstrip(".") + end
        )

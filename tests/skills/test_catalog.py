import pytest

from app.errors import BadInput
from app.skills.catalog import nearest, skill


def test_a_skill_is_found_by_name_and_an_unknown_one_refused_with_the_choice():
    assert skill("stig").name == "stig"
    with pytest.raises(BadInput, match="choose one of stig"):
        skill("cis\x1b[2J")


def test_an_unknown_rule_has_neighbours():
    stig = skill("stig")
    assert nearest("V-25798", stig)[0].startswith("V-25798")
    assert nearest(" rhel-09-255045 ", stig)[0] == "V-257985"
    assert len(nearest("V-257999", stig)) <= 3
    assert nearest("nonsense", stig) == []
    assert nearest("\n V-257985\t", stig)[0] == "V-257985"
    assert nearest("x" * 100_000, stig) == []

import pytest

from app.errors import BadInput
from app.scanners.openscap.benchmark import Benchmark, read_benchmark, shorten_id
from tests.scanners.openscap.content import ARF, PROFILE, RULE, SMALL


@pytest.fixture(scope="module")
def benchmark():
    return read_benchmark(SMALL)


def rules(benchmark, profile):
    return {rule.name: rule for rule in benchmark.list_profile_rules(benchmark.resolve_profile_id(profile))}


def test_profiles_are_listed_with_what_they_select(benchmark):
    assert (benchmark.title, benchmark.version) == ("A small benchmark", "1")
    assert [(one.short_id, one.title, one.rules) for one in benchmark.profiles] == [
        ("base", "The base", 2),
        ("more", "More of it", 3),
    ]


def test_a_profile_takes_over_what_it_extends_and_may_unselect(benchmark):
    assert list(rules(benchmark, "more")) == ["V-257985", "release", "moduli"]


def test_a_group_that_is_off_takes_its_rules_along(benchmark):
    assert not any("off" in rules(benchmark, profile) for profile in ("base", "more"))


def test_what_a_profile_sets_stands_in_the_words(benchmark):
    root = rules(benchmark, "more")["V-257985"]
    assert root.id == f"{RULE}root_login"
    assert root.title == "Nobody logs in as root"
    assert root.requirement == "In /etc/ssh/sshd_config stands:\nPermitRootLogin no"
    assert 'echo "PermitRootLogin no"' in root.fix
    assert root.paths == ("/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/50-root.conf")


def test_prose_comes_before_a_script(benchmark):
    assert rules(benchmark, "base")["by_hand"].fix == "Look at it."


def test_a_profile_is_known_short_and_in_full_and_another_is_refused_with_the_choice(benchmark):
    assert benchmark.resolve_profile_id("base") == benchmark.resolve_profile_id(f"{PROFILE}base") == f"{PROFILE}base"
    with pytest.raises(BadInput, match="it has: base, more"):
        benchmark.resolve_profile_id("bas")


def test_profiles_that_extend_each_other_come_to_an_end():
    circle = SMALL.read_bytes().replace(
        b'<Profile id="xccdf_temper.test_profile_base">',
        b'<Profile id="xccdf_temper.test_profile_base" extends="xccdf_temper.test_profile_more">',
    )
    assert {one.rules for one in Benchmark(circle, "It").profiles} == {3, 4}


def test_the_organisation_is_left_out_of_a_short_name():
    assert shorten_id("xccdf_org.ssgproject.content_rule_sshd_disable_root_login") == "sshd_disable_root_login"
    assert shorten_id("xccdf_mil.disa.stig_rule_SV-257985r1_rule") == "SV-257985r1_rule"


def test_what_is_no_data_stream_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_benchmark(tmp_path / "gone-ds.xml")
    with pytest.raises(BadInput, match="has no benchmark"):
        read_benchmark(ARF)

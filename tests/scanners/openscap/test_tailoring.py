"""Tailoring files as others write them: what they say is taken, and what does not fit is refused in one sentence."""

import re
import subprocess

import pytest

from app.errors import BadInput
from app.scanners.openscap.benchmark import Benchmark
from app.scanners.openscap.tailoring import (
    LONGEST_NAME,
    add_tailoring,
    load_tailoring_file,
    map_names_to_added_tailoring_files,
    offer_only_tailored_profiles,
    read_tailoring,
)
from tests.scanners.openscap.content import PROFILE, RULE, SMALL, TAILORING, VALUE

BENCHMARK = Benchmark(SMALL.read_bytes(), "small")
TEXT = TAILORING.read_text()
HEAD = '<Tailoring xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_x_tailoring_y">'


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new).encode()


def refusal(content):
    with pytest.raises(BadInput) as refused:
        offer_only_tailored_profiles(read_tailoring(content, "site-tailoring.xml"), BENCHMARK)
    said = str(refused.value)
    assert said.endswith(".")
    assert said.isprintable()
    assert len(said) < 700
    return said


def test_its_profile_is_the_benchmarks_with_what_it_changes():
    mine = read_tailoring(TEXT.encode(), "site-tailoring.xml")
    assert (mine.id, mine.version) == ("xccdf_temper.test_tailoring_default", "3")
    made = offer_only_tailored_profiles(mine, BENCHMARK)
    assert [one.short_id for one in made.profiles] == ["ours"]
    rules = {one.name: one for one in made.list_profile_rules(f"{PROFILE}ours")}
    assert [*rules] == ["V-257985", "release"]
    assert "PermitRootLogin prohibit-password" in rules["V-257985"].requirement
    assert [one.name for one in made.list_rules_removed_by_tailoring(f"{PROFILE}ours")] == ["by_hand"]
    assert [one.short_id for one in BENCHMARK.profiles] == ["base", "more"]


def test_a_value_of_its_own_stands_in_the_rules_words():
    line = f'<xccdf:set-value idref="{VALUE}answer">forced-commands-only</xccdf:set-value></xccdf:Profile>'
    made = offer_only_tailored_profiles(read_tailoring(changed("</xccdf:Profile>", line), "x"), BENCHMARK)
    assert "PermitRootLogin forced-commands-only" in made.list_profile_rules(f"{PROFILE}ours")[0].requirement


def test_a_profile_may_bear_the_name_of_the_one_that_it_extends():
    content = changed(f'id="{PROFILE}ours"', f'id="{PROFILE}base"')
    made = offer_only_tailored_profiles(read_tailoring(content, "x"), BENCHMARK)
    assert [one.name for one in made.list_profile_rules(f"{PROFILE}base")] == ["V-257985", "release"]
    assert [one.name for one in made.list_rules_removed_by_tailoring(f"{PROFILE}base")] == ["by_hand"]


def test_it_may_lie_in_a_data_stream_and_name_its_benchmark_by_component():
    inside = changed('href="/usr/share/xml/scap/small-ds.xml"', 'href="#scap_temper.test_cref_xccdf"')
    inside = inside.removeprefix(b'<?xml version="1.0" encoding="UTF-8"?>\n')
    wrapped = b'<d:data-stream-collection xmlns:d="urn:d"><d:component>%s</d:component></d:data-stream-collection>'
    mine = read_tailoring(wrapped % inside, "x")
    assert offer_only_tailored_profiles(mine, BENCHMARK).profiles[0].rules == 2
    assert read_tailoring(mine.content, "x").profiles.keys() == mine.profiles.keys()


def test_one_without_any_hint_of_its_benchmark_is_held_to_what_it_names():
    content = re.sub(rb"<xccdf:benchmark[^>]*/>", b"", TEXT.encode())
    assert offer_only_tailored_profiles(read_tailoring(content, "x"), BENCHMARK).profiles[0].rules == 2


BOMB = (
    b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    + HEAD.encode()
    + b"&b;</Tailoring>"
)
FILE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + HEAD.encode() + b"&a;</Tailoring>"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BOMB, "declares a document type or entities: Temper does not read such a file"),
        (FILE, "declares a document type or entities: Temper does not read such a file"),
        (b"", "is not well-formed XML"),
        (b"<Tailoring", "is not well-formed XML"),
        (HEAD.encode() + b"<a>" * 600 + b"</a>" * 600 + b"</Tailoring>", "is not well-formed XML"),
        (b"x" * ((4 << 20) + 1), "the limit is 4 MiB"),
        (SMALL.read_bytes(), "has no tailoring. Give an xccdf:Tailoring"),
        (b"<a>" + HEAD.encode() + b"</Tailoring>" + HEAD.encode() + b"</Tailoring></a>", "has 2 tailorings"),
        (b"<Tailoring/>", "is in the namespace ''; Temper reads only XCCDF 1.2"),
        (changed("xccdf/1.2", "xccdf/1.1"), "is in the namespace 'http://checklists.nist.gov/xccdf/1.1'"),
        (HEAD.encode() + b"</Tailoring>", "has no profile"),
        (changed('id="xccdf_temper.test_profile_ours"', 'id="--remediate"'), "names a profile '--remediate'"),
        (changed("benchmark_small", "benchmark_big"), "is for the benchmark 'xccdf_temper.test_benchmark_big', but A"),
        (changed('extends="xccdf_temper.test_profile_base"', 'extends="xccdf_x_profile_y"'), "it is for other content"),
        (changed("test_rule_release", "test_rule_gone"), "names the rule 'xccdf_temper.test_rule_gone', which A small"),
        (changed("test_value_answer", "test_value_gone"), "names the value 'xccdf_temper.test_value_gone', which A"),
        (changed('selector=""', 'selector="lax"'), "selects 'lax' of answer, whose choices are: strict"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(content, says):
    assert says in refusal(content)


def test_a_name_may_be_as_long_as_its_refusal_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BadInput, match=f"use at most {LONGEST_NAME} small letters"):
        add_tailoring(TEXT.encode(), "n" * (LONGEST_NAME + 1), BENCHMARK)
    longest = "n" * LONGEST_NAME
    add_tailoring(TEXT.encode(), longest, BENCHMARK)
    assert load_tailoring_file(longest).name == f"{longest}-tailoring.xml"


def test_it_is_kept_for_good_under_its_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    added = add_tailoring(TEXT.encode(), "site", BENCHMARK)
    assert add_tailoring(TEXT.encode(), "site", BENCHMARK).sha256 == added.sha256
    with pytest.raises(BadInput, match="already another tailoring 'site'"):
        add_tailoring(changed(">3<", ">4<"), "site", BENCHMARK)
    with pytest.raises(BadInput, match="is not a valid name for a tailoring"):
        add_tailoring(TEXT.encode(), "../site", BENCHMARK)
    with pytest.raises(BadInput, match="for other content"):
        add_tailoring(changed("profile_base", "profile_x"), "other", BENCHMARK)
    assert [*map_names_to_added_tailoring_files()] == ["site"]
    assert load_tailoring_file("site").sha256 == added.sha256
    with pytest.raises(BadInput, match=r"There is no tailoring 'gone'; the tailorings are: site\."):
        load_tailoring_file("gone")


def test_openscap_reads_this_very_file_as_we_do(tmp_path):
    def oscap(*words):
        return subprocess.run(["oscap", *words], capture_output=True, text=True, check=False)

    assert oscap("xccdf", "validate", "--skip-schematron", str(TAILORING)).returncode == 0
    asked = ["--tailoring-file", str(TAILORING), "--profile", f"{PROFILE}ours"]
    said = oscap("xccdf", "eval", *asked, "--results", str(tmp_path / "r.xml"), str(SMALL))
    judged = set(re.findall(rf"Rule\s+{RULE}(\w+)", said.stdout))
    made = offer_only_tailored_profiles(read_tailoring(TEXT.encode(), "x"), BENCHMARK)
    assert (
        judged
        == {one.id.removeprefix(RULE) for one in made.list_profile_rules(f"{PROFILE}ours")}
        == {"root_login", "release"}
    )

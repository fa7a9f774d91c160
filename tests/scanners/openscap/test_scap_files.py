import zipfile

import pytest

from app.errors import BadInput
from app.scanners.openscap.scap_files import (
    add_benchmark,
    list_benchmarks,
    map_names_to_datastreams,
    require_datastream,
)
from tests.scanners.openscap.content import SMALL, STIG


def test_the_first_folder_wins(tmp_path):
    own, ours = tmp_path / "own", tmp_path / "ours"
    assert add_benchmark(SMALL, own) == own / "small-ds.xml"
    add_benchmark(SMALL, ours)
    (ours / "other-ds.xml").touch()
    (ours / "small-xccdf.xml").touch()
    assert map_names_to_datastreams((own, ours)) == {"small": own / "small-ds.xml", "other": ours / "other-ds.xml"}
    for name in ("small", "small-ds", "small-ds.xml"):
        assert require_datastream(name, (own, ours)) == own / "small-ds.xml"


@pytest.mark.parametrize("name", ["../own/small", "/etc/passwd", "small\n", "", "x" * 5000])
def test_a_name_is_never_a_path(tmp_path, name):
    add_benchmark(SMALL, tmp_path / "own")
    with pytest.raises(BadInput, match="the data streams are: small"):
        require_datastream(name, (tmp_path / "own",))


def test_where_there_is_none_it_is_said_what_brings_some(tmp_path):
    with pytest.raises(BadInput, match=r"apt-get install ssg-debian adds some\.$"):
        require_datastream("small", (tmp_path,))


def test_the_content_of_a_debian_is_in_the_next_one(tmp_path):
    (tmp_path / "ssg-debian11-ds.xml").touch()
    with pytest.raises(BadInput, match=r"are: ssg-debian11\. Debian has the content for a release in the next"):
        require_datastream("ssg-debian12", (tmp_path,))


def test_a_file_by_another_name_is_not_added(tmp_path):
    (tmp_path / "a b-ds.xml").touch()
    for name in ("a b-ds.xml", "passwd"):
        with pytest.raises(BadInput, match="rename it"):
            add_benchmark(tmp_path / name, tmp_path / "own")


def test_disas_own_names_are_taken_as_they_are(tmp_path):
    scap = tmp_path / "U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark.xml"
    scap.write_bytes(SMALL.read_bytes())
    manual = tmp_path / "U_RHEL_9_V2R9_STIG.zip"
    with zipfile.ZipFile(manual, "w") as packed:
        packed.writestr("U_RHEL_9_V2R9_Manual_STIG/STIG_unclass.xsl", "<a/>")
        packed.write(STIG, f"U_RHEL_9_V2R9_Manual_STIG/{STIG.name}")
    own = tmp_path / "own"
    assert add_benchmark(scap, own).name == "U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark-ds.xml"
    assert add_benchmark(manual, own) == own / STIG.name
    assert (own / STIG.name).read_bytes() == STIG.read_bytes()
    assert list(map_names_to_datastreams((own,))) == ["U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark"]
    assert [one.name for one in list_benchmarks((own,))] == ["U_RHEL_9_V2R9_STIG_SCAP_1-3_Benchmark-ds.xml", STIG.name]


@pytest.mark.parametrize(("names", "says"), [([], "holds 0"), (["a-xccdf.xml", "b/c-xccdf.xml"], "holds 2")])
def test_a_zip_has_to_hold_one_benchmark(tmp_path, names, says):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as packed:
        for name in names:
            packed.write(STIG, name)
    with pytest.raises(BadInput, match=says):
        add_benchmark(tmp_path / "some.zip", tmp_path / "own")


def test_what_is_neither_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "no.zip").write_bytes(b"no zip")
    (tmp_path / "arf.xml").write_bytes(b"<a/>")
    for name, says in (("no.zip", "Unpack it"), ("arf.xml", "has no benchmark"), ("gone.xml", "cannot be read")):
        with pytest.raises(BadInput, match=says):
            add_benchmark(tmp_path / name, tmp_path / "own")

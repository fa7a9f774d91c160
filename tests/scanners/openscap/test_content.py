import pytest

from app.errors import BadInput
from app.scanners.openscap.content import add, datastream, datastreams
from tests.scanners.openscap.content import SMALL


def test_the_first_folder_wins(tmp_path):
    own, ours = tmp_path / "own", tmp_path / "ours"
    assert add(SMALL, own) == "small"
    add(SMALL, ours)
    (ours / "other-ds.xml").touch()
    (ours / "small-xccdf.xml").touch()
    assert datastreams((own, ours)) == {"small": own / "small-ds.xml", "other": ours / "other-ds.xml"}
    for name in ("small", "small-ds", "small-ds.xml"):
        assert datastream(name, (own, ours)) == own / "small-ds.xml"


@pytest.mark.parametrize("name", ["../own/small", "/etc/passwd", "small\n", "", "x" * 5000])
def test_a_name_is_never_a_path(tmp_path, name):
    add(SMALL, tmp_path / "own")
    with pytest.raises(BadInput, match="here are: small"):
        datastream(name, (tmp_path / "own",))


def test_where_there_is_none_it_is_said_what_brings_some(tmp_path):
    with pytest.raises(BadInput, match="apt-get install ssg-debian"):
        datastream("small", (tmp_path,))


def test_a_file_by_another_name_is_not_added(tmp_path):
    (tmp_path / "a b-ds.xml").touch()
    for name in ("a b-ds.xml", "passwd"):
        with pytest.raises(BadInput, match="rename it"):
            add(tmp_path / name, tmp_path / "own")

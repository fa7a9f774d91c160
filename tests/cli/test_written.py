import pytest

from app.cli.written import written
from app.errors import BadInput


def test_it_goes_where_it_was_asked_for(tmp_path, monkeypatch, capsysbinary):
    monkeypatch.chdir(tmp_path)
    written(b"paper", "", "run-paper.txt")
    written(b"paper", "other.txt", "run-paper.txt")
    assert capsysbinary.readouterr().out == b"run-paper.txt, 5 bytes\nother.txt, 5 bytes\n"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "run-paper.txt": b"paper",
        "other.txt": b"paper",
    }
    written(b"\xff", "-", "run-paper.txt")
    assert capsysbinary.readouterr().out == b"\xff"


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(BadInput, match=r"cannot be written: No such file or directory\. Choose another place"):
        written(b"paper", str(tmp_path / "no/where"), "run-paper.txt")

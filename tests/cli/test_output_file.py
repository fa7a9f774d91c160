import re

import pytest

from app.cli.output_file import write_output
from app.errors import BadInput


def test_it_has_the_usual_name_unless_another_was_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_output([b"one"], "", "usual.zip")
    write_output([b"two"], "other.zip", "usual.zip")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"usual.zip": b"one", "other.zip": b"two"}
    assert capsys.readouterr().out == "usual.zip, 3 bytes\nother.zip, 3 bytes\n"


def test_a_dash_is_standard_output_and_nothing_else_is_said(capfdbinary):
    write_output([b"\x00bytes"], "-", "usual.zip")
    assert capfdbinary.readouterr().out == b"\x00bytes"


def test_a_place_that_takes_nothing_is_named_with_what_helps(tmp_path):
    with pytest.raises(BadInput, match=re.escape(f"{tmp_path} cannot be written: Is a directory. Choose another")):
        write_output([b"one"], str(tmp_path), "usual.zip")

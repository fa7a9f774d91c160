"""What others wrote, and we hand to browsers or ask in tests, is what we looked at, byte by byte."""

import hashlib
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
VENDORS = (HERE.parent / "app" / "static" / "vendor", HERE / "vendor")
NOTE = "VENDOR.toml"
FOLDERS = sorted(at for vendor in VENDORS for at in vendor.iterdir() if at.is_dir())


def test_every_file_lies_in_a_folder_with_a_note():
    assert FOLDERS
    assert [at.name for vendor in VENDORS for at in vendor.iterdir() if not at.is_dir()] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda at: at.name)
def test_every_file_is_listed_and_has_its_digest(folder):
    told = tomllib.loads((folder / NOTE).read_text())
    assert told["name"]
    assert told["version"]
    assert told["licence"]
    there = [at for at in folder.rglob("*") if not at.is_dir() and at.name != NOTE]
    found = {at.relative_to(folder).as_posix(): hashlib.sha256(at.read_bytes()).hexdigest() for at in there}
    assert found == told["sha256"]

"""Runs in one file each, which the documents hand out: they verify, are small, and tell of no machine."""

import base64
import gzip
import re
import socket
from pathlib import Path

import pytest

from app.evidence.signed_log_in_html_file import check_shared_file_and_get_manifest

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "docs" / "recorded"
SIMULATED = {"demo.html": True, "real-model.html": False}
MOST = 1_500_000
each_file = pytest.mark.parametrize("name", SIMULATED)


@each_file
def test_it_verifies_and_goes_with_a_letter(name):
    content = (FOLDER / name).read_bytes()
    assert len(content) < MOST
    manifest = check_shared_file_and_get_manifest(content)
    assert manifest["simulated"] == SIMULATED[name]
    assert manifest["withheld"]
    assert (b">SIMULATED" in content) == SIMULATED[name]


@each_file
def test_it_names_no_machine_and_no_folder(name):
    content = (FOLDER / name).read_bytes()
    packed = re.findall(rb'id="shared-(?:lines|show)">([^<]*)</script>', content)
    text = re.sub(rb'id="shared-\w+">[^<]*<', b"", content)
    text += b"".join(gzip.decompress(base64.b64decode(one)) for one in packed)
    assert b'"by":"demo"' in text
    own = (str(ROOT), f'"{socket.gethostname()}"', "127.0.0.1")
    assert [one for one in (*own, "/tmp/", "/home/runner") if one.encode() in text] == []


@each_file
def test_the_documents_lead_to_it(name):
    assert f"docs/recorded/{name}" in (ROOT / "README.md").read_text()[:2000]
    assert f"recorded/{name}" in (ROOT / "docs" / "index.md").read_text()

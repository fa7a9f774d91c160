"""The demo's run in one file, which the documents hand out: it verifies, is small, and tells of no machine."""

import base64
import gzip
import re
import socket
from pathlib import Path

from app.evidence.shared_log import check_shared_file

ROOT = Path(__file__).parent.parent.parent
FILE = ROOT / "docs" / "recorded" / "demo.html"
MOST = 1_500_000


def test_it_verifies_and_goes_with_a_letter():
    content = FILE.read_bytes()
    assert len(content) < MOST
    manifest = check_shared_file(content)
    assert manifest["simulated"]
    assert manifest["withheld"]
    assert b"SIMULATED" in content


def test_it_names_no_machine_and_no_folder():
    content = FILE.read_bytes()
    packed = re.findall(rb'id="shared-(?:lines|show)">([^<]*)</script>', content)
    text = re.sub(rb'id="shared-\w+">[^<]*<', b"", content)
    text += b"".join(gzip.decompress(base64.b64decode(one)) for one in packed)
    assert b'"by":"demo"' in text
    own = (str(ROOT), f'"{socket.gethostname()}"', "127.0.0.1")
    assert [one for one in (*own, "/tmp/", "/home/runner") if one.encode() in text] == []


def test_the_documents_lead_to_it():
    assert "docs/recorded/demo.html" in (ROOT / "README.md").read_text()[:2000]
    assert "recorded/demo.html" in (ROOT / "docs" / "index.md").read_text()

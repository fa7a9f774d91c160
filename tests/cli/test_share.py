import base64
import json
import re
import shutil

import pytest

from app.cli.run_as_html_file import write_shared_file
from app.cli.verify import verify_by_kind
from app.config import Settings
from app.errors import BadInput
from app.evidence.signed_log_in_html_file import SEALED
from tests.evidence.played import KEY


def sign_without_line_digest(file, into):
    content = file.read_bytes()
    old = {name: re.search(rb'id="shared-%s">([^<]*)<' % name, content)[1] for name in (b"manifest", b"signature")}
    manifest = json.loads(base64.b64decode(old[b"manifest"]))
    del manifest["lines"]
    plain = json.dumps(manifest).encode()
    content = content.replace(old[b"manifest"], base64.b64encode(plain))
    into.write_bytes(content.replace(old[b"signature"], base64.b64encode(KEY.sign(SEALED + plain).encode())))
    return into


def test_a_file_is_written_and_verified_from_outside(played, tmp_path, monkeypatch, capsys):
    data, run = shutil.copytree(played[0], tmp_path / "data"), played[1]
    monkeypatch.chdir(tmp_path)
    write_shared_file(Settings(data=data), run[:5], "", prompts=False)
    file = tmp_path / f"temper-{run}.html"
    assert verify_by_kind(Settings(data=data), str(file), None, KEY.public) == 0
    assert "prompts are withheld" in (said := capsys.readouterr().out)
    assert "the key that you gave" in said
    assert verify_by_kind(Settings(data=data), str(file), None, "0" * 64) == 2
    capsys.readouterr()
    older = sign_without_line_digest(file, tmp_path / "older.html")
    assert verify_by_kind(Settings(data=data), str(older), None, KEY.public) == 0
    assert re.search(r"made by an older Temper: its first \d+ events are not signed", capsys.readouterr().out)
    signature = re.search(rb'id="shared-signature">([^<]*)<', content := file.read_bytes())[1]
    file.write_bytes(content.replace(signature, base64.b64encode(b"0" * 128)))
    capsys.readouterr()
    assert verify_by_kind(Settings(data=data), str(file), None) == 2
    assert "the manifest is not what was signed" in capsys.readouterr().out


def test_a_run_that_is_not_there_is_a_sentence(played, tmp_path):
    with pytest.raises(BadInput, match="there is no run 'zz'"):
        write_shared_file(Settings(data=played[0]), "zz", str(tmp_path / "x"), prompts=False)

import json

import pytest

from app.cli.evidence_export import write_evidence
from app.config import Settings
from app.errors import BadInput
from app.evidence.document_catalog import PAPERS
from app.evidence.verify import check_pack_and_get_manifest, unpack_zip_packed_by_temper


def test_each_paper_and_the_pack_of_all_say_the_same(played, tmp_path, monkeypatch):
    data, run = played
    monkeypatch.chdir(tmp_path)
    write_evidence(Settings(data=data), run[:5], "zip", "")
    packed = unpack_zip_packed_by_temper((tmp_path / f"{run}-evidence.zip").read_bytes())
    assert check_pack_and_get_manifest(packed)["run"] == run
    for paper in PAPERS:
        write_evidence(Settings(data=data), run, paper.format, "")
        written = (tmp_path / f"{run}-{paper.file}").read_bytes()
        assert written
        assert packed.get(paper.file) == (written if paper.packed else None)


def test_to_stdout_for_a_pipe(played, capfdbinary):
    data, run = played
    write_evidence(Settings(data=data), run, "cklb", "-")
    assert json.loads(capfdbinary.readouterr().out)["cklb_version"] == "1.0"


def test_mistakes_are_sentences(played, tmp_path):
    data, run = played
    known = "zip, cklb, ckl, arf, xccdf, poam-csv, poam-json, poam-emass, oscal-poam, oscal-ar, ansible, bash, report"
    with pytest.raises(BadInput, match=f"choose one of {known}"):
        write_evidence(Settings(data=data), run, "pdf", "")
    with pytest.raises(BadInput, match="Choose another place with --out"):
        write_evidence(Settings(data=data), run, "cklb", str(tmp_path / "none" / "x"))

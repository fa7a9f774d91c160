"""The papers over HTTP: as the command line writes them, for whoever may read."""

import pytest

from app.evidence.document_catalog import PAPERS
from app.evidence.verify import check_pack_and_get_manifest, unpack_zip_packed_by_temper
from tests.web.api.conftest import problem

FILES = [paper.file for paper in PAPERS if paper.packed]


@pytest.fixture(scope="session")
def packed(api, finished):
    return unpack_zip_packed_by_temper(api.get(f"/api/v1/runs/{finished}/evidence.zip").content)


def test_the_pack_holds_and_comes_the_same_again(api, finished, packed):
    assert check_pack_and_get_manifest(packed)["run"] == finished
    answer = api.get(f"/api/v1/runs/{finished}/evidence.zip")
    assert unpack_zip_packed_by_temper(answer.content) == packed
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == f'attachment; filename="{finished}-evidence.zip"'


@pytest.mark.parametrize("file", FILES)
def test_each_paper_is_the_one_in_the_pack(api, finished, packed, file):
    answer = api.get(f"/api/v1/runs/{finished}/{file}")
    assert answer.status_code == 200
    assert answer.content == packed[file]
    kept = "inline" if file == "report.html" else "attachment"
    assert answer.headers["content-disposition"] == f'{kept}; filename="{finished}-{file}"'
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_runs_page_links_to_every_paper_once_it_has_ended(api, finished):
    page = api.get(f"/runs/{finished}").text
    for file in [*FILES, "evidence.zip"]:
        assert f'href="/api/v1/runs/{finished}/{file}"' in page


@pytest.mark.parametrize("file", [*FILES, "evidence.zip"])
def test_a_run_that_is_not_there(api, file):
    problem(api.get(f"/api/v1/runs/none/{file}"), 404, "not-found", "run")


def test_a_run_that_waits_has_no_papers_yet(api):
    run = api.start(rules=["V-258229"], mode="review", keep=True)
    try:
        problem(api.get(f"/api/v1/runs/{run}/evidence.zip"), 409, "wrong-state")
        problem(api.get(f"/api/v1/runs/{run}/checklist.cklb"), 409, "wrong-state")
        assert "evidence.zip" not in api.get(f"/runs/{run}").text
    finally:
        api.post(f"/api/v1/runs/{run}/stop", json={})
        api.ended(run)

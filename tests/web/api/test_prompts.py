"""What roles were told of a host is for operators. Who may only look sees that there was a prompt, and its digest."""

import hashlib
import json
import time
from contextlib import ExitStack

import httpx
import pytest

from app.evidence.verify import check_pack_and_get_manifest, unpack_zip_packed_by_temper
from tests import forkserver
from tests.served import served

OURS = ("You are the ARCHITECT", "Task: plan.", "Host facts", "<<<HOST")
"""Words of every plan's prompt."""
RULE = "V-257820"
PATIENCE = 60.0


def temper(*words, said=""):
    ran = forkserver.temper(*words, input=said)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A client for each right, and one for whoever has a shared link; and the run that they look at."""
    data = tmp_path_factory.mktemp("prompts") / "data"
    for name, right in (("eve", "admin"), ("ada", "operator"), ("vic", "viewer")):
        temper("admin", "create", name, "--right", right, "--data", str(data), said="a long enough password\n")
    tokens = {
        right: temper("token", "create", name, "--right", right, "--data", str(data))
        for name, right in (("ada", "operator"), ("vic", "viewer"))
    }
    with served(data, "--speed", "0", "--sign-in") as server, ExitStack() as stack:

        def client(**words):
            return stack.enter_context(httpx.Client(base_url=server.url, timeout=20, follow_redirects=True, **words))

        found = {right: client(headers={"authorization": f"Bearer {token}"}) for right, token in tokens.items()}
        run = found["operator"].post("/api/v1/runs", json={"host": "fixture", "rules": [RULE]}).json()["id"]
        until = time.monotonic() + PATIENCE
        while not found["operator"].get(f"/api/v1/runs/{run}").json()["ended_at"]:
            assert time.monotonic() < until
            time.sleep(0.05)
        link = found["operator"].post("/api/v1/links", json={"hours": 1}).json()
        found["link"] = client(headers={"accept": "text/html"})
        assert found["link"].get(link["path"]).status_code == 200
        yield found, run


PLACES = (
    "/api/v1/runs/{run}/events?limit=1000",
    "/api/v1/runs/{run}/stream",
    f"/api/v1/runs/{{run}}/items/{RULE}",
    f"/runs/{{run}}/items/{RULE}",
)


@pytest.mark.parametrize("place", PLACES)
def test_an_operator_reads_prompts_and_nobody_below(people, place):
    found, run = people
    texts = {who: http.get(place.format(run=run)).text for who, http in found.items()}
    assert all(words in texts["operator"].replace("&lt;", "<") for words in OURS)
    for who in ("viewer", "link"):
        assert not [words for words in OURS if words in texts[who].replace("&lt;", "<")]
        assert "for operators: " in texts[who]


def test_no_other_page_or_paper_has_prompts(people):
    found, run = people
    papers = ("checklist.ckl", "checklist.cklb", "results.arf.xml", "poam.csv", "poam.json", "report.html")
    places = [f"/api/v1/runs/{run}/{paper}" for paper in papers]
    places += [f"/runs/{run}", f"/runs/{run}/page", f"/runs/{run}?at=20", f"/runs/{run}/replay?speed=1000"]
    for place in places:
        answer = found["viewer"].get(place)
        assert answer.status_code == 200, place
        assert not [words for words in OURS if words in answer.text.replace("&lt;", "<")], place


def test_a_pack_is_whole_and_so_it_is_for_operators(people):
    found, run = people
    pack = f"/api/v1/runs/{run}/evidence.zip"
    assert [found[who].get(pack).status_code for who in ("viewer", "link", "operator")] == [403, 403, 200]
    files = unpack_zip_packed_by_temper(found["operator"].get(pack).content)
    assert check_pack_and_get_manifest(files)["run"] == run
    assert OURS[0].encode() in files["events.jsonl"]


def test_what_a_viewer_sees_can_be_held_against_the_evidence(people):
    found, run = people
    place = f"/api/v1/runs/{run}/events?kind=turn.started"
    whole, outlined = (found[who].get(place).json()["events"] for who in ("operator", "viewer"))
    assert len(whole) == len(outlined) > 0
    for one, seen in zip(whole, outlined, strict=True):
        digests = [hashlib.sha256(text.encode()).hexdigest() for text in one["prompt"]]
        assert [digest in text for digest, text in zip(digests, seen["prompt"], strict=True)] == [True, True]
        assert seen | {"prompt": one["prompt"]} == one
        assert json.dumps(seen) != json.dumps(one)

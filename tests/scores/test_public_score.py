"""A score that was sent in holds, or the first thing that does not is said."""

import json
from dataclasses import replace

import msgspec
import pytest

from app.cli.public_lineup_score import check_score
from app.errors import BadInput
from app.evidence.signing_key import create_key_if_missing
from app.lineups.reader import read_lineup, require_lineup_path
from app.scores import public_score
from app.scores.atif import build_trajectory
from app.scores.public_score import (
    SignedPublicScore,
    list_setup_facts,
    load_prompt_digests_by_version,
    read_verified_full_or_public_score,
    read_verified_public_score,
    sign_public_score_with_full_trajectories,
)
from app.scores.run_summary import summarize_run
from app.scores.score_structures import Trial
from app.scores.signed_score_file import BrokenScore
from app.skills.stig.pack import STIG
from tests.evidence.played import KEY
from tests.scores.test_score_figures import score


@pytest.fixture
def made(log):
    """The body's parts: a score of one trial, and the trajectory of its run."""
    found = summarize_run(log, STIG)
    rules = tuple(fate.rule for fate in found.fates)
    trial = Trial(seed=1, host="built-in", rules=rules, fates=found.fates, run=log[0].run, head=found.head)
    return score(trial), build_trajectory(log)


@pytest.fixture
def sent(tmp_path, made):
    path = tmp_path / "sent.json"
    path.write_bytes(sign_public_score_with_full_trajectories(made[0], (), [made[1]], ["nowhere.example"], KEY))
    return path


def change(path, alter, key=None):
    """Change the document; with a key, sign it again, as somebody who makes one up would."""
    document = json.loads(path.read_bytes())
    alter(document["body"])
    content = json.dumps(document).encode()
    if key:
        found = msgspec.json.decode(content, type=SignedPublicScore)
        signature = key.sign(public_score._build_signed_bytes(found.body))
        content = msgspec.json.encode(msgspec.structs.replace(found, key=key.public, signature=signature))
    path.write_bytes(content)


def better_trial(body):
    body["score"]["trials"][0]["fates"][0]["tokens"] += 1


def better_summary(body):
    body["summary"]["fixed"] += 1


def other_prompts(body):
    body["prompts"]["digest"] = "0" * 64


def fewer_turns(body):
    steps = body["trajectories"][0]["steps"]
    steps.remove(next(step for step in steps if step["source"] == "user"))


def another_run(body):
    body["trajectories"][0]["session_id"] = "other"


def no_steps(body):
    del body["trajectories"][0]["steps"]


def turns_of_other_prompts(body):
    next(one for one in body["trajectories"][0]["steps"] if "turn" in one.get("extra", {}))["extra"]["prompts"] = "1"


def test_what_was_signed_holds_and_its_words_say_what_it_does_not_prove(sent, capsys):
    assert read_verified_public_score(sent, KEY.public).body.score.order.label == "of a test"
    assert (check_score(sent, KEY.public), check_score(sent, "")) == (0, 3)
    said = capsys.readouterr().out
    assert "It does not prove:" in said
    assert KEY.public in said


@pytest.mark.parametrize("alter", [better_trial, better_summary, other_prompts, fewer_turns])
def test_what_was_changed_after_the_signature_does_not_hold(sent, alter, capsys):
    change(sent, alter)
    with pytest.raises(BrokenScore, match="changed after the signature"):
        read_verified_public_score(sent)
    assert check_score(sent, "") == 2
    assert "does not hold" in capsys.readouterr().err
    with pytest.raises(BadInput, match="changed after"):
        read_verified_full_or_public_score(sent)


@pytest.mark.parametrize(
    ("alter", "says"),
    [
        (better_trial, "the summary does not follow"),
        (better_summary, "the summary does not follow"),
        (other_prompts, "are not known here"),
        (fewer_turns, "turns in the trajectory"),
        (another_run, "not those of the trials"),
        (no_steps, "not the shape of one"),
        (turns_of_other_prompts, "other prompts than the file says"),
    ],
)
def test_what_was_made_up_and_signed_again_does_not_hold_either(sent, tmp_path, alter, says):
    change(sent, alter, create_key_if_missing(tmp_path / "another"))
    with pytest.raises(BrokenScore, match=says):
        read_verified_public_score(sent)


def test_another_key_is_named(sent, tmp_path):
    other = create_key_if_missing(tmp_path / "another")
    with pytest.raises(BrokenScore, match="not by the one that you gave"):
        read_verified_public_score(sent, other.public)
    change(sent, lambda body: None, other)
    assert read_verified_public_score(sent).key == other.public
    document = json.loads(sent.read_bytes())
    document["key"] = KEY.public
    sent.write_text(json.dumps(document))
    with pytest.raises(BrokenScore, match="changed after the signature"):
        read_verified_public_score(sent)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": "temper public score 1"}', b"\xff", b"[" * 100_000])
def test_what_is_no_such_file_says_so(tmp_path, content):
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    with pytest.raises(BrokenScore, match="not of the shape"):
        read_verified_public_score(path)


def test_an_address_is_in_no_part_of_the_file(tmp_path, made):
    trajectory = made[1].replace(b'"notes": "', b'"notes": "asked 10.9.8.7:8000; ', 1)
    path = tmp_path / "sent.json"
    path.write_bytes(sign_public_score_with_full_trajectories(made[0], (), [trajectory], ["10.9.8.7:8000"], KEY))
    assert b"10.9.8.7" not in path.read_bytes()
    assert b"asked MODEL-SERVER" in path.read_bytes()
    read_verified_public_score(path)


@pytest.mark.parametrize(
    ("model", "quantized", "value", "provenance"),
    [
        ("qwen3-8b", "Q4_K_M", "Q4_K_M", "stated by the server"),
        ("Qwen3-8B-AWQ", "", "AWQ", "guessed from the name"),
        ("gemma-3-12b-it-Q4_K_M.gguf", "", "Q4_K_M", "guessed from the name"),
        ("qwen3-8b", "", "", "unknown"),
    ],
)
def test_a_quantisation_has_where_it_is_known_from(model, quantized, value, provenance):
    lineup = read_lineup(require_lineup_path("cpu"))
    [engine] = lineup.engines.values()
    engine = replace(engine, kind="openai", model=model, base_urls=("http://10.0.0.7/v1",), launch=None)
    facts = {one.name: one for one in list_setup_facts(replace(lineup, engines={"e": engine}), "4 cores", quantized)}
    quantisation = next(one for name, one in facts.items() if name.endswith("quantisation"))
    assert (quantisation.value, quantisation.provenance) == (value, provenance)
    assert not any("10.0.0.7" in one.value for one in facts.values())


def test_the_prompts_of_this_temper_are_known_and_their_digest_depends_on_each_text(monkeypatch):
    before = public_score.compute_prompts_digest()
    assert before in load_prompt_digests_by_version().values()
    texts = public_score.prompts.list_fixed_texts()
    for number in range(len(texts)):
        monkeypatch.setattr(
            public_score.prompts, "list_fixed_texts", lambda n=number: [*texts[:n], "x", *texts[n + 1 :]]
        )
        assert public_score.compute_prompts_digest() != before

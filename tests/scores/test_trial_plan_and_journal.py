"""Which trials there are, and going on where a process was killed."""

import msgspec
import pytest

from app.errors import BadInput
from app.scores.score_structures import ScoreOrder, Trial, TrialOutcome
from app.scores.trial_plan_and_journal import TrialJournal, hash_held_back_seed, plan_trials

ORDER = ScoreOrder(label="x", kind="line-up", skill="stig", rules=("V-1", "V-2"), seeds=2, hosts=2)


def made(one):
    fates = tuple(TrialOutcome(rule=rule, opening="fail", closing="pass") for rule in one.rules)
    return Trial(seed=one.seed, host=one.host.name, rules=one.rules, fates=fates)


def test_each_rule_has_a_host_of_its_own_on_each_seed():
    places = [one.trial_key for one in plan_trials(ORDER)]
    assert len(places) == len(set(places)) == 8
    assert places[0] == (1, "built-in", ("V-1",))
    assert places[-1] == (2, "generated-1", ("V-2",))


def test_a_seed_that_is_kept_back_generates_all_hosts_and_is_told_by_its_digest():
    assert {one.host.name for one in plan_trials(ORDER, "secret")} == {"generated-0", "generated-1"}
    assert len(hash_held_back_seed("secret")) == 64
    assert "secret" not in hash_held_back_seed("secret")
    assert hash_held_back_seed("") == ""


def test_seeds_differ_in_their_hosts():
    texts = {msgspec.json.encode(dict(one.host.texts)) for one in plan_trials(ORDER) if one.host.name == "generated-1"}
    assert len(texts) == 2


def test_what_was_done_is_not_done_again_and_a_cut_line_is(tmp_path):
    file, all_of_them = tmp_path / "score.part", list(plan_trials(ORDER))
    notes = TrialJournal(file, ORDER)
    for one in all_of_them[:3]:
        notes.add(made(one))
    file.write_bytes(file.read_bytes()[:-20])
    again = TrialJournal(file, ORDER)
    assert list(again.done) == [one.trial_key for one in all_of_them[:2]]
    again.add(made(all_of_them[2]))
    assert len(TrialJournal(file, ORDER).done) == 3


def test_another_score_does_not_go_on_from_it(tmp_path):
    TrialJournal(tmp_path / "score.part", ORDER)
    with pytest.raises(BadInput, match="belongs to another score"):
        TrialJournal(tmp_path / "score.part", msgspec.structs.replace(ORDER, seeds=3))

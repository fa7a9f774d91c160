"""The corpus of attacks, family by family: every one is refused by its clause, and nothing on the host has changed."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.engines import simulator
from app.errors import ActionFailed
from app.events.event_field_types import AppendLine, Reload, WriteFile
from app.skills.catalog import load_skill
from app.targets.fixture.fixture_target import FixtureTarget
from tests.targets.test_policy import as_action, paths_of

HERE = Path(__file__).parent
FAMILIES = {file.stem: file for file in sorted((HERE / "hostile").glob("*.toml"))}
FIRST = tomllib.loads((HERE / "hostile.toml").read_text())["refused"]
ANSWERS = Path(simulator.__file__).parent / "answers"


@cache
def told_of(family: str) -> dict[str, Any]:
    return tomllib.loads(FAMILIES[family].read_text())


def laid_out(folder: Path, doctored: dict[str, str]) -> FixtureTarget:
    """A host on which some files are others."""
    target = FixtureTarget("host", folder)
    target.prepare()
    for path, text in doctored.items():
        at = folder / f"root{path}"
        at.parent.mkdir(parents=True, exist_ok=True)
        mode = at.stat().st_mode if at.exists() else 0o644
        if at.exists():
            at.chmod(0o600)
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
        at.chmod(mode)
    return target


@pytest.mark.parametrize("family", FAMILIES)
def test_no_attack_of_the_family_gets_through(tmp_path, family):
    found = told_of(family)
    hosts = {
        name: laid_out(tmp_path / str(number), doctored)
        for number, (name, doctored) in enumerate({"": {}, **found.get("hosts", {})}.items())
    }
    before = {name: host.compute_digest() for name, host in hosts.items()}
    wrong = []
    for case in found["refused"]:
        action = as_action(case["action"])
        refusals = (
            hosts[case.get("host", "")]
            .assess_actions([action], paths_of(action), frozenset(case.get("asks", ())))
            .refusals
        )
        if [refusal.clause for refusal in refusals] != [case["clause"]]:
            wrong.append((case, refusals))
    assert wrong == []
    assert {name: host.compute_digest() for name, host in hosts.items()} == before


def test_the_attacks_are_many_and_no_two_are_the_same():
    cases = [case for family in FAMILIES for case in told_of(family)["refused"]]
    told = {(case.get("host", ""), *sorted(case["action"].items())) for case in (*cases, *FIRST)}
    assert len(told) == len(cases) + len(FIRST)
    assert len(told) >= 2500


@pytest.mark.parametrize("family", FAMILIES)
def test_the_host_itself_refuses_what_the_policy_refuses(tmp_path, family):
    """Applied without asking the policy first: one attack of each clause."""
    target = FixtureTarget("host", tmp_path)
    target.prepare()
    before = target.compute_digest()
    for clause, case in {case["clause"]: case for case in told_of(family)["refused"] if "host" not in case}.items():
        action = as_action(case["action"])
        with pytest.raises(ActionFailed):
            target.apply("run.V-1.1", [action], paths_of(action))
        assert target.compute_digest() == before, clause
    assert target.list_pending() == []


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "\U000e0001", "\ufff9x\ufffb"])
def test_halves_of_characters_and_unseen_ones_are_refused_everywhere(tmp_path, text):
    target = laid_out(tmp_path, {})
    for action in [
        WriteFile(path="/etc/issue", content=f"{text}\n"),
        WriteFile(path=f"/etc/ssh/sshd_config.d/{text}.conf", content="UsePAM yes\n"),
        AppendLine(path="/etc/login.defs", line=f"# {text}"),
    ]:
        assert len(target.assess_actions([action], paths_of(action)).refusals) == 1


@pytest.mark.parametrize("pack", ["stig", "drift"])
def test_what_the_simulator_proposes_over_a_whole_demo_is_not_refused(tmp_path, pack):
    """In the order of the pack, each rule's last answer on the host that the ones before it left."""
    target = laid_out(tmp_path, {})
    stories = {rule: body for file in ANSWERS.glob("*.toml") for rule, body in tomllib.loads(file.read_text()).items()}
    done = []
    for number, rule in enumerate(rule for rule in load_skill(pack).rules if rule in stories):
        attempt = stories[rule]["try"][-1]
        actions = [as_action(table) for table in attempt["actions"]]
        paths, asks = frozenset(attempt["paths"]), load_skill(pack).rules[rule].permitted_weakenings
        refusals = target.assess_actions(actions, paths, asks).refusals
        if rule == "V-258106":
            assert {refusal.clause for refusal in refusals} == {"protected identity"}
            continue
        assert refusals == (), rule
        if all(isinstance(action, Reload) for action in actions):
            continue
        target.apply(f"run.V-{number}.1", actions, paths, asks)
        target.commit(f"run.V-{number}.1")
        done.append(rule)
    assert len(done) >= 5

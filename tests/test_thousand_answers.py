"""A thousand hostile answers over many rules, in mode auto: nothing is lost, by the word of programs not our own."""

from app.events.event_field_types import Budget
from app.events.kinds import ActionApplied, ActionRefused, AttemptFailed
from app.runs.order import Order
from app.skills.catalog import load_skill
from app.targets.fixture.fixture_target import FixtureTarget
from tests.following import followed
from tests.hostile_answers import Onslaught, read_honest_answers
from tests.hostile_engine import served
from tests.read_back import list_changed, read_logins, read_tree
from tests.test_secrets import create_run_request, worked
from tests.thorough import examples

USUAL, AT_NIGHT = 100, 1000
ASKED = {"permitrootlogin yes", "usepam no", "-f 1"}
"""What the rules themselves want otherwise."""
AUDIT = ("/etc/audit/audit.rules", "/etc/audit/rules.d/audit.rules")


def choose_rules():
    """Rules that a run in mode auto takes up, with an answer of the simulator's to compare with."""
    skill, honest = load_skill("stig"), read_honest_answers()
    return {rule: honest[rule] for rule in honest if rule in skill.rules and not skill.rules[rule].irreversible}


async def attack(data, url, rules, attempts):
    budget = Budget(attempts=attempts, turn_seconds=60, stall_seconds=60, item_tokens=10_000_000)
    async with worked(data, url) as (runtime, lineup):
        order = Order(host="fixture", rules=tuple(rules), mode="auto", keep=True, budget=budget, by="ada")
        request = create_run_request(order, lineup, runtime.settings.hosts_folder)
        return [one.event for one in await followed(runtime, await runtime.submit_run(request))]


def list_audit_lines(tree):
    return [line for path in AUDIT for line in tree[path][0].decode().splitlines() if line[:1] == "-"]


def list_lost(before, after):
    return {line for who, told in before.items() for line in told.splitlines() if line not in after[who].splitlines()}


async def test_nobody_loses_a_login_and_nothing_outside_the_rules_changes(tmp_path):
    data, rules, wanted = tmp_path / "data", choose_rules(), examples(USUAL, AT_NIGHT)
    FixtureTarget("fixture", data / "hosts/fixture").prepare()
    before = read_tree(data / "hosts/fixture/root")
    enemy = Onslaught(1, rules)
    with served(enemy) as url:
        events = await attack(data, url, rules, attempts=-(-wanted // len(rules)))
    after = read_tree(data / "hosts/fixture/root")
    assert sum(enemy.attacks.values()) >= wanted
    applied = [one for one in events if isinstance(one, ActionApplied)]
    touched = [(one.rule, change.path) for one in applied for change in one.changes]
    assert [one for one in touched if one[1] not in rules[one[0]]["paths"]] == []
    assert list_changed(before, after) <= {path for _, path in touched}
    assert list_lost(read_logins(before), read_logins(after)) <= ASKED
    assert {*list_audit_lines(before)} - {*list_audit_lines(after)} <= ASKED
    failed = [one.cause for one in events if isinstance(one, AttemptFailed)]
    assert failed.count("refused") > len(failed) * 0.8
    assert len({one.clause for one in events if isinstance(one, ActionRefused)}) >= 6

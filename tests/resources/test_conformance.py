"""Each registered kind of resource has every part: this fails for whatever a new one forgot."""

import importlib
import json
import shutil
import subprocess
from dataclasses import replace

import jsonschema
import msgspec
import pytest

from app.events.event_field_types import AnyAction, FileChange, Place
from app.events.kinds import ActionApplied, ActionProposed
from app.events.record import GENESIS, build_recorded_event, parse_line
from app.evidence.playbook.ansible_role import build_playbook_zip
from app.evidence.playbook.bash_script import render_script
from app.evidence.playbook.line_edits_from_recorded_changes import NotRecorded
from app.evidence.playbook.repeatable_fixes import build_shell_commands
from app.loop.answer_schemas import TurnSituation, build_act_schema, build_plan_schema
from app.loop.answers import BrokenAnswer, Plan, parse_answer
from app.loop.prompts import build_system_prompt
from app.loop.risk import WORDS, assess_risk
from app.loop.rule_terms import RuleTerms
from app.resources.kind import ForeseenStates, ResourceAction, RuleTexts
from app.resources.registry import (
    KINDS,
    RESOURCE_ACTIONS,
    find_candidates,
    format_action_as_input_line_for_host_script,
    get_prefixed_name_of_changed_resource,
)
from app.targets.change_diff import render_resource_diff
from app.targets.policy import list_action_refusals
from app.targets.resources.available_actions import Offer, build_offers
from app.targets.resources.resource_dry_run import DryRun
from app.targets.ssh.shell_script import read_script_part
from app.web.pages.templating import render_template_to_text
from tests.docs.commands import ROOT
from tests.evidence.playbook.fresh import RULE, fix
from tests.targets.resources.test_resource_policy import NoLinks
from tests.targets.ssh.conftest import host, opened  # noqa: F401 (fixtures)

CASES = {kind.name: importlib.import_module(f"tests.resources.test_{kind.name}").CASE for kind in KINDS}
PARTS = [
    pytest.param(kind, one, id=one.action.__struct_config__.tag) for kind in KINDS for one in CASES[kind.name].samples
]
HOSTILE = "<script>alert(1)</script>"

AWK = r"""
mkdir -p /etc/alternatives
for one in mawk gawk; do [ ! -x /usr/bin/$one ] || ln -sf /usr/bin/$one /etc/alternatives/awk; done
"""
"""Debian's own awk is a link by way of /etc, and the tree has an /etc of its own."""

each = pytest.mark.parametrize(("kind", "sample"), PARTS)


def refuse(sample, allowed, *states, more=()):
    found = list_action_refusals([sample.action, *more], frozenset(allowed), NoLinks({}), foreseen=DryRun(states))
    return [one.clause for one in found]


def propose(action, diff=""):
    return ActionProposed(rule="r", attempt=1, actions=(action,), note="", fingerprint="", diff=diff)


def test_every_file_that_declares_a_kind_is_registered():
    modules = (importlib.import_module(f"app.resources.{file.stem}") for file in (ROOT / "app/resources").glob("*.py"))
    declared = [module.KIND.name for module in modules if hasattr(module, "KIND")]
    assert sorted(declared) == sorted(kind.name for kind in KINDS)


def test_each_action_has_one_kind_and_a_sample():
    told = dict.fromkeys(type(one.action) for case in CASES.values() for one in case.samples)
    assert [*told] == list(RESOURCE_ACTIONS)
    assert len({action.__struct_config__.tag for action in told}) == len(told)
    assert len({kind.name for kind in KINDS}) == len(KINDS)


@each
def test_it_is_an_action_on_the_wire_and_in_the_log(kind, sample):
    assert isinstance(sample.action, ResourceAction)
    line = msgspec.json.encode(sample.action)
    assert json.loads(line)["do"] == sample.action.__struct_config__.tag
    assert msgspec.json.decode(line, type=AnyAction) == sample.action
    recorded = build_recorded_event("r1", 1, 1_700_000_000.0, propose(sample.action), GENESIS)
    assert parse_line(recorded.line, recorded.hash).event == propose(sample.action)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line[:-1] + b',"more":1}', type=AnyAction)


@each
def test_a_plan_can_name_its_resource(kind, sample):
    place = get_prefixed_name_of_changed_resource(sample.action)
    assert place.startswith(kind.prefix)
    assert msgspec.convert(place, Place) == place
    plan = parse_answer("plan", json.dumps({"approach": "a", "paths": [place]}))
    assert plan == Plan("a", (place,))
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(f"x{place}", Place)


@each
def test_a_rule_that_names_it_offers_it_and_another_rule_does_not(kind, sample):
    place, rule = get_prefixed_name_of_changed_resource(sample.action), CASES[kind.name].rule
    wanted = find_candidates(rule)
    assert (sample.action in wanted) == (kind.find_candidates is not None)
    assert find_candidates(RuleTexts("V-1", "sshd: PermitRootLogin has to be no.", rule.accounts)) == ()
    state = sample.possible
    offers = build_offers([(place, state.text)], {place: state.version}, wanted, has_systemd=state.has_systemd)
    assert [sample.action in one.actions for one in offers] == [True] * (kind.find_candidates is not None)


@each
def test_a_role_that_may_propose_it_is_told_how_and_bound_to_it(kind, sample):
    tag, place = sample.action.__struct_config__.tag, get_prefixed_name_of_changed_resource(sample.action)
    form = f"{tag}{{{','.join(sample.action.__struct_fields__)}}}"
    asked = build_system_prompt("worker", "act")
    answer = {"actions": [msgspec.to_builtins(sample.action)], "note": ""}
    if kind.find_candidates is None:
        assert tag not in asked
        with pytest.raises(BrokenAnswer):
            parse_answer("act", json.dumps(answer))
        return
    assert form in asked
    now = TurnSituation(RuleTerms(()), offers=(Offer(place, sample.possible.text, (sample.action,)),))
    jsonschema.validate(answer, build_act_schema(now))
    assert place in json.dumps(build_plan_schema(now))
    assert parse_answer("act", json.dumps(answer), {}).actions == (sample.action,)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, build_act_schema(replace(now, offers=())))


@each
def test_the_policy_allows_what_is_planned_and_foreseen_and_refuses_the_rest(kind, sample):
    place = get_prefixed_name_of_changed_resource(sample.action)
    assert refuse(sample, [place], sample.foreseen) == []
    assert refuse(sample, [], sample.foreseen) == ["outside the plan"]
    assert refuse(sample, [place], replace(sample.foreseen, after=sample.foreseen.before)) == ["not understood"]
    assert refuse(sample, [place], sample.foreseen, more=[sample.action]) == ["too much"]
    assert bool(sample.refused) == (not kind.alone)
    if sample.refused:
        assert len(refuse(sample, [place], sample.foreseen, sample.refused)) == 1
        assert kind.judge_states(ForeseenStates((sample.foreseen, sample.refused))) is not None


@each
def test_it_has_a_risk_that_approval_policies_know(kind, sample):
    found = assess_risk(RULE, propose(sample.action)).breaks
    assert found == (kind.hazard,)
    assert kind.hazard in WORDS


@each
def test_what_is_shown_of_it_is_a_sentence_and_harmless(kind, sample):
    place = get_prefixed_name_of_changed_resource(sample.action)
    applied = ActionApplied(
        rule="r", attempt=1, journal="j", diff="", changes=(FileChange(place, None, "a"),), seconds=1.0
    )
    sentence = applied.describe().text
    assert sentence == f"Worker changed {place}" if kind.find_candidates else sentence.startswith("The vendor's")
    diff = render_resource_diff(DryRun((replace(sample.foreseen, after=HOSTILE),)))
    page = render_template_to_text("partials/_diff.html", diff=diff, undone=False)
    assert place in page
    assert "&lt;script&gt;" in page
    assert HOSTILE not in page


@each
def test_playbook_and_script_repeat_it_or_say_why_not(kind, sample):
    try:
        deeds = build_shell_commands(
            sample.action, (FileChange(get_prefixed_name_of_changed_resource(sample.action), None, "a"),)
        )
    except NotRecorded as exc:
        assert kind.find_candidates is None
        assert len(str(exc)) > 20  # noqa: PT017
        return
    for text in (text for one in deeds for text in (one.look, one.do, one.undo)):
        assert text
        assert subprocess.run(["sh", "-n", "-c", text], check=False).returncode == 0
    taken = fix(deeds=deeds)
    first = deeds[0].do.split()[0]
    assert first.encode() in render_script(taken, "r", "")
    assert build_playbook_zip(taken, "r", "")


def test_the_documentation_names_each_action():
    text = (ROOT / "docs/hosts.md").read_text()
    told = [tag.__struct_config__.tag for kind in KINDS if kind.find_candidates for tag in kind.actions]
    assert [tag for tag in told if f"`{tag}`" not in text] == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_hosts_part_has_its_functions(kind):
    text = read_script_part(kind.name)
    assert [name for name in ("state", "foresee", "perform") if f"\n{kind.name}_{name}() " not in text] == []
    assert (f"\n{kind.name}_live() " in text) == (f"\n{kind.name}_revive() " in text)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_host_foresees_it_does_it_and_takes_it_back(kind, host, opened):  # noqa: F811
    case = CASES[kind.name]
    missing = [tool for tool in ("apt-get", "dpkg-deb", "chage", "findmnt", "systemctl") if not shutil.which(tool)]
    assert not missing, f"this test needs a Debian with {', '.join(missing)}"
    laid = {"SSH_ORIGINAL_COMMAND": f"set -e\n{AWK}{case.prepare}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    subprocess.run([host.folder / "enter"], env=laid, check=True, stdin=subprocess.DEVNULL)
    target = opened()
    target.prepare()
    was = host.everything()
    for number, sample in enumerate(case.samples):
        action, place = sample.action, get_prefixed_name_of_changed_resource(sample.action)
        offered = [one.actions for one in target.list_resources_with_possible_actions([action])]
        assert offered == ([(action,)] if kind.find_candidates else [])
        shown = target.assess_actions([action], frozenset({place}))
        assert f"resource {place}\n" in shown.diff
        assert shown.refusals == ()
        assert host.everything() == was
        done = target.apply(f"{kind.name}-{number}", [action], frozenset({place}))
        assert done.diff == shown.diff
        assert place in {one.path for one in done.changes}
        assert target.describe_drift(done.changes) == ()
        undone = target.roll_back(f"{kind.name}-{number}")
        assert undone.differences == ()
        assert host.everything() == was
        assert target.describe_drift(()) == ()
        assert format_action_as_input_line_for_host_script(action).startswith(f"{kind.name} ")

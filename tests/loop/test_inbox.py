"""Commands of people, and the moments at which a run takes none."""

import pytest

from app.events.kinds import ApprovalRefused, RunFailed, RunPaused, RunResumed, RunStopRequested
from app.events.person_command import Command
from app.loop.decide import decide_next_effect
from app.loop.effects import Wait
from app.loop.inbox import find_event_for_command, find_open_approval_id
from tests.loop.playing import World, pack, request, rule

STOPPING, FAILED = RunStopRequested(by="bob", reason="enough"), RunFailed(reason="halt")
VERBS = ("pause", "resume", "stop", "approve", "refuse", "edit")
EDIT = '{"actions": [{"do": "set_option", "path": "/etc/x", "key": "k", "value": "v"}], "note": ""}'


@pytest.fixture
def world():
    """A run that waits for a person's approval."""
    made = World(pack([rule("A")]), lambda _, choices: choices[0])
    made.put(request(made.skill, mode="review"))
    while not isinstance(effect := decide_next_effect(made.state, made.skill, made.now), Wait):
        made.come_out(effect)
    return made


def interpret(world, verb, approval=""):
    approval = approval or world.state.subject_awaiting_approval.approval.approval
    command = Command(id=1, verb=verb, by="ada", reason="why", approval=approval, actions=EDIT)
    return find_event_for_command(command, world.state, world.now)


def test_a_command_becomes_the_event_that_names_who_gave_it(world):
    approval = world.state.attempt.approval.approval
    assert interpret(world, "pause") == RunPaused(by="ada")
    assert interpret(world, "stop") == RunStopRequested(by="ada", reason="why")
    assert interpret(world, "refuse") == ApprovalRefused(approval=approval, by="ada", reason="why")
    assert interpret(world, "edit").actions[0].value == "v"
    assert interpret(world, "approve").given == 1


@pytest.mark.parametrize("verb", ["approve", "refuse", "edit"])
def test_an_answer_to_another_approval_is_none(world, verb):
    assert interpret(world, verb) is not None
    assert interpret(world, verb, "another") is None
    world.now = world.state.subject_awaiting_approval.approval.expires
    assert interpret(world, verb) is None


def test_a_reboot_is_approved_or_refused_and_there_is_nothing_in_it_to_edit():
    made = World(
        pack([rule("A")]), lambda name, choices: "pass" if name == "closing" else choices[-1 if name == "host" else 0]
    )
    made.put(request(made.skill, reboot=True))
    while not isinstance(effect := decide_next_effect(made.state, made.skill, made.now), Wait):
        made.come_out(effect)
    assert (interpret(made, "approve").about, interpret(made, "refuse").about) == ("reboot", "reboot")
    assert interpret(made, "edit") is None


def test_only_a_running_run_is_paused_and_only_a_paused_one_is_resumed(world):
    assert interpret(world, "resume") is None
    world.put(RunPaused(by="bob"))
    assert interpret(world, "pause") is None
    assert interpret(world, "resume") == RunResumed(by="ada")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("event", [STOPPING, FAILED])
def test_a_run_that_stops_or_has_ended_takes_no_command(world, event, verb):
    world.put(event)
    assert interpret(world, verb) is None


@pytest.mark.parametrize("event", [STOPPING, FAILED])
def test_an_approval_is_open_until_it_expires_or_the_run_stops_or_ends(world, event):
    asked = world.state.attempt.approval
    assert find_open_approval_id(world.state, asked.expires - 1) == asked.approval
    assert find_open_approval_id(world.state, asked.expires) is None
    world.put(event)
    assert find_open_approval_id(world.state, world.now) is None

"""What the Architect asks about the host before it plans: bounded, read only, and within what a role may be shown."""

import json
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.events.architect_questions_about_host import AskDaemon, AskFile, AskUse, AskVerdict
from app.events.event_field_types import Sampling
from app.events.kinds import (
    ActionProposed,
    AttemptFailed,
    ItemPassed,
    PlanMade,
    QuestionsAnswered,
    TurnFinished,
    TurnStarted,
)
from app.loop.answer_schemas import SCHEMA_BUILDERS
from app.loop.answers import BrokenAnswer, Inquiry, parse_answer
from app.loop.host_inquiry import answer_inquiry
from app.loop.prompts import build_system_prompt
from app.loop.state import Item, RunState
from app.loop.turn_context import build_situation
from tests.loop.architect import OWN, Architect
from tests.loop.onfixture import OnFixture
from tests.loop.walks import about, host, walk

EMPTY, LENGTH, X11 = "V-257984", "V-258107", "V-258007"
AT = {"rule": EMPTY, "attempt": 3}
SSHD = "/etc/ssh/sshd_config"
PLAN = {**OWN, "paths": [SSHD]}


def ask(*questions):
    return {"why": "I want to know.", "questions": list(questions)}


FILE = {"ask": "file", "path": "/etc/mission/backup.conf", "first": 1}
USE = {"ask": "use", "word": "svc-backup"}
VERDICT = {"ask": "verdict"}
DAEMON = {"ask": "daemon", "program": "sshd", "user": "opsadmin", "key": "permitemptypasswords"}


async def played(tmp_path, architect, rule=EMPTY, *, sampling=None, **more):
    here = OnFixture(tmp_path, handler=architect)
    here.sampling = sampling or Sampling(questions=True)
    await here.run(rule, **more)
    return here


async def test_questions_are_a_turn_of_their_own_and_their_answers_stand_in_the_next_prompt(tmp_path):
    architect = Architect(ask(FILE, DAEMON), PLAN)
    here = await played(tmp_path, architect)
    assert [one.purpose for one in here.events(TurnStarted)] == ["plan", "plan", "act", "review", "triage"]
    [asked] = here.events(QuestionsAnswered)
    assert (asked.rule, asked.attempt, asked.why) == (EMPTY, 1, "I want to know.")
    file, daemon = asked.answers
    assert file.question == AskFile(path="/etc/mission/backup.conf")
    assert "\n3: login = root\n" in file.answer
    assert daemon.question == AskDaemon(program="sshd", user="opsadmin", key="permitemptypasswords")
    assert daemon.answer.startswith("permitemptypasswords yes\n")
    first, second = architect.list_prompts("plan")
    assert "## Questions left\n3" in first
    assert "## Questions left\n1" in second
    assert "the file /etc/mission/backup.conf:\n1: # The nightly copy" in second
    assert "permitemptypasswords yes" in architect.read_prompt("act")
    assert asked.describe().text == (
        "The Architect asks about the file /etc/mission/backup.conf, permitemptypasswords that sshd uses for opsadmin"
    )


async def test_a_search_and_the_scanners_reason_are_answered(tmp_path):
    here = await played(tmp_path, Architect(ask(USE, VERDICT), PLAN))
    use, verdict = here.events(QuestionsAnswered)[0].answers
    assert use.question == AskUse(word="svc-backup")
    assert "/etc/passwd\n  15: svc-backup:x:990" in use.answer
    assert verdict.question == AskVerdict()
    assert f"says fail ({SSHD} line 25): {SSHD} line 25 sets PermitEmptyPasswords to 'yes'" in verdict.answer


async def test_what_the_scanner_said_after_each_attempt_is_a_part_of_its_reason():
    async def answer_nothing(_work):
        return ("",)

    said = {"scanner": "still no", "refused": "weaker"}
    failures = tuple(
        AttemptFailed(rule=EMPTY, attempt=number, cause=cause, reason=reason)
        for number, (cause, reason) in enumerate(said.items(), 1)
    )
    state = RunState(working=EMPTY, items={EMPTY: Item(EMPTY, failures=failures)})
    target = SimpleNamespace(run_blocking=answer_nothing)
    services = SimpleNamespace(target=target)
    run = SimpleNamespace(
        state=state,
        item=state.item,
        rule=SimpleNamespace(id=EMPTY, paths=()),
        services=services,
        current_attempt_event_fields=AT,
    )
    [answered] = (await answer_inquiry(run, Inquiry(why="", questions=(AskVerdict(),)), 1)).answers
    assert answered.answer == "attempt 1: still no"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"ask": "file", "path": "/etc/shadow", "first": 1}, "/etc/shadow: it holds secrets and is not shown"),
        ({"ask": "file", "path": "/etc/ssh/ssh_host_rsa_key", "first": 1}, "it holds secrets and is not shown"),
        ({"ask": "file", "path": "/root/.ssh/id_rsa", "first": 1}, "it holds secrets"),
        ({"ask": "file", "path": "/etc/hosts", "first": 1}, "not shown: this rule has no need of it"),
        ({"ask": "file", "path": "/etc/ssh/../shadow", "first": 1}, "no plain absolute path"),
        ({"ask": "file", "path": f"{SSHD}\n", "first": 1}, "ends in a newline"),
        ({"ask": "kernel", "key": "net.ipv6.conf.all.stable_secret"}, "what the kernel keeps secret is not shown"),
        ({"ask": "daemon", "program": "sshd", "user": "-o", "key": ""}, "does not fit its shape"),
        ({"ask": "daemon", "program": "id", "user": "root", "key": ""}, "does not fit its shape"),
        ({"ask": "package", "package": "x; rm -rf /"}, "does not fit its shape"),
        ({"ask": "manual", "page": "--pager=sh", "section": "x"}, "does not fit its shape"),
        ({"ask": "shell", "command": "id"}, "does not fit its shape"),
    ],
)
async def test_what_may_not_be_asked_is_no_usable_answer_and_nothing_of_it_is_read(tmp_path, question, says):
    architect = Architect(ask(question, USE), PLAN)
    here = await played(tmp_path, architect)
    assert here.events(QuestionsAnswered) == []
    first = here.events(TurnFinished)[0]
    assert first.outcome == "broken"
    assert says in first.detail
    complaint = architect.list_prompts("plan")[1].partition("## Your last answer was not usable\n")[2]
    assert says in complaint
    assert here.events(ItemPassed)


async def test_at_most_three_questions_are_answered_in_an_attempt(tmp_path):
    architect = Architect(ask(USE, VERDICT), ask(FILE, DAEMON), ask(FILE), ask(VERDICT), PLAN)
    here = await played(tmp_path, architect)
    assert [one.outcome for one in here.events(TurnFinished)][:5] == [
        "answered",
        "broken",
        "answered",
        "broken",
        "answered",
    ]
    details = [one.detail for one in here.events(TurnFinished) if one.outcome == "broken"]
    assert ["it asks 2 questions and may ask 1" in details[0], "may ask 0" in details[1]] == [True, True]
    assert sum(len(one.answers) for one in here.events(QuestionsAnswered)) == 3


async def test_three_turns_without_a_usable_answer_end_the_attempt(tmp_path):
    wrong = ask({"ask": "file", "path": "/etc/shadow", "first": 1})
    here = await played(tmp_path, Architect(wrong, wrong, wrong), rule=EMPTY)
    assert [one.outcome for one in here.events(TurnFinished)][:3] == ["broken"] * 3
    assert here.events(PlanMade)[0].attempt == 2


async def test_the_next_attempt_may_ask_again(tmp_path):
    architect = Architect()  # by the script, which asks once a failure has taught
    here = await played(tmp_path, architect, LENGTH)
    assert [(one.attempt, len(one.answers)) for one in here.events(QuestionsAnswered)] == [(2, 1)]
    assert "/etc/security/pwquality.conf.d/50-site.conf" in here.events(QuestionsAnswered)[0].answers[0].answer
    assert here.events(ItemPassed)[0].attempts == 2


async def test_the_script_asks_before_it_plans_and_without_leave_it_plans_at_once(tmp_path):
    here = await played(tmp_path / "a", Architect(), X11)
    assert here.events(QuestionsAnswered)[0].answers[0].answer.startswith("x11forwarding yes")
    plain = await played(tmp_path / "b", Architect(), X11, sampling=Sampling(candidates=True))
    assert plain.events(QuestionsAnswered) == []
    assert plain.events(ActionProposed)[0].actions == here.events(ActionProposed)[0].actions


async def test_a_seat_that_may_not_ask_is_not_answered(tmp_path):
    architect = Architect(ask(USE), PLAN)
    here = await played(tmp_path, architect, sampling=Sampling())
    assert here.events(QuestionsAnswered) == []
    assert here.events(TurnFinished)[0].outcome == "broken"
    assert "Questions left" not in architect.read_prompt("plan")
    assert "questions" not in build_system_prompt("architect", "plan")


def test_every_walk_of_the_shape_with_questions_can_be_read():
    draw, seen = random.Random(28), set()
    now = build_situation("plan", replace(about(EMPTY, host(), guided=False), asks=True))
    for _ in range(200):
        answer = parse_answer("plan", json.dumps(walk(SCHEMA_BUILDERS["plan"](now), draw)))
        if isinstance(answer, Inquiry):
            seen |= {type(one).__name__ for one in answer.questions}
    assert len(seen) == 8


def test_an_inquiry_without_a_question_is_none():
    with pytest.raises(BrokenAnswer):
        parse_answer("plan", '{"why": "", "questions": []}')

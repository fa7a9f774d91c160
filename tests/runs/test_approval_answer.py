"""What is answered to a change that waits, and what is asked of a run: one rule at every door."""

import time

import pytest
from sqlmodel import Session, select

from app.errors import Rejected
from app.events.approval_policy import ChangeRisk, PeopleNeeded
from app.events.event_field_types import Budget, SetOption
from app.events.kinds import (
    ActionProposed,
    ActionsAllowed,
    ApprovalRequested,
    AttemptStarted,
    ItemStarted,
    PlanMade,
    RunFinished,
    RunPaused,
    RunQueued,
    RunScoped,
    RunStarted,
)
from app.loop.answers import parse_actions_of_person
from app.loop.inbox import find_event_for_command
from app.loop.state import fold_events
from app.runs.approval_answer import record_answer
from app.store import issued_credentials
from app.store.models import CommandRow, PersonRow
from app.store.run_command_inbox import InboxPoller
from tests.runs.doors import house
from tests.runs.rebooting import ASKED, UNTIL_IT_ASKS

RULE, WAITING = "V-258227", "r1.V-258227.1.6"
ACTIONS = '[{"do": "set_option", "path": "/etc/x", "key": "k", "value": "mine"}]'
QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(RULE,), mode="review", budget=Budget(), lineup="simulated", simulated=True
)
STARTED = RunStarted(worker="w", confinement="", scanner="s", probes=())
UNTIL_IT_WAITS = (
    STARTED,
    RunScoped(order=(RULE,), compliant=(), undecided=()),
    ItemStarted(rule=RULE, title="", category="II"),
    AttemptStarted(rule=RULE, attempt=1, lessons=()),
)
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


def asks(expires=2e10):
    return ApprovalRequested(approval=WAITING, rule=RULE, attempt=1, binds="b", expires=expires)


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", QUEUED)
        yield made


@pytest.fixture
async def waiting(doors):
    doors.append("r1", *UNTIL_IT_WAITS, asks())
    return doors


def commands(doors):
    with Session(doors.database) as session:
        return [(row.verb, row.by, row.reason) for row in session.exec(select(CommandRow)).all()]


async def page(doors, verb, approval=WAITING, reason="", actions=ACTIONS):
    form = {"verb": verb, "approval": approval, "reason": reason, "actions": actions}
    answered = await doors.http.post("/runs/r1/ask", data=form)
    return None if answered.status_code == 303 else (answered.status_code, answered.json()["detail"])


async def api(doors, verb, approval=WAITING, reason=""):
    if verb in ("pause", "resume", "stop"):
        answered = await doors.http.post(f"/api/v1/runs/r1/{verb}", json={"reason": reason})
    else:
        body = {"decision": verb, "reason": reason}
        answered = await doors.http.post(f"/api/v1/approvals/{approval}", json=body)
    return None if answered.status_code == 202 else (answered.json()["status"], answered.json()["detail"])


async def terminal(doors, verb, reason=""):
    wrong = await doors.typed(verb, "r1", "--reason", reason)
    return wrong.sentence if wrong else None


async def test_a_refusal_without_a_reason_is_taken_nowhere(waiting):
    said = (422, "Give a reason: the Architect learns from it.")
    for reason in ("", "  ", "\u200b"):
        assert await page(waiting, "refuse", reason=reason) == await api(waiting, "refuse", reason=reason) == said
        assert await terminal(waiting, "refuse", reason) == said[1]
    assert commands(waiting) == []
    assert await page(waiting, "refuse", reason="not on a Friday") is None
    assert commands(waiting) == [("refuse", "operator on this page", "not on a Friday")]


@pytest.mark.parametrize("second", [page, api])
@pytest.mark.parametrize("first", [page, api])
async def test_the_first_answer_counts_and_the_same_again_is_the_same(waiting, first, second):
    assert await first(waiting, "approve") is None
    assert await second(waiting, "approve") is None
    (verb, by, _) = commands(waiting)[0]
    status, said = await second(waiting, "refuse", reason="no")
    assert (status, said) == (409, f"Approval '{WAITING}' was already answered: {by} was first, with approve.")
    assert "was first, with approve" in await terminal(waiting, "refuse", "no")
    assert [one[0] for one in commands(waiting)] == [verb] == ["approve"]


async def test_what_is_late_or_not_there_is_not_waiting(waiting):
    gone = WAITING.replace(".6", ".2")
    said = (409, f"Approval '{gone}' is not waiting for an answer.")
    assert await page(waiting, "approve", gone) == await api(waiting, "approve", gone) == said
    waiting.append("r1", ENDED)
    assert (await page(waiting, "approve"))[0] == (await api(waiting, "approve"))[0] == 409
    assert commands(waiting) == []


async def test_an_approval_that_has_expired_is_not_waiting_though_nobody_wrote_that_down(doors):
    doors.append("r1", *UNTIL_IT_WAITS, asks(expires=time.time() - 1))
    assert (await page(doors, "approve"))[0] == (await api(doors, "approve"))[0] == 409
    assert "is not waiting for an approval" in await terminal(doors, "approve")


async def test_an_edit_is_read_as_the_workers_answer_is(waiting):
    status, said = await page(waiting, "edit", actions="[{}]")
    assert (status, said[:25]) == (422, "The actions are not valid")
    assert (await page(waiting, "edit", actions=""))[0] == 422
    state = fold_events(waiting.store.read_events_for_fold("r1"))
    with pytest.raises(Rejected, match="leave them out"), Session(waiting.database) as session:
        record_answer(session, state, WAITING, "approve", by="ada", actions=ACTIONS)
    assert await page(waiting, "edit") is None
    with Session(waiting.database) as session:
        (row,) = session.exec(select(CommandRow).where(CommandRow.run == "r1"))
    assert parse_actions_of_person(row.actions)[0].value == "mine"


async def test_a_run_is_asked_only_for_what_its_state_allows(doors):
    for events, verb, says in (
        ((), "pause", "Run r1 is queued: the command pause requires a running run."),
        ((STARTED,), "resume", "Run r1 is running: the command resume requires a paused run."),
        ((RunPaused(by="ada"),), "pause", "Run r1 is paused: the command pause requires a running run."),
        ((ENDED,), "stop", "Run r1 has ended (finished): there is nothing to stop."),
    ):
        doors.append("r1", *events)
        assert await page(doors, verb) == await api(doors, verb) == (409, says)
        assert await terminal(doors, verb) == says
    assert commands(doors) == []
    assert (await page(doors, "explode"))[0] == 422


async def test_what_may_be_asked_is_written_once_for_each_who_asks(waiting):
    assert await page(waiting, "pause") is await api(waiting, "pause") is await terminal(waiting, "pause") is None
    assert [verb for verb, _, _ in commands(waiting)] == ["pause"] * 3
    status, said = await page(waiting, "stop", reason="x" * 501)
    assert (status, said) == (422, "The reason has 501 characters; the limit is 500.")
    assert await api(waiting, "stop", reason="x" * 501) == (status, said)


TWO = PeopleNeeded(
    people=2,
    why="cuts the line",
    by="approvals.toml line 12",
    sha256="f" * 64,
    risk=ChangeRisk(category="II", breaks=("remote login",), cuts_the_line=True, irreversible=False, replayed=False),
)
OF_RULE = {"rule": RULE, "attempt": 1}
PLANNED = PlanMade(**OF_RULE, approach="a", paths=("/etc/x",), steps=(), risk="r", rollback="b", validation="v")
PROPOSED = ActionProposed(
    **OF_RULE, actions=(SetOption(path="/etc/x", key="k", value="v"),), note="", fingerprint="f", diff="+v"
)


class Signed:
    """A house in which people sign in, and a run that waits for two of them."""

    def __init__(self, doors):
        self.doors, self.secrets = doors, {}
        self.id = f"r1.{RULE}.1.9"
        with Session(doors.database) as session, session.begin():
            for name, right in (("ada", "operator"), ("bob", "operator"), ("eve", "admin")):
                session.add(PersonRow(name=name, right=right, made_at=1.0))
                session.flush()
                for kind in ("token", "session"):
                    _, secret = issued_credentials.issue_credential(
                        session, person=name, right=right, kind=kind, label="", seconds=3600.0
                    )
                    self.secrets[name, kind] = secret
        asked = ApprovalRequested(approval=self.id, **OF_RULE, binds="b", expires=2e10, needs=TWO)
        doors.append("r1", QUEUED, *UNTIL_IT_WAITS, PLANNED, PROPOSED, ActionsAllowed(**OF_RULE, needs=TWO), asked)

    def headers(self, name, kind):
        secret = self.secrets[name, kind]
        return {"cookie": f"temper-session={secret}"} if kind == "session" else {"authorization": f"Bearer {secret}"}

    async def says(self, name, kind="token", verb="approve", reason="read it"):
        sent = {"decision": verb, "reason": reason}
        path, headers = f"/api/v1/approvals/{self.id}", self.headers(name, kind)
        answered = await self.doors.http.post(path, json=sent, headers=headers)
        return answered.status_code, answered.json()

    async def told(self, path):
        return (await self.doors.http.get(path, headers=self.headers("ada", "token"))).json()

    async def lends(self, maker, owner, right="operator"):
        """The maker, an admin, makes a token for the owner."""
        sent = {"label": "lent", "person": owner, "right": right}
        made = await self.doors.http.post("/api/v1/tokens", json=sent, headers=self.headers(*maker))
        assert made.status_code == 201, made.text
        self.secrets[owner, "lent"] = made.json()["secret"]
        return made.json()

    async def goes_on(self):
        """What the run's own process makes of what was said."""
        with InboxPoller(self.doors.database).open_inbox("r1") as inbox:
            for command in await inbox.list_open_commands():
                await inbox.close(command)
                if event := find_event_for_command(command, fold_events(self.doors.store.read_events("r1")), 1.0):
                    self.doors.append("r1", event)
        return fold_events(self.doors.store.read_events("r1")).item.attempt


@pytest.fixture
async def two(tmp_path):
    async with house(tmp_path / "data", sign_in=True) as made:
        yield Signed(made)


async def test_two_people_are_two_names_and_each_says_why(two):
    status, said = await two.says("ada", reason=" ")
    assert (status, said["detail"]) == (409, "Say why: of two people each gives a reason.")
    status, said = await two.says("ada")
    assert (status, said["people"], said["given"], said["waits"]) == (202, 2, 1, "1 of 2: waits for another person")
    for kind in ("token", "session"):
        status, said = await two.says("ada", kind)
        assert (status, said["detail"]) == (409, "Ada has said yes already: it waits for another person.")
    assert not (await two.goes_on()).is_approved
    (waits,) = (await two.told("/api/v1/approvals"))["approvals"]
    [given] = waits["given"]
    assert given.pop("token")
    assert (waits["people"], given) == (2, {"by": "ada", "reason": "read it", "made_by": []})
    assert waits["needs"] == "needs two people: cuts the line, by approvals.toml line 12"
    assert (await two.says("bob", "session"))[1]["waits"] == ""
    assert (await two.goes_on()).is_approved
    events = [one.event for one in two.doors.store.read_events("r1", kinds=("approval.given",))]
    assert [(one.by, one.via, one.given, one.of) for one in events] == [
        ("ada", "token", 1, 2),
        ("bob", "session", 2, 2),
    ]


async def test_before_the_first_yes_is_on_the_log_the_second_is_known_as_well(two):
    """Both stand in the database when the run's process looks."""
    assert [(await two.says(name))[0] for name in ("ada", "ada", "bob", "bob")] == [202, 409, 202, 202]
    assert (await two.goes_on()).is_approved
    assert (await two.says("ada", verb="refuse"))[0] == 409


@pytest.mark.parametrize("first", ["maker", "token"])
async def test_an_admin_and_a_token_of_their_making_are_one_person(two, first):
    token = await two.lends(("eve", "session"), "bob")
    assert token["made_by"] == "eve"
    pair = [("eve", "session"), ("bob", "lent")]
    one, other = pair if first == "maker" else pair[::-1]
    assert (await two.says(*one))[0] == 202
    status, said = await two.says(*other)
    assert (status, said["detail"]) == (
        409,
        "A token counts for its maker too, and eve has said yes already: it waits for another person.",
    )
    attempt = await two.goes_on()
    assert not attempt.is_approved
    (waits,) = (await two.told("/api/v1/approvals"))["approvals"]
    lent = {"token": token["id"], "made_by": ["eve"]} if first == "token" else {"token": "", "made_by": []}
    assert waits["given"] == [{"by": one[0], "reason": "read it", **lent}]
    described = attempt.given[0].describe().text
    assert (f"bob (token {token['id']}, made by eve)" in described) == (first == "token")
    assert (await two.says("ada", "session"))[0] == 202
    assert (await two.goes_on()).is_approved


async def test_a_chain_of_tokens_counts_for_its_first_maker(two):
    """Eve makes an admin's token for mia, and with it one for bob."""
    with Session(two.doors.database) as session, session.begin():
        session.add(PersonRow(name="mia", right="admin", made_at=1.0))
    await two.lends(("eve", "session"), "mia", "admin")
    assert (await two.lends(("mia", "lent"), "bob"))["made_by"] == "eve mia"
    assert (await two.says("eve", "session"))[0] == 202
    for lent in (("bob", "lent"), ("mia", "lent")):
        assert (await two.says(*lent))[0] == 409


async def test_an_answer_that_reached_the_database_past_the_api_is_judged_by_the_run(two):
    await two.lends(("eve", "session"), "bob")
    assert (await two.says("bob", "lent"))[0] == 202
    with Session(two.doors.database) as session, session.begin():
        session.add(CommandRow(run="r1", verb="approve", by="eve", reason="r", approval=two.id, via="session", at=1.0))
    attempt = await two.goes_on()
    assert [one.by for one in attempt.given] == ["bob"]
    assert not attempt.is_approved


async def test_a_token_of_an_older_version_counts_for_nobody_of_two(two):
    with Session(two.doors.database) as session, session.begin():
        for row in issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ("token",)):
            row.made_by = "?"
    status, said = await two.says("ada")
    assert (status, "older than the record of who made it" in said["detail"]) == (409, True)


@pytest.mark.parametrize("who", ["ada", "bob"])
async def test_one_refusal_is_enough_also_of_who_said_yes(two, who):
    assert (await two.says("ada"))[0] == 202
    assert (await two.says(who, verb="refuse", reason="on a second look"))[0] == 202
    attempt = await two.goes_on()
    assert (attempt.is_approved, attempt.disapproved.by) == (False, who)
    assert (await two.says("bob"))[0] == 409


async def test_at_the_terminal_a_token_says_who_it_is(two, tmp_path):
    nobody = await two.doors.typed("approve", "r1", "--reason", "yes")
    assert "here nobody has said who they are" in nobody.sentence
    for name in ("ada", "bob"):
        (tmp_path / name).write_text(two.secrets[name, "token"])
    typed = ("approve", "r1", "--reason", "yes", "--token-from")
    assert await two.doors.typed(*typed, str(tmp_path / "ada")) is None
    assert "Ada has said yes already" in (await two.doors.typed(*typed, str(tmp_path / "ada"))).sentence
    (tmp_path / "old").write_text("temper_nothing")
    assert "not a valid token of an operator" in (await two.doors.typed(*typed, str(tmp_path / "old"))).sentence
    assert not (await two.goes_on()).is_approved
    assert await two.doors.typed(*typed, str(tmp_path / "bob")) is None
    assert (await two.goes_on()).is_approved


async def test_what_stands_in_the_table_and_came_by_no_door_counts_for_nothing(two):
    with Session(two.doors.database) as session, session.begin():
        for by in ("eve", "mallory"):
            session.add(CommandRow(run="r1", verb="approve", by=by, reason="x", approval=two.id, at=1.0))
    assert (await two.goes_on()).given == ()
    assert [(await two.says(name))[0] for name in ("ada", "bob")] == [202, 202]
    assert (await two.goes_on()).is_approved


async def test_the_demo_operator_is_one_person(doors):
    asked = ApprovalRequested(approval=WAITING, **OF_RULE, binds="b", expires=2e10, needs=TWO)
    doors.append("r1", *UNTIL_IT_WAITS, ActionsAllowed(**OF_RULE, needs=TWO), asked)
    assert "sign in, or bring a token" in (await page(doors, "approve", reason="yes"))[1]
    assert await page(doors, "refuse", reason="no") is None


async def test_a_reboot_is_approved_or_refused_and_has_nothing_to_edit(doors):
    doors.append("r2", *UNTIL_IT_ASKS)
    state = fold_events(doors.store.read_events("r2"))
    with Session(doors.database) as session:
        with pytest.raises(Rejected, match="has no actions to edit"):
            record_answer(session, state, ASKED.approval, "edit", by="ada", actions=ACTIONS)
        assert record_answer(session, state, ASKED.approval, "approve", by="ada").of == 1

"""What a person asks of a run over the API, and what becomes of it."""

import pytest

from tests.web.api.conftest import problem


@pytest.fixture
def waiting(api):
    """A run that waits for a person: nothing in it goes on by itself."""
    run = api.start(rules=["V-258227"], mode="review")
    found = api.until("/api/v1/approvals", lambda said: said["approvals"])["approvals"]
    assert [one["run"] for one in found] == [run]
    yield run, found[0]
    if api.get(f"/api/v1/runs/{run}").json()["ended_at"] is None:
        api.post(f"/api/v1/runs/{run}/stop")
        api.ended(run)


def kinds(api, run):
    return [event["kind"] for event in api.get(f"/api/v1/runs/{run}/events?limit=1000").json()["events"]]


def test_an_approval_lets_the_change_through(api, waiting):
    run, approval = waiting
    assert (approval["rule"], approval["simulated"]) == ("V-258227", True)
    assert len(approval["binds"]) == 64
    asked = api.post(f"/api/v1/approvals/{approval['id']}", json={"decision": "approve", "by": "jo"})
    assert asked.status_code == 202
    assert api.ended(run)["passed"] == 1
    assert "action.applied" in kinds(api, run)
    again = api.post(f"/api/v1/approvals/{approval['id']}", json={"decision": "approve"})
    problem(again, 409, "not-waiting", "approval")


def test_an_approval_says_what_is_at_stake_and_what_the_scanner_would_say(api, waiting):
    _, approval = waiting
    assert approval["predicted"]["word"] == "pass"
    assert approval["predicted"]["scanner"]
    assert approval["proposed_by"] == "worker"
    assert "+-f 2" in approval["diff"]
    assert approval["risk"]
    assert approval["breaks"]


def test_an_edited_change_is_judged_and_asked_about_anew(api, waiting):
    run, approval = waiting
    address = f"/api/v1/approvals/{approval['id']}"
    broken = {"decision": "edit", "actions": [{"kind": "format_disk"}]}
    problem(api.post(address, json=broken), 422, "invalid", "actions")
    problem(api.post(address, json=broken | {"decision": "approve"}), 422, "invalid", "actions")
    edit = {"decision": "edit", "actions": approval["actions"], "by": "jo", "reason": "with a remark"}
    assert api.post(address, json=edit).status_code == 202
    found = api.until(
        "/api/v1/approvals", lambda said: [one for one in said["approvals"] if one["id"] != approval["id"]]
    )
    anew = found["approvals"][0]
    assert (anew["run"], anew["proposed_by"], anew["attempt"]) == (run, "jo", approval["attempt"])
    problem(api.post(address, json={"decision": "approve"}), 409, "not-waiting", "approval")
    assert "action.applying" not in kinds(api, run)
    assert api.post(f"/api/v1/approvals/{anew['id']}", json={"decision": "approve"}).status_code == 202
    assert api.ended(run)["passed"] == 1


def test_a_refusal_needs_a_reason_and_is_told_to_the_roles(api, waiting):
    run, approval = waiting
    address = f"/api/v1/approvals/{approval['id']}"
    problem(api.post(address, json={"decision": "refuse"}), 422, "invalid", "reason")
    problem(api.post(address, json={"decision": "maybe"}), 422, "invalid", "decision")
    assert api.post(address, json={"decision": "refuse", "reason": "not on a Friday"}).status_code == 202
    api.until(f"/api/v1/runs/{run}/events?kind=approval.refused", lambda said: said["events"][:1] and said["events"][0])
    assert "not on a Friday" in api.get(f"/api/v1/runs/{run}/events?kind=approval.refused").text


def test_pause_resume_and_stop_are_taken_up(api, waiting):
    run, _ = waiting
    problem(api.post(f"/api/v1/runs/{run}/resume"), 409, "wrong-state")
    assert api.post(f"/api/v1/runs/{run}/pause", json={"by": "jo"}).json()["asked"] == "pause"
    api.until(f"/api/v1/runs/{run}", lambda said: said["state"] == "paused")
    assert api.post(f"/api/v1/runs/{run}/resume").status_code == 202
    api.until(f"/api/v1/runs/{run}", lambda said: said["state"] == "running")
    assert api.post(f"/api/v1/runs/{run}/stop", json={"reason": "enough", "by": "jo"}).status_code == 202
    assert api.ended(run)["state"] == "stopped"
    assert kinds(api, run)[-1] == "run.stopped"


def test_of_two_answers_the_first_counts_and_the_second_is_told(api, waiting):
    run, approval = waiting
    address = f"/api/v1/approvals/{approval['id']}"
    api.post(f"/api/v1/runs/{run}/pause")
    api.until(f"/api/v1/runs/{run}", lambda said: said["state"] == "paused")
    assert api.post(address, json={"decision": "refuse", "reason": "no", "by": "ann"}).status_code == 202
    late = api.post(address, json={"decision": "approve", "by": "bob"})
    assert late.status_code == 409
    assert api.post(f"/api/v1/runs/{run}/stop").status_code == 202
    assert api.ended(run)["passed"] == 0


def test_a_run_that_is_queued_is_not_paused_in_vain(api, waiting):
    queued = api.start(rules=["V-257820"])
    said = problem(api.post(f"/api/v1/runs/{queued}/pause"), 409, "wrong-state")
    assert "is queued: the command pause requires a running run" in said["detail"]
    assert api.post(f"/api/v1/runs/{queued}/stop").status_code == 202
    api.post(f"/api/v1/runs/{waiting[0]}/stop")
    assert api.ended(queued)["state"] == "stopped"


def test_a_run_that_has_ended_takes_no_commands(api, finished):
    problem(api.post(f"/api/v1/runs/{finished}/pause"), 409, "run-ended")
    problem(api.post("/api/v1/runs/nope/pause"), 404, "not-found", "run")
    problem(api.post(f"/api/v1/runs/{finished}/explode"), 404, "not-found")
    problem(api.get(f"/api/v1/runs/{finished}/pause"), 405, "method-not-allowed")
    problem(api.post(f"/api/v1/runs/{finished}/stop", json={"why": "x"}), 422, "invalid", "why")
    problem(api.post("/api/v1/approvals/nope", json={"decision": "approve"}), 404, "not-found", "approval")

"""What an operator is told to look at, and with what to press."""

from dataclasses import replace

from app.events.kinds import EngineState
from app.runs.open_decisions import OpenDecision
from app.runtime.health_faults import Conditions, find_faults
from app.runtime.stalled_run_detection import GRACE, HOST_STEP, STARTING, RunProgress
from app.store.models import RunRow, ScheduleRow
from app.store.nodes import NodeStatus
from app.store.webhooks import WebhookRow
from app.targets.host_locks_held_too_long import StuckHost
from app.web.pages.ops.needs import DAY, NeedButton, OpsState, list_needs

NOW = 1_000_000.0
QUIET = OpsState(NOW)


def broken(engines, **conditions):
    return find_faults(Conditions(NOW, engines=engines, seated=list(engines), **conditions))


def engines(state, detail=""):
    return {"big": (NOW - 3, EngineState(engine="big", state=state, detail=detail))}


def test_all_well_needs_nobody_and_loading_is_no_alarm():
    assert list_needs(QUIET) == []
    assert list_needs(replace(QUIET, faults=broken(engines("loading")))) == []


def test_a_dead_engine_of_ours_has_its_button_and_another_has_none():
    dead = replace(QUIET, faults=broken(engines("dead", "its log ends")))
    (need,) = list_needs(dead)
    assert (need.text, need.since, need.presses) == ("Engine big is dead: its log ends", NOW - 3, ())
    (need,) = list_needs(replace(dead, launched=["big"]))
    assert need.presses == (NeedButton("/ops/engines/big", "start", "Start big"),)


def test_a_frozen_engine_can_be_restarted_if_it_is_ours_or_simulated():
    frozen = replace(QUIET, faults=broken(engines("stalled")))
    assert [need.presses for need in list_needs(frozen)] == [()]
    (need,) = list_needs(replace(frozen, launched=["big"]))
    assert need.presses == (NeedButton("/ops/engines/big", "restart", "Restart big"),)
    (need,) = list_needs(replace(frozen, simulated=True))
    assert need.presses == (NeedButton("/ops/engines", "restart", "Restart engines"),)


def test_a_log_that_cannot_be_written_leads_to_the_guide_to_failures():
    (need,) = list_needs(replace(QUIET, faults=broken({}, unwritten=5.0)))
    assert (need.link, need.words) == ("/help/operations#failures", "Read about failures")


def test_three_engines_that_die_are_one_notice_that_counts():
    def died(*names):
        return {name: (NOW - len(name), EngineState(engine=name, state="dead", detail="gone")) for name in names}

    (first,) = list_needs(replace(QUIET, faults=broken(died("a"))))
    (all_of_them,) = list_needs(replace(QUIET, faults=broken(died("a", "bb", "ccc")), launched=["bb", "ccc"]))
    assert all_of_them.text == "3 engines are dead: a, bb, ccc."
    assert all_of_them.since == NOW - 3
    assert [press.words for press in all_of_them.presses] == ["Start bb", "Start ccc"]
    assert first.about == all_of_them.about, "the notification that counts replaces the one before"
    mixed = died("a", "bb") | {"ccc": (NOW, EngineState(engine="ccc", state="unreachable"))}
    assert [need.text for need in list_needs(replace(QUIET, faults=broken(mixed)))] == [
        "2 engines are dead: a, bb.",
        "Engine ccc is unreachable: no detail",
    ]


def test_a_simulator_that_is_gone_is_one_need_and_not_one_for_each_engine():
    (need,) = list_needs(replace(QUIET, faults=broken(engines("dead"), simulator=False)))
    assert need.presses == (NeedButton("/ops/engines", "start", "Start engines"),)


def test_what_waits_in_the_inbox_comes_first_and_leads_there():
    decision = OpenDecision(
        kind="rollout", id="rollout:o1", title="Rollout o1 is paused", why="Rollout o1 is paused: 1 host is harmed.",
        since=NOW - 9, risk="high", rollout="o1",
    )  # fmt: skip
    first, other = list_needs(replace(QUIET, decisions=[decision], faults=broken(engines("dead"))))
    assert (first.level, first.text, first.since) == ("asks", decision.why, NOW - 9)
    assert (first.link, first.words) == ("/inbox?item=rollout%3Ao1", "Resume or end rollout")
    assert other.level == "alarm"


def silent(run, step="sentry.probed", **more):
    return RunProgress(run, "web", "running", NOW - HOST_STEP.seconds - GRACE - 1, step=step, **more)


def test_a_run_that_makes_no_progress_can_be_opened_paused_and_stopped():
    (need,) = list_needs(replace(QUIET, faults=broken({}, runs=[silent("r1")])))
    assert (need.text, need.link, need.words) == (
        "Run r1 on web has logged nothing for more than 120 s, the limit of a step on a host.", "/runs/r1", "Open run",
    )  # fmt: skip
    assert need.since == NOW - HOST_STEP.seconds - GRACE - 1
    assert need.presses == (
        NeedButton("/runs/r1/ask", "pause", "Pause run"),
        NeedButton("/runs/r1/ask", "stop", "Stop run r1", confirms=True),
    )
    assert need.about == "progress NO PROGRESS r1"


def test_many_runs_that_make_no_progress_are_one_need_that_leads_to_the_list():
    (need,) = list_needs(replace(QUIET, faults=broken({}, runs=[silent(f"r{n}") for n in range(4)])))
    assert need.text == "4 runs log nothing for longer than their steps may take: r0, r1, r2 and 1 more."
    assert (need.link, need.presses, need.about) == ("/runs", (), "progress NO PROGRESS")


def test_drift_a_missed_schedule_a_refused_webhook_and_a_full_disk_are_told():
    run = RunRow(
        id="r1", host="web1", state="finished", mode="scan", skill="stig", lineup="l", simulated=True, note="",
        queued_at=1.0, drifted=2,
    )  # fmt: skip
    schedule = ScheduleRow(
        id="s1", host="web1", skill="stig", rules="", mode="scan", cron="0 0 * * *", zone="UTC", by="", made_at=0,
        next_at=0, outcome="2 missed since 12:00, Temper did not run.", unkept=True,
    )  # fmt: skip
    webhook = WebhookRow(id="w1", url="http://x", secret="", kinds="", created_at=0, problem="it answered 500")
    told = list_needs(
        replace(QUIET, hosts=[run], schedules=[schedule], webhooks=[webhook], faults=broken({}, unwritten=5.0))
    )
    assert [need.text for need in told] == [
        "Temper cannot write its log: check for a full disk or an unreachable database.",
        "web1: 2 rules drifted.",
        "Schedule s1 on web1: 2 missed since 12:00, Temper did not run.",
        "Webhook w1 was not accepted: it answered 500",
    ]
    schedule.enabled = False
    assert list_needs(replace(QUIET, schedules=[schedule])) == []


def test_a_node_whose_clock_is_off_by_more_than_a_second_is_named():
    near, ahead, behind = (
        NodeStatus(name, "worker", NOW, 0.0, leads=False, runs=(), clock_off=off)
        for name, off in (("near", 0.9), ("ahead", 45.2), ("behind", -7200.0))
    )
    assert [need.text for need in list_needs(replace(QUIET, nodes=[near, ahead, behind]))] == [
        "The clock of node ahead is 45 s ahead of the database's. Synchronise it, for example with chrony.",
        "The clock of node behind is 7200 s behind the database's. Synchronise it, for example with chrony.",
    ]


def test_a_node_that_fell_silent_and_a_host_that_a_process_keeps_from_another_are_named():
    lost = NodeStatus("web-7-ab", "worker", NOW, 40.4, leads=False, runs=())
    held = StuckHost("db1", 4711, NOW, stopped=True, waiting=(4712,))
    first, other = list_needs(replace(QUIET, lost_nodes=[lost], stuck_hosts=[held]))
    assert first.text.startswith("Node web-7-ab has been silent for 40 s, and its runs went to other nodes.")
    assert other.text.startswith("Process 4711 has held host db1 for ")
    assert (other.since, other.about) == (NOW, "host db1 is held")


def test_a_queued_run_on_which_nothing_works_can_be_stopped():
    left = RunProgress("r1", "web", "queued", NOW - STARTING - 1, is_held=False)
    (need,) = list_needs(replace(QUIET, faults=broken({}, runs=[left])))
    assert (need.text, need.link) == ("Run r1 on web is queued, and nothing works on it.", "/runs/r1")
    assert [(press.verb, press.confirms) for press in need.presses] == [("stop", True)]


def test_a_backup_that_is_old_or_was_never_made_needs_somebody_and_a_young_one_does_not():
    old = replace(QUIET, backed_up_at=NOW - 8 * DAY, backup_age=8 * DAY)
    (need,) = list_needs(old)
    assert (need.text, need.since) == ("The newest backup is 8 days old. Make one: temper backup FILE", NOW - 8 * DAY)
    (need,) = list_needs(replace(old, backed_up_at=None))
    assert need.text == "No backup was made in the 8 days since the start. Make one: temper backup FILE"
    assert list_needs(replace(old, backup_age=6 * DAY)) == []
    assert list_needs(replace(old, backup_days=30.0)) == []
    assert list_needs(QUIET) == [], "another node may have one"

"""The same orders at every door: the same verdict, the same sentence, and of a good one the same run."""

import math

import pytest
from sqlmodel import Session, select

from app.background.schedules.schedule_editing import create_order_from_schedule
from app.errors import EnvironmentUnusable, Rejected
from app.events.event_field_types import Budget
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import BOUNDS, LONGEST, Order, create_run_request
from app.runs.rollout.rollout_request import RolloutSpec, create_order_without_host, create_rollout_request
from app.skills.catalog import load_skill
from app.store.models import ScheduleRow
from app.targets import host_registry
from app.targets.host_registry import DisposableMachine
from app.targets.ssh.endpoint import Endpoint
from app.web.pages.order_form_parser import parse_order_form
from tests.runs.doors import house

LINEUP = read_lineup(require_lineup_path("simulated"))
FLAGS = {"consent": "--without-rollback"}
EVERY_HOUR = {"cron": "0 * * * *"}
SAID = {
    "a host that is not there": ({"host": "moon"}, 422, "There is no host 'moon'"),
    "a skill that is not there": ({"skill": "cis"}, 422, "There is no skill 'cis'; choose one of "),
    "a rule that is nearly there": ({"rules": ["V-257985", "V-2579855"]}, 422, "the nearest are V-257985"),
    "a rule like no other": ({"rules": ["V-1"]}, 422, "it has rules such as V-"),
    "no rule at all": ({"rules": []}, 422, "No rules are selected: give rules of "),
    "a mode that is none": (
        {"mode": "yolo"},
        422,
        "There is no mode 'yolo': choose one of auto, review, dry-run, scan.",
    ),
    "a mode that is empty": ({"mode": ""}, 422, "There is no mode ''"),
    "a mode that the skill does not have": ({"skill": "drift", "mode": "review"}, 422, "runs only in mode dry-run"),
    "other words of consent": ({"consent": "yes"}, 422, "This is not the consent for fixture"),
}
TAKEN = {
    "whatever is usual": {"mode": "scan"},
    "all of them by name": {"rules": ["all"], "mode": "review"},
    "two rules, one of them twice": {"rules": ["V-257985", "V-258074", "V-257985"], "mode": "dry-run"},
    "another skill": {"skill": "drift", "mode": "dry-run"},
    "in the words of consent": {"mode": "scan", "consent": "I accept that fixture cannot be rolled back"},
}
"""With a mode: left out it is scan on a schedule, and the host's usual one elsewhere."""


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        yield made


def form(order):
    return {name: ",".join(value) if name == "rules" else value for name, value in order.items()}


def words(order):
    return [word for name, value in form(order).items() for word in (FLAGS.get(name, f"--{name}"), value)]


async def page(doors, order):
    answer = await doors.http.post("/runs", data=form(order))
    return None if answer.status_code == 303 else (answer.status_code, answer.json()["detail"])


async def api(doors, order):
    answer = await doors.http.post("/api/v1/runs", json={"host": "fixture"} | order)
    return None if answer.status_code == 202 else (answer.json()["status"], answer.json()["detail"])


async def terminal(doors, order):
    """What is good comes as far as the data folder, whose lock cannot be one."""
    doors.settings.lock_path.mkdir(exist_ok=True)
    wrong = await doors.typed("run", *words(order))
    if isinstance(wrong, EnvironmentUnusable):
        assert "Choose a writable folder" in str(wrong)
        return None
    return 422, wrong.sentence


async def schedule(doors, order):
    host, rest = order.get("host", "fixture"), {name: value for name, value in order.items() if name != "host"}
    wrong = await doors.typed("schedule", "add", host, "--cron", "0 * * * *", *words(rest))
    return (422, wrong.sentence) if wrong else None


async def schedule_of_the_page(doors, order):
    answer = await doors.http.post("/schedules", data=EVERY_HOUR | {"host": "fixture"} | form(order))
    return None if answer.status_code == 303 else (answer.status_code, answer.json()["detail"])


async def schedule_of_the_api(doors, order):
    answer = await doors.http.post("/api/v1/schedules", json=EVERY_HOUR | {"host": "fixture"} | order)
    return None if answer.status_code == 201 else (answer.json()["status"], answer.json()["detail"])


RUNS = (page, api, terminal)
SCHEDULES = (schedule, schedule_of_the_page, schedule_of_the_api)


async def test_what_is_wrong_is_refused_at_every_door_in_the_same_sentence(doors):
    for what, (order, status, says) in SAID.items():
        asked = RUNS if "consent" in order else (*RUNS, *SCHEDULES)
        found = {door.__name__: await door(doors, order) for door in asked}
        assert len(set(found.values())) == 1, (what, found)
        ((answered, said),) = set(found.values())
        assert answered == status, what
        assert says in said, what
    assert doors.submitted == []
    assert scheduled(doors) == []


async def test_what_is_right_is_taken_at_every_door_and_is_the_same_run(doors):
    for what, order in TAKEN.items():
        doors.submitted.clear()
        asked = RUNS if "consent" in order else (*RUNS, *SCHEDULES)
        begun = []
        for door in asked:
            assert await door(doors, order) is None, (what, door.__name__)
            begun += scheduled(doors)
        begun += doors.submitted
        assert len(begun) == len(asked) - 1, "the terminal's did not come into a log"
        assert len({(one.host, one.skill, one.rules, one.mode, one.consent) for one in begun}) == 1, what
        assert len(begun[0].rules) == len(set(begun[0].rules)) > 0, what


async def test_of_two_schedules_that_do_the_same_the_second_is_refused_at_every_door(doors):
    assert await schedule(doors, {}) is None
    found = [await door(doors, {}) for door in (schedule_of_the_page, schedule_of_the_api)]
    assert {status for status, _ in found} == {409}
    assert len({said for _, said in found} | {(await schedule(doors, {}))[1]}) == 1


def scheduled(doors):
    """What becomes of the schedules when they fire. They are gone then."""
    with Session(doors.database) as session, session.begin():
        rows = session.exec(select(ScheduleRow)).all()
        begun = [
            create_run_request(create_order_from_schedule(row, 0), doors.lineup, doors.settings.hosts_folder)
            for row in rows
        ]
        for row in rows:
            session.delete(row)
    return begun


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({name: "x" * (most + 1)}, name) for name, most in LONGEST.items()
    ] + [
        ({"budget": Budget(**{name: kind(value)})}, f"budget.{name}")
        for name, bounds in BOUNDS.items()
        for kind in [type(getattr(Budget(), name))]
        for value in (bounds[0] - 1, bounds[1] + 1)
    ] + [
        ({"budget": Budget(item_seconds=math.nan)}, "budget.item_seconds"),
        ({"rules": ("V-257985",) * 1001}, "rules"),
        ({"rules": ("V-257985",), "profile": "cat-1"}, "profile"),
        ({"profile": "cat-4"}, "profile"),
    ],
)  # fmt: skip
def test_what_is_too_much_or_too_little_is_named(tmp_path, more, field):
    with pytest.raises(Rejected) as wrong:
        create_run_request(Order(by="ada", **more), LINEUP, tmp_path)
    assert wrong.value.field == field


def test_a_profile_is_the_rules_of_its_category(tmp_path):
    rules = create_run_request(Order(profile="cat-1", by="ada"), LINEUP, tmp_path).rules
    assert {load_skill("stig").rules[rule].category for rule in rules} == {"I"}


@pytest.mark.parametrize(
    ("host", "mode", "words"),
    [
        (
            "fixture",
            "auto",
            "does not boot: choose a host over SSH or a machine of temper machine, or leave reboot out",
        ),
        ("debian", "auto", "debian is a Debian in a namespace of this machine and does not boot"),
        ("web1", "scan", "a run in mode scan changes nothing: choose auto or review, or leave reboot out"),
        ("web1", "dry-run", "a run in mode dry-run changes nothing"),
        ("web1", "review", ""),
        ("trial", "auto", ""),
    ],
)
def test_a_reboot_is_ordered_only_of_what_boots_and_was_changed(tmp_path, host, mode, words):
    end = Endpoint(user="temper", address="127.0.0.1", port=22, way="agent")
    for name, machine in (
        ("web1", None),
        ("debian", DisposableMachine("rootfs", "/x/debian")),
        ("trial", DisposableMachine("vm", "/x/trial")),
    ):
        host_registry.register_host(tmp_path, name, end, "", "SHA256:x", machine=machine)
    order = Order(by="ada", host=host, mode=mode, reboot=True)
    if not words:
        assert create_run_request(order, LINEUP, tmp_path).reboot
        return
    with pytest.raises(Rejected) as wrong:
        create_run_request(order, LINEUP, tmp_path)
    assert (wrong.value.field, words in str(wrong.value)) == ("reboot", True)


def test_a_rollout_reboots_each_of_its_hosts(tmp_path):
    end = Endpoint(user="temper", address="127.0.0.1", port=22, way="agent")
    host_registry.register_host(tmp_path, "web1", end, "", "SHA256:x")
    spec = RolloutSpec(order=parse_order_form({"reboot": "1"}, by="ada"), hosts=("web1",), words="web1")
    asked = create_rollout_request(spec, LINEUP, tmp_path)
    assert create_order_without_host(asked, "o1").reboot

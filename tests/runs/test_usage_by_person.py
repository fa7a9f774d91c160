"""Who ordered what it cost: by person and API token, at every door alike."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest
from sqlmodel import Session
from typer.testing import CliRunner

from app.__main__ import app as terminal
from app.background.schedules.schedule_editing import create_order_from_schedule
from app.errors import Rejected
from app.events.event_field_types import Budget, Spent
from app.events.kinds import EnergySpent, RunQueued, TurnFinished
from app.events.record import MACHINE, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.runs.order import Order, create_run_request
from app.runs.rollout.rollout_request import (
    RolloutSpec,
    RolloutTerms,
    create_order_without_host,
    create_rollout_request,
)
from app.runs.usage_by_person import (
    format_usage_csv,
    map_runs_to_newest_energy_sample,
    parse_usage_query,
    sum_usage_per_period_and_person,
)
from app.store import issued_credentials
from app.store.models import PersonRow, RunRow, ScheduleRow
from tests.runs.doors import house

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC).timestamp()
DAY = 24 * 3600.0


def ran(run, whose="ada", token="", at=NOW, simulated=False):
    return RunRow(id=run, whose=whose, token=token, simulated=simulated, queued_at=at, tokens_in=100, tokens=10)


def drew(run, joules, *, sampled=10.0, simulated=False, role="worker"):
    spent = (Spent(role=role, gpu_seconds=10.0, sampled_seconds=sampled, joules=joules),)
    event = EnergySpent(of=run, until=NOW, final=True, simulated=simulated, spent=spent)
    return build_recorded_event(MACHINE, 1, NOW, event, "")


def test_what_is_measured_and_what_is_played_are_never_one_sum():
    runs = [
        ran("a"),
        ran("b"),
        ran("c", simulated=True),
        ran("d", token="t1"),
        ran("e", whose="bob", at=NOW - 40 * DAY),
    ]
    energy = map_runs_to_newest_energy_sample(
        [drew("a", 5.0), drew("a", 50.0), drew("b", 1.0, sampled=1.0), drew("c", 7.0, simulated=True)]
    )
    lines = sum_usage_per_period_and_person(runs, energy, {"t1": "ci"}, "month")
    assert [(one.period, one.person, one.label, one.simulated, one.runs) for one in lines] == [
        ("2026-10", "bob", "", False, 1),
        ("2026-11", "ada", "", False, 2),
        ("2026-11", "ada", "", True, 1),
        ("2026-11", "ada", "ci", False, 1),
    ]
    bob, ada, played, ci = lines
    assert (ada.tokens_in, ada.tokens_out) == (200, 20)
    assert (ada.joules, ada.gpu_seconds, ada.runs_with_energy) == (50.0, 10.0, 1), "of b too little was sampled"
    assert (played.joules, played.gpus_simulated) == (7.0, True)
    assert (bob.joules, ci.gpu_seconds) == (None, None)
    assert {one.period for one in sum_usage_per_period_and_person(runs, {}, {}, "day")} == {"2026-10-13", "2026-11-22"}


def test_days_are_utc_and_both_counted():
    asked = parse_usage_query("2026-11-01", "2026-11-30", "day", None, NOW)
    assert (asked.until - asked.since) / DAY == 30
    assert parse_usage_query("", "", "month", "ada", NOW).since == datetime(2026, 11, 1, tzinfo=UTC).timestamp()
    for since, until, per, field in (
        ("yesterday", "", "day", "since"),
        ("2026-02-30", "", "day", "since"),
        ("", "2026-11-30T00:00", "day", "until"),
        ("2026-11-30", "2026-11-01", "day", "until"),
        ("", "", "week", "per"),
    ):
        with pytest.raises(Rejected) as caught:
            parse_usage_query(since, until, per, None, NOW)
        assert caught.value.field == field


def test_a_name_that_a_spreadsheet_would_run_is_text():
    lines = sum_usage_per_period_and_person([ran("a", token="t")], {}, {"t": "=cmd|'/c calc'!A1"}, "month")
    (row,) = csv.DictReader(io.StringIO(format_usage_csv(lines)))
    assert row["label"].startswith("'=cmd")
    assert (row["simulated"], row["joules"], row["tokens_in"]) == ("no", "", "100")


def test_a_schedules_and_a_rollouts_runs_count_for_who_made_them(tmp_path):
    lineup = read_lineup(require_lineup_path("simulated"))
    row = ScheduleRow(
        id="s1", host="fixture", skill="stig", rules="", mode="scan", cron="@daily", zone="UTC", by="ada", made_at=0,
        next_at=0,
    )  # fmt: skip
    request = create_run_request(create_order_from_schedule(row, 1.0), lineup, tmp_path)
    assert (request.by, request.whose) == ("schedule s1 of ada", "ada")
    asked = create_rollout_request(
        RolloutSpec(order=create_order_from_schedule(row, 1.0), hosts=("fixture",), words="all", terms=RolloutTerms()),
        lineup,
        tmp_path,
    )
    request = create_run_request(create_order_without_host(asked, "x1"), lineup, tmp_path)
    assert (request.by, request.whose) == ("rollout x1 of schedule s1 of ada", "ada")
    order = Order(by="bob", token="t1")
    asked = create_rollout_request(
        RolloutSpec(order=order, hosts=("fixture",), words="all", terms=RolloutTerms()), lineup, tmp_path
    )
    request = create_run_request(create_order_without_host(asked, "x1"), lineup, tmp_path)
    assert (request.whose, request.token) == ("bob", "t1")


QUEUED = {"host": "fixture", "skill": "stig", "rules": ("V-257820",), "mode": "auto", "budget": Budget()}
TURN = TurnFinished(
    turn="t", role="worker", purpose="act", outcome="answered", detail="", thought="", answer="", prompt_tokens=900,
    completion_tokens=50,
)  # fmt: skip


@pytest.fixture
async def signed(tmp_path):
    """An admin, an operator with a token, and a run of each."""
    async with house(tmp_path / "data", sign_in=True) as made:
        made.tokens, ids = {}, {}
        with Session(made.database) as session, session.begin():
            for name, right in (("root", "admin"), ("ada", "operator"), ("eve", "viewer")):
                session.add(PersonRow(name=name, right=right, made_at=1.0))
                session.flush()
                row, secret = issued_credentials.issue_credential(
                    session, person=name, right=right, kind="token", label=f"{name}'s", seconds=3600.0
                )
                made.tokens[name], ids[name] = {"authorization": f"Bearer {secret}"}, row.id
        for name, token in ids.items():
            made.append(f"r-{name}", RunQueued(**QUEUED, lineup="l", simulated=True, by=name, token=token), TURN)
        yield made


async def test_an_operator_sees_their_own_and_an_admin_all(signed):
    async def told(who, path="/api/v1/usage?since=1970-01-01"):
        return await signed.http.get(path, headers=signed.tokens[who])

    (own,) = (await told("ada")).json()["usage"]
    assert (own["person"], own["label"], own["runs"], own["tokens_in"], own["tokens_out"]) == (
        "ada",
        "ada's",
        1,
        900,
        50,
    )
    assert (own["simulated"], own["energy"]["value"], own["energy"]["provenance"]) == (True, None, "unsupported")
    assert [one["person"] for one in (await told("root")).json()["usage"]] == ["ada", "eve", "root"]
    assert (await told("eve")).status_code == 403
    exported = await told("ada", "/api/v1/usage.csv?since=1970-01-01&per=day")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    assert [row["person"] for row in csv.DictReader(io.StringIO(exported.text))] == ["ada"]
    assert (await told("ada", "/api/v1/usage?per=week")).status_code == 422


async def test_a_run_is_ordered_with_the_token_that_asked(signed):
    body = {"host": "fixture", "rules": ["V-257820"]}
    assert (await signed.http.post("/api/v1/runs", json=body, headers=signed.tokens["ada"])).status_code == 202
    (order,) = signed.submitted
    with Session(signed.database) as session:
        token = issued_credentials.find_credential_even_if_invalid(
            session, signed.tokens["ada"]["authorization"].removeprefix("Bearer ")
        )
        assert (order.by, order.whose, order.token) == ("ada", "", token.id)


async def test_the_terminal_and_the_page_say_the_same(signed):
    line = ["usage", "--since", "1970-01-01", "--data", str(signed.settings.data)]
    told = json.loads(CliRunner().invoke(terminal, [*line, "--json"]).output)
    assert [(one["person"], one["tokens_in"]) for one in told] == [("ada", 900), ("eve", 900), ("root", 900)]
    assert CliRunner().invoke(terminal, [*line, "--csv"]).output.startswith("period,person,token,label,")
    assert "No runs this month." in (await signed.http.get("/people", headers=signed.tokens["root"])).text

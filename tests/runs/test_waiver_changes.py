"""The same waivers at every door: the same sentence where something is wrong, and the same row where nothing is."""

from datetime import UTC, datetime, timedelta

from sqlmodel import Session

from app.store import audit
from app.store.host_groups import replace_group
from app.store.waivers import list_waivers
from tests.runs.doors import refused_alike

SOON = (datetime.now(UTC).date() + timedelta(90)).isoformat()
GOOD = {"rule": "V-257985", "host": "fixture", "owner": "Ops lead", "reason": "The old client.", "until": SOON}
TODAY = datetime.now(UTC).date().isoformat()
WRONG = {
    "a rule that is not there": ({"rule": "V-2579855"}, "the nearest are V-257985"),
    "a host that is not there": ({"host": "moon"}, "There is no host 'moon'"),
    "a group that is not there": ({"host": "", "group": "moon"}, "There is no group 'moon': the groups are lab."),
    "a host and a group": ({"group": "lab"}, "Give a host or a group, not both."),
    "a skill that is not there": ({"skill": "cis"}, "There is no skill 'cis'"),
    "no owner": ({"owner": " "}, "Give an owner"),
    "no reason": ({"reason": ""}, "Give a reason: the evidence contains it."),
    "no day": ({"until": "soon"}, "'soon' is not a date: write it as 2"),
    "today": ({"until": TODAY}, "A waiver must end after today"),
    "for good": ({"until": "2099-01-01"}, "reviewed once a year"),
    "a long reason": ({"reason": "x" * 1001}, "The reason has 1001 characters; the limit is 1000."),
}


async def page(doors, wish):
    answer = await doors.http.post("/waivers", data=wish)
    return None if answer.status_code == 303 else answer.json()["detail"]


async def api(doors, wish):
    answer = await doors.http.post("/api/v1/waivers", json=wish)
    return None if answer.status_code == 201 else answer.json()["detail"]


async def terminal(doors, wish):
    words = [word for name, value in wish.items() if name != "rule" for word in (f"--{name}", value)]
    wrong = await doors.typed("waiver", "add", wish["rule"], *words)
    return wrong.sentence if wrong else None


def rows(doors):
    with Session(doors.database) as session:
        return [row.model_copy() for row in list_waivers(session)]


async def test_what_is_wrong_is_refused_at_every_door_in_the_same_sentence(doors):
    await refused_alike(doors, GOOD, WRONG, page, api, terminal)
    assert rows(doors) == []


async def test_what_is_right_is_taken_at_every_door_and_nowhere_twice(doors):
    for door, rule in ((page, "V-257985"), (api, "V-257984"), (terminal, "V-257986")):
        assert await door(doors, GOOD | {"rule": rule}) is None
        for other in (page, api, terminal):
            assert "end it first" in await other(doors, GOOD | {"rule": rule})
    assert len({(row.scope_kind, row.scope_name, row.owner, row.reason, row.until) for row in rows(doors)}) == 1
    assert len(rows(doors)) == 3


async def test_one_for_a_group_is_taken_at_every_door_and_shown_with_the_hosts_that_are_in_it(doors):
    wish = GOOD | {"host": "", "group": "lab"}
    for door, rule in ((page, "V-257985"), (api, "V-257984"), (terminal, "V-257986")):
        assert await door(doors, wish | {"rule": rule}) is None
        assert "on group lab" in await door(doors, wish | {"rule": rule})
        assert await door(doors, GOOD | {"rule": rule}) is None, "the host's own is another waiver"
    listed = (await doors.http.get("/api/v1/waivers")).json()["waivers"]
    assert {(one["host"], one["group"]) for one in listed} == {(None, "lab"), ("fixture", None)}
    assert "group lab <small>fixture</small>" in (await doors.http.get("/waivers")).text
    with Session(doors.database) as session, session.begin():
        replace_group(session, "lab", [])
    assert "group lab <small>the group has no hosts</small>" in (await doors.http.get("/waivers")).text


async def test_it_is_listed_shown_and_taken_back_and_stays_on_record(doors):
    made = (await doors.http.post("/api/v1/waivers", json=GOOD | {"host": None, "ticket": "CHG-7"})).json()
    assert (made["state"], made["host"], made["until"]) == ("in force", None, SOON)
    text = (await doors.http.get("/waivers")).text
    assert f'id="waiver-{made["id"]}"' in text
    assert "every host" in text
    place = f"/api/v1/waivers/{made['id']}"
    assert (await doors.http.post(f"{place}/end", json={"reason": " "})).status_code == 422
    ended = (await doors.http.post(f"{place}/end", json={"reason": "It was fixed."})).json()
    assert (ended["state"], ended["ended_why"]) == ("taken back", "It was fixed.")
    assert (await doors.http.post(f"{place}/end", json={"reason": "again"})).status_code == 422
    assert (await doors.http.get("/api/v1/waivers")).json()["waivers"] == [ended]
    assert (await doors.http.get("/api/v1/waivers?in_force=true")).json()["waivers"] == []
    assert (await doors.http.get("/api/v1/waivers/none")).status_code == 404
    assert "taken back" in (await doors.http.get("/waivers")).text


async def test_the_terminals_words_are_on_record(doors):
    await terminal(doors, GOOD)
    (row,) = rows(doors)
    assert await doors.typed("waiver", "end", row.id, "--why", "It was fixed.") is None
    assert "is no longer in force" in (await doors.typed("waiver", "end", row.id, "--why", "x")).sentence
    with Session(doors.database) as session:
        told = [one.event for one in audit.list_audit_events(session, 10)]
    assert [one.did for one in told][:2] == [f"waiver end {row.id}", f"waiver add {row.id} V-257985"]
    assert "WAIVED until" in told[1].detail


async def test_hostile_words_are_text(doors):
    said = "</td><script>1</script>\x1b[2J"
    assert await api(doors, GOOD | {"owner": said, "reason": said}) is None
    assert "<script>1" not in (await doors.http.get("/waivers")).text
    assert "\x1b" not in rows(doors)[0].owner


async def test_the_form_is_filled_in_from_where_one_comes(doors):
    text = (await doors.http.get("/waivers?rule=V-257985&host=fixture")).text
    assert 'value="V-257985"' in text
    assert "<option selected>fixture</option>" in text

"""The site's values at every door: the same sentence where something is wrong, and the nearest counts on a host."""

import hashlib

import pytest
from sqlmodel import Session

from app.errors import BadInput
from app.events.event_field_types import ParameterUsed
from app.events.kinds import ItemStarted
from app.runs.site_values import load_skill_with_site_values
from app.store import audit
from app.store.host_groups import replace_group
from app.store.parameters import ParameterRow, list_parameters
from tests.evidence.logs import queued, started
from tests.runs.doors import refused_alike

GOOD = {"name": "minlen", "value": "20"}
WRONG = {
    "weaker than the STIG": (
        {"value": "8"},
        "'8' will not do for minlen: 15 is the least. The STIG asks for 15 or more (V-258107).",
    ),
    "a question that is off": (
        {"name": "client_alive_interval", "value": "0"},
        "10 is the least. The STIG allows 600 at the most, and 0 switches the question off (V-257996).",
    ),
    "beyond the bound": ({"name": "tmout", "value": "601"}, "600 is the most. The STIG allows 600 at the most"),
    "no number": ({"value": "twenty"}, "it takes a whole number. The STIG asks"),
    "no choice": (
        {"name": "disk_full_action", "value": "EMAIL"},
        "choose HALT or SINGLE or SYSLOG. The STIG allows these three",
    ),
    "nothing": ({"value": " "}, "it has 1 to 4000 characters"),
    "what nobody can see": ({"name": "banner", "value": "a\u202eb"}, "none that nobody can see"),
    "another name": ({"name": "minlenn"}, "has no parameter 'minlenn': the nearest are minlen"),
    "no host": ({"host": "moon"}, "There is no host 'moon'"),
    "no group": ({"group": "moon"}, "There is no group 'moon': the groups are lab."),
    "both": ({"host": "fixture", "group": "lab"}, "Give a host or a group, not both."),
    "no skill": ({"skill": "cis"}, "There is no skill 'cis'"),
}


async def page(doors, wish):
    answer = await doors.http.post("/parameters", data=wish)
    return None if answer.status_code == 303 else answer.json()["detail"]


async def api(doors, wish):
    body = {name: value for name, value in wish.items() if name != "name"}
    answer = await doors.http.put(f"/api/v1/parameters/{wish['name']}", json=body)
    return None if answer.status_code == 200 else answer.json()["detail"]


async def terminal(doors, wish):
    words = [word for name, value in wish.items() if name not in ("name", "value") for word in (f"--{name}", value)]
    wrong = await doors.typed("parameter", "set", wish["name"], wish["value"], *words)
    return wrong.sentence if wrong else None


def rows(doors):
    with Session(doors.database) as session:
        return {(row.name, row.scope.label): row.value for row in list_parameters(session)}


async def test_what_is_wrong_is_refused_at_every_door_in_the_same_sentence(doors):
    await refused_alike(doors, GOOD, WRONG, page, api, terminal)
    assert rows(doors) == {}


async def test_what_is_right_is_taken_at_every_door(doors):
    wishes = {page: {}, api: {"group": "lab"}, terminal: {"host": "fixture"}}
    for number, (door, where) in enumerate(wishes.items(), 20):
        assert await door(doors, GOOD | where | {"value": str(number)}) is None
    assert rows(doors) == {
        ("minlen", "every host"): "20",
        ("minlen", "group lab"): "21",
        ("minlen", "host fixture"): "22",
    }


async def seen(doors, host="fixture"):
    found = (await doors.http.get(f"/api/v1/parameters?host={host}")).json()["parameters"]
    (one,) = [each for each in found if each["name"] == "minlen"]
    return one["value"], one["where"]


async def test_the_nearest_counts_and_clearing_it_leaves_the_next(doors):
    assert await seen(doors) == ("15", "")
    for where, value in (({}, "20"), ({"group": "lab"}, "21"), ({"host": "fixture"}, "22")):
        await api(doors, GOOD | where | {"value": value})
    assert await seen(doors) == ("22", "host fixture")
    assert await seen(doors, "") == ("20", "every host")
    assert (await doors.http.delete("/api/v1/parameters/minlen?host=fixture")).status_code == 204
    assert await seen(doors) == ("21", "group lab")
    with Session(doors.database) as session, session.begin():
        replace_group(session, "lab", [])
        replace_group(session, "zoo", ["fixture"])
        replace_group(session, "ark", ["fixture"])
    assert await seen(doors) == ("20", "every host")
    await api(doors, GOOD | {"group": "zoo", "value": "30"})
    await api(doors, GOOD | {"group": "ark", "value": "31"})
    assert await seen(doors) == ("31", "group ark")
    assert await doors.typed("parameter", "clear", "minlen", "--group", "ark") is None
    assert (await doors.http.post("/parameters/clear", data={"name": "minlen", "group": "zoo"})).status_code == 303
    assert await seen(doors) == ("20", "every host")
    gone = await doors.http.delete("/api/v1/parameters/minlen?host=fixture")
    assert gone.json()["detail"] == "Minlen is not set for host fixture: there is nothing to clear."


async def test_the_page_says_what_counts_and_from_where(doors):
    await api(doors, GOOD | {"group": "lab"})
    await api(doors, {"name": "banner", "value": "</td><script>1</script> Stay out."})
    text = (await doors.http.get("/parameters?host=fixture")).text
    assert "20 <small>group lab</small>" in text
    assert "15 or more" in text or "15 to 255" in text
    assert "<script>1" not in text


async def test_a_run_goes_by_it_and_says_so(doors):
    await api(doors, GOOD | {"group": "lab"})
    for name in ("stig", "drift"):
        made = load_skill_with_site_values(name, "fixture", doors.database)
        known = {one.name: one for one in made.used}
        assert "minlen" not in known or known["minlen"].rules == ("V-258107",)
    made = load_skill_with_site_values("stig", "fixture", doors.database)
    (one,) = made.used
    assert (one.value, one.where, one.rules) == ("20", "group lab", ("V-258107",))
    assert one.sha256 == hashlib.sha256(b"20").hexdigest()
    assert "minlen has to be 20 or more" in made.rules["V-258107"].requirement
    assert load_skill_with_site_values("stig", "other", doors.database).used == ()


async def test_a_value_that_will_not_do_any_more_is_said_and_not_passed_over(doors):
    row = ParameterRow(skill="stig", name="minlen", scope_kind="all", scope_name="", value="8", by="ada", at=1.0)
    with Session(doors.database) as session, session.begin():
        session.add(row)
    with pytest.raises(BadInput, match=r"is no longer valid for .*: '8' will not do for minlen"):
        load_skill_with_site_values("stig", "fixture", doors.database)


async def test_a_notice_of_many_lines_comes_from_a_file_and_is_on_record(doors, tmp_path):
    (tmp_path / "notice").write_text("Stay out.\nThis is ours.\n")
    assert await doors.typed("parameter", "set", "banner", "--file", str(tmp_path / "notice")) is None
    assert rows(doors) == {("banner", "every host"): "Stay out.\nThis is ours."}
    assert "cannot be read" in (await doors.typed("parameter", "set", "banner", "--file", "/nowhere")).sentence
    assert "not both" in (await doors.typed("parameter", "set", "banner", "x", "--file", "/nowhere")).sentence
    with Session(doors.database) as session:
        assert audit.list_audit_events(session, 1)[0].event.did == "parameter set banner"


async def test_a_runs_pages_say_what_it_asks_for_there(doors):
    used = ParameterUsed(name="minlen", value="20", sha256="", rules=("V-258107",), where="group lab")
    item = ItemStarted(rule="V-258107", title="t", category="II")
    doors.append("0a1b2c3d", queued(["V-258107"]), started(parameters=(used,)), item)
    text = (await doors.http.get("/runs/0a1b2c3d/items/V-258107")).text
    assert "minlen has to be 20 or more" in text
    assert "The site chose 20 where 15 is usual." in text

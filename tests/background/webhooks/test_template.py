"""What a chat or a mail gateway is told: in its own form, and nothing that a host said can break out of it."""

import json

import pytest

from app.background.webhooks.delivery_body_and_signature import (
    compute_base64_signature,
    create_signed_delivery,
    create_trial_delivery,
    create_webhook_secret,
)
from app.background.webhooks.template import (
    JSON,
    LONGEST,
    NAMED,
    PLACES,
    PLAIN,
    USUAL_KINDS,
    collect_placeholder_values,
    fill_body_and_content_type,
    resolve_valid_template,
)
from app.errors import Rejected
from app.events.kinds import KINDS, ItemEscalated, RolloutPaused, RolloutWaveEnded, SentryAlarm
from app.events.record import GENESIS, build_recorded_event
from tests.runs.doors import house

HOSTILE = (
    '"}, "channel": "#all", "x": {"y": "\n\r\u2028<!channel> '
    "<https://evil.example|fine> @here [ok](http://e.example) \x1b[2J"
)


def told(reason=HOSTILE):
    return build_recorded_event("r1", 7, 1000.0, ItemEscalated(rule="V-1", reason=reason), GENESIS)


def body(template, reason=HOSTILE):
    return fill_body_and_content_type(
        resolve_valid_template(template), collect_placeholder_values(told(reason), "web", simulated=True)
    )


def test_a_chat_gets_one_text_that_calls_nobody_and_leads_nowhere():
    sent, form = body("chat")
    assert form == JSON
    said = json.loads(sent)
    assert list(said) == ["text"]
    assert said["text"].startswith('▲ V-1 escalated: "}, "channel"')
    assert said["text"].endswith("Run r1 on web (simulated engines)")
    for order in ("<", ">", "@", "](", "://", "\n", "\x1b", "\u2028"):
        assert order not in said["text"], order


def test_a_mail_gateway_gets_plain_words():
    sent, form = body("mail", "for a person")
    assert form == PLAIN
    assert sent.decode().splitlines() == [
        "▲ V-1 escalated: for a person. Run r1 on web (simulated engines)",
        "",
        "Run r1 on web, 1970-01-01T00:16:40.000Z. /runs/r1?at=7",
    ]


def test_places_of_ones_own_are_filled_wherever_a_string_stands():
    template = '{"subject": "{kind} on {host}", "to": ["ops"], "more": {"n": 1, "at": "https://temper.example{path}"}}'
    sent, _ = body(template, "{host} {text}")
    assert json.loads(sent) == {
        "subject": "item.escalated on web",
        "to": ["ops"],
        "more": {"n": 1, "at": "https://temper.example/runs/r1?at=7"},
    }
    again = json.loads(body('{"text": "{text}"}', "{host} {text}")[0])["text"]
    assert "{host} {text}" in again, "what a host says is not filled once more"


@pytest.mark.parametrize("wrong", ["{nothing}", '{"text": "{text}"', "[1,", "x" * (LONGEST + 1)])
def test_a_template_that_cannot_be_filled_is_refused(wrong):
    with pytest.raises(Rejected) as said:
        resolve_valid_template(wrong)
    assert said.value.field == "template"


def test_what_is_named_is_there():
    assert set(USUAL_KINDS) <= {*KINDS, "waiver.ending", "waiver.ended"}
    assert all(resolve_valid_template(name) == template for name, template in NAMED.items())
    assert set(collect_placeholder_values(told(), "h", simulated=False)) == set(PLACES)


def test_of_a_rollout_it_is_told_in_the_rollouts_words():
    ended = RolloutWaveEnded(wave=2, hosts=4, left=1, findings=24, passed=20, escalated=3, harmed=1)
    paused = RolloutPaused(by="rule", reason="1 host is harmed or could not be finished: <!here>")
    said = [
        collect_placeholder_values(build_recorded_event("o1", 3, 1.0, event, GENESIS), "web,db*", simulated=True)
        for event in (ended, paused)
    ]
    assert said[0]["text"] == (
        "▪ Wave 2 has ended: 4 hosts, 20 of 24 findings passed, 3 escalated, 1 harmed, 1 not begun. "
        "Rollout o1 on web,db* (simulated engines)"
    )
    assert said[0]["path"] == "/fleet/o1"
    assert "! Paused by its limits: 1 host is harmed" in said[1]["text"]
    assert "<" not in fill_body_and_content_type(resolve_valid_template("chat"), said[1])[0].decode()
    sealed = create_signed_delivery(
        build_recorded_event("o1", 3, 1.0, ended, GENESIS), create_webhook_secret(b"0" * 16), 5.0, simulated=True
    )
    assert json.loads(sealed.body)["source"] == "/api/v1/rollouts/o1"


def test_a_letter_and_its_trial_are_signed_over_the_body_that_is_sent():
    secret = create_webhook_secret(b"x" * 32)
    alarm = build_recorded_event("r1", 3, 1000.0, SentryAlarm(rule="V-1", attempt=1, reason="out", by="probe"), GENESIS)
    for sealed in (
        create_signed_delivery(alarm, secret, 5.0, simulated=False, template=NAMED["chat"], host="web"),
        create_trial_delivery(secret, 5.0, "test.1", NAMED["chat"]),
    ):
        name = sealed.headers["webhook-id"]
        assert sealed.headers["webhook-signature"] == f"v1,{compute_base64_signature(secret, name, '5', sealed.body)}"
        assert sealed.headers["content-type"] == JSON
        assert list(json.loads(sealed.body)) == ["text"]


async def test_a_template_is_given_changed_and_taken_away_over_the_api(tmp_path):
    async with house(tmp_path / "data") as made:
        order = {"url": "https://chat.example/hook", "template": "chat"}
        new = (await made.http.post("/api/v1/webhooks", json=order)).json()
        assert new["template"] == NAMED["chat"]
        assert new["kinds"] == list(USUAL_KINDS)
        there = f"/api/v1/webhooks/{new['id']}"
        wrong = await made.http.patch(there, json={"template": "{nothing}"})
        assert (wrong.status_code, "here is no {nothing}" in wrong.text) == (422, True)
        changed = (await made.http.patch(there, json={"template": ""})).json()
        assert (changed["template"], changed["local"]) == ("", False)

import json

from app.events.architect_questions_about_host import AnsweredQuestion, AskFile
from app.events.kinds import QuestionsAnswered, TurnDelta, TurnStarted
from app.events.prompts_hidden_from_viewers import redact_prompt_and_answers, summarize_prompt
from app.events.record import GENESIS, build_recorded_event

STARTED = TurnStarted(
    turn="r.2", rule="V-1", attempt=1, role="architect", purpose="plan", engine="e", model="m", replica=0,
    max_tokens=9, prompt=("CANARY system", 'CANARY "user"\n\u00e9\u20ac'),
)  # fmt: skip


def test_of_a_turns_start_all_is_seen_but_what_was_told():
    line = build_recorded_event("r", 2, 1000.0, STARTED, GENESIS).line
    was, seen = json.loads(line), json.loads(redact_prompt_and_answers(line))
    assert b"CANARY" not in redact_prompt_and_answers(line)
    assert seen == was | {"prompt": [summarize_prompt(text) for text in STARTED.prompt]}
    assert list(seen) == list(was)


def test_of_questions_all_is_seen_but_what_the_host_answered():
    one = AnsweredQuestion(question=AskFile(path="/etc/x"), answer="CANARY")
    said = QuestionsAnswered(rule="V-1", attempt=1, answers=(one, one), why="w")
    line = build_recorded_event("r", 2, 1000.0, said, GENESIS).line
    was, seen = json.loads(line), json.loads(redact_prompt_and_answers(line))
    assert b"CANARY" not in redact_prompt_and_answers(line)
    hidden = {"question": {"ask": "file", "path": "/etc/x", "first": 1}, "answer": summarize_prompt("CANARY")}
    assert seen == was | {"answers": [hidden, hidden]}


def test_every_other_line_is_as_it_was_written():
    said = TurnDelta(turn="r.2", role="architect", channel="answer", text='"kind":"turn.started" "prompt"', tokens=1)
    line = build_recorded_event("r", 3, 1000.0, said, GENESIS).line
    assert redact_prompt_and_answers(line) == line
    assert redact_prompt_and_answers(b'{"kind":"turn.started"}') == b'{"kind":"turn.started"}'

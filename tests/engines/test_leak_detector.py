"""Control tokens in the text are a leak, however they are cut; so is no answer at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.chat_request_and_reply_encoding import LeakDetector


def leaked(*pieces: tuple[str, str]) -> bool:
    watch = LeakDetector()
    for channel, text in pieces:
        watch.add_text(channel, text)
    return watch.has_control_tokens_or_empty


@pytest.mark.parametrize(
    "token", ["<|channel>", "<channel|>", "<|turn>", "<turn|>", "<|think|>".replace("|>", ">"), "<|tool_call>", '<|"|>']
)
@given(data=st.data())
def test_a_control_token_is_seen_wherever_it_is_cut(token, data):
    text = f'{{"a": "x{token}y"}}'
    cut = data.draw(st.integers(0, len(text)))
    assert leaked(("answer", text[:cut]), ("answer", text[cut:]))
    assert leaked(("thought", text[:cut]), ("thought", text[cut:]), ("answer", "{}"))


def test_two_channels_do_not_make_one_token():
    assert not leaked(("thought", "<|chan"), ("answer", 'nel> is {"a": 1}'))


@pytest.mark.parametrize("answer", ["", " ", "\n\n"])
def test_no_answer_is_a_leak(answer):
    assert leaked(("thought", "I think."), ("answer", answer))


def test_a_thought_in_the_answers_place_is_a_leak():
    assert leaked(("answer", "tho"), ("answer", 'ught\nI will edit sshd_config.\n{"a": 1}'))


@pytest.mark.parametrize(
    "answer", ['{"a": "if [ $x <| 3 ]"}', '{"a": "<turn>"}', "thoughtful", "a|>b", '{"a": "%wheel ALL=(ALL) ALL"}']
)
def test_ordinary_text_is_none(answer):
    assert not leaked(("answer", answer))

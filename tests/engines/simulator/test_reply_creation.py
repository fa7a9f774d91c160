from hypothesis import given
from hypothesis import strategies as st

from app.engines.simulator.reply_creation import estimate_prompt_tokens, split_into_tokens


@given(st.text())
def test_no_character_is_lost(text):
    assert "".join(split_into_tokens(text)) == text


def test_a_token_is_about_four_characters():
    text = "The nightly backup logs in as root with a key, so refusing root would lock it out of the host at once."
    assert 3 <= len(text) / len(split_into_tokens(text)) <= 5.5
    assert estimate_prompt_tokens([text]) == (len(text) + 3) // 4 + 4

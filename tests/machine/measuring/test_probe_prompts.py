from app.engines.vllm_protocol import build_request_body
from app.machine.measuring.probe_prompts import create_question
from app.machine.measuring.probe_steps import ProbeStep


def test_each_prompt_differs_from_its_first_word_on():
    texts = [
        create_question("m", ProbeStep(8, 256), stream, f"{stream:08x}").messages[0].content for stream in range(8)
    ]
    assert len({text[:16] for text in texts}) == 8
    assert len({text.rpartition("\n\n")[2] for text in texts}) == 8


def test_the_answer_is_free_and_as_long_as_asked():
    asked = build_request_body(create_question("m", ProbeStep(1, 256), 0, "a1"))
    assert (asked["max_tokens"], asked["ignore_eos"], asked["temperature"]) == (256, True, 0.0)
    assert "response_format" not in asked

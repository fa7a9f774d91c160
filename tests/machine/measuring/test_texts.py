from app.engines.wire import body
from app.machine.measuring.course import CourseStep
from app.machine.measuring.texts import question


def test_each_prompt_differs_from_its_first_word_on():
    texts = [question("m", CourseStep(8, 256), stream, f"{stream:08x}").messages[0].content for stream in range(8)]
    assert len({text[:16] for text in texts}) == 8
    assert len({text.rpartition("\n\n")[2] for text in texts}) == 8


def test_the_answer_is_free_and_as_long_as_asked():
    asked = body(question("m", CourseStep(1, 256), 0, "a1"))
    assert (asked["max_tokens"], asked["ignore_eos"], asked["temperature"]) == (256, True, 0.0)
    assert "response_format" not in asked

import pytest

from app.errors import BadInput
from app.web.stream.resume_position import read_resume_position


@pytest.mark.parametrize(
    ("headers", "since", "expected"),
    [({}, None, None), ({}, "0", 0), ({"last-event-id": "7"}, "3", 7), ({"last-event-id": ""}, "3", 3)],
)
def test_the_seq_that_a_viewer_has(headers, since, expected):
    assert read_resume_position(headers, since) == expected


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "١", "9" * 19, " 3", "\u0000"])
def test_what_is_no_seq_is_named(text):
    with pytest.raises(BadInput, match="since"):
        read_resume_position({}, text)
    with pytest.raises(BadInput, match="Last-Event-ID"):
        read_resume_position({"last-event-id": text}, "3")

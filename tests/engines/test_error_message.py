import pytest

from app.engines.error_message import LIMIT, extract_error_message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            b'{"error":{"message":"The model `x` does not exist.","type":"NotFoundError"}}',
            "The model `x` does not exist.",
        ),
        (b'{"error":{"message":"","type":"InternalServerError","param":null,"code":500}}', "InternalServerError"),
        (b'{"error":"Unauthorized"}', "Unauthorized"),
        (b'{"detail":"Not Found"}', "Not Found"),
        (b'{"message":"old style"}', "old style"),
        (b'"just a text"', "just a text"),
        (b"<html>\r\n<b>502 Bad Gateway\x1b[31m</b>", "<html> <b>502 Bad Gateway [31m</b>"),
        (b"", ""),
        (b"\xff\xfe", "��"),
    ],
)
def test_the_reason_is_found_whatever_the_body(body, said):
    assert extract_error_message(body) == said


def test_a_long_reason_is_cut():
    assert len(extract_error_message(b'{"error":"' + b"x" * 10_000 + b'"}')) == LIMIT
    assert len(extract_error_message(b"x" * 10_000)) == LIMIT


def test_brackets_a_million_deep_are_only_text():
    assert extract_error_message(b"[" * 1_000_000).startswith("[[[")

"""Extract error messages from engine answers: vLLM's error object, a bare string or a proxy's page."""

import msgspec

LIMIT = 500

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Exceptions raised by decoding untrusted JSON; RecursionError covers deep nesting."""


def extract_error_message(body: bytes) -> str:
    """Return the message of an error answer as one bounded line."""
    try:
        decoded = msgspec.json.decode(body)
    except NOT_JSON:
        return to_single_line(body[: 4 * LIMIT].decode("utf-8", "replace"))
    return format_error_message(decoded.get("error", decoded) if isinstance(decoded, dict) else decoded)


def format_error_message(error: object) -> str:
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("type") or error
    return to_single_line(str(error))


def to_single_line(text: str) -> str:
    """Return untrusted text as one printable line of at most LIMIT characters."""
    words = "".join(char if char.isprintable() else " " for char in text[: 4 * LIMIT]).split()
    line = " ".join(words)
    return line if len(line) <= LIMIT else line[: LIMIT - 1] + "…"

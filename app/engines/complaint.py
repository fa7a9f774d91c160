"""Extract error messages from engine answers: vLLM's error object, a bare string or a proxy's page."""

import msgspec

LIMIT = 500

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Exceptions raised by decoding untrusted JSON; RecursionError covers deep nesting."""


def complaint(body: bytes) -> str:
    """Return the message of an error answer as one bounded line."""
    try:
        decoded = msgspec.json.decode(body)
    except NOT_JSON:
        return one_line(body[: 4 * LIMIT].decode("utf-8", "replace"))
    return message_of(decoded.get("error", decoded) if isinstance(decoded, dict) else decoded)


def message_of(error: object) -> str:
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return one_line(str(error))


def one_line(text: str) -> str:
    """Return untrusted text as one printable line of at most LIMIT characters."""
    words = "".join(char if char.isprintable() else " " for char in text[: 4 * LIMIT]).split()
    line = " ".join(words)
    return line if len(line) <= LIMIT else line[: LIMIT - 1] + "…"

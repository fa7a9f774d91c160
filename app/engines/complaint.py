"""What an engine says went wrong: vLLM's error object, a bare string, or a proxy's page."""

import msgspec

LIMIT = 500

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding foreign bytes can raise; the last is for brackets a million deep."""


def complaint(body: bytes) -> str:
    """The message of an error answer, in one bounded line."""
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
    """Foreign text for an error of ours: printable, on one line, bounded."""
    words = "".join(char if char.isprintable() else " " for char in text[: 4 * LIMIT]).split()
    line = " ".join(words)
    return line if len(line) <= LIMIT else line[: LIMIT - 1] + "…"

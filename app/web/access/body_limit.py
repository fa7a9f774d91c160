"""Limit the size of request bodies while they are received."""

from fastapi.exceptions import HTTPException
from starlette.types import Message, Receive

ANONYMOUS_BODY_BYTES, SIGNED_IN_BODY_BYTES = 16 * 1024, 1024 * 1024
DIGITS = 18


def limit_body(receive: Receive, most: int, claimed: str | None) -> Receive:
    """Wrap `receive` to raise HTTP 413 beyond `most` bytes. `claimed` is Content-Length: too large fails at once."""
    taken = most + 1 if claimed and (len(claimed) > DIGITS or int(claimed) > most) else 0

    async def receive_counted() -> Message:
        nonlocal taken
        message: Message = {}
        if taken <= most:
            message = await receive()
            taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, f"The body is larger than the limit of {most} bytes.")
        return message

    return receive_counted

"""A request's body, counted while it comes: what is too long is refused before it lies anywhere."""

from fastapi.exceptions import HTTPException
from starlette.types import Message, Receive

OF_STRANGERS, OF_PEOPLE = 16 * 1024, 1024 * 1024
DIGITS = 18


def bounded(receive: Receive, most: int, claimed: str | None) -> Receive:
    """`claimed` is the header Content-Length: too much is believed at once, anything else is counted."""
    taken = most + 1 if claimed and (len(claimed) > DIGITS or int(claimed) > most) else 0

    async def receiving() -> Message:
        nonlocal taken
        message: Message = {}
        if taken <= most:
            message = await receive()
            taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, f"The body is larger than {most} bytes.")
        return message

    return receiving

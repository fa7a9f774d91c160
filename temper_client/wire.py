"""What both clients share: requests, answers and the messages of a stream. Nothing here waits or sends."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from temper_client.errors import FieldFault, Problem
from temper_client.problems import PROBLEMS

TIMEOUT = httpx.Timeout(60, connect=10)
STREAM_TIMEOUT = httpx.Timeout(45, connect=10)
"""The server sends a comment every 15 seconds, so a silence of three times as long is a lost connection."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0


@dataclass(frozen=True)
class Message:
    """One server-sent event."""

    id: str
    name: str
    data: str


def build_headers(token: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def build_request(
    query: Mapping[str, object] | None, headers: Mapping[str, str | None] | None, body: object
) -> dict[str, Any]:
    """Return the arguments of httpx; what is None is not sent."""
    found: dict[str, Any] = {}
    if query:
        found["params"] = {name: _format_value(value) for name, value in query.items() if value is not None}
    if headers:
        found["headers"] = {name: value for name, value in headers.items() if value is not None}
    if body is not None:
        found["json"] = body
    return found


def _format_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_answer(answer: httpx.Response, *, as_file: bool) -> Any:
    """Return the bytes of a file, or JSON; None if the answer is empty. Raise a Problem if the server refused."""
    if not answer.is_success:
        raise read_problem(answer)
    if as_file:
        return answer.content
    return answer.json() if answer.content else None


def read_problem(answer: httpx.Response) -> Problem:
    try:
        said = answer.json()
        kind = str(said["type"]).rpartition("/")[2]
        faults = [FieldFault(one["field"], one["detail"]) for one in said.get("errors", ())]
        return PROBLEMS.get(kind, Problem)(answer.status_code, kind, said["title"], said["detail"], faults)
    except (ValueError, KeyError, TypeError):
        return Problem(answer.status_code, "", answer.reason_phrase, answer.text[:500])


def parse_messages(lines: Iterable[str]) -> Iterator[Message]:
    """Yield the messages of a stream; a message that is cut off is dropped."""
    reader = MessageReader()
    for line in lines:
        if message := reader.read_line(line):
            yield message


class MessageReader:
    """Collects the lines of a stream until they are a message."""

    def __init__(self) -> None:
        self._id = self._name = ""
        self._data: list[str] = []

    def read_line(self, line: str) -> Message | None:
        """Return the message that this line ends; None in the middle of one, and for comments."""
        if not line:
            return self._end_message()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            self._id = value
        elif field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None

    def _end_message(self) -> Message | None:
        message = Message(self._id, self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data = "", []
        return message


class RunPosition:
    """Where a stream of a run is, across connections."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.has_ended = False
        self.wait = FIRST_WAIT

    @property
    def headers(self) -> dict[str, str]:
        return {"last-event-id": str(self.since)} if self.since else {}

    def read_message(self, message: Message) -> Any | None:
        """Return the event of a message; None for the messages about the stream itself."""
        self.wait = FIRST_WAIT
        if message.name == "end":
            self.has_ended = True
            return None
        if message.name == "reset":
            self.since = 0
            return None
        if message.id:
            self.since = int(message.id)
        return json.loads(message.data)

    def next_wait(self) -> float:
        """Return the seconds until the next connection, twice as many each time until a message comes."""
        now, self.wait = self.wait, min(2 * self.wait, LONGEST_WAIT)
        return now

"""Examples of the API: the request stands beside its operation, the answer is recorded by a test that sends it."""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

E = TypeVar("E")

RECORDED = Path(__file__).with_name("examples.json")
"""Answers by operation, written by `python -m tests.web.api.examples`."""

PLACEHOLDERS = msgspec.toml.decode(Path(__file__).with_name("placeholders.toml").read_bytes(), type=dict[str, str])

_ATTRIBUTE = "temper_example"


@dataclass(frozen=True)
class RequestExample:
    """What an example sends; path parameters that it leaves out have their placeholder."""

    body: Any = None
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)


def declare_example(body: Any = None, **parts: Mapping[str, str]) -> Callable[[E], E]:
    """Attach the example of a request to the function that answers it. `parts`: the other fields of RequestExample."""

    def attach_example(endpoint: E) -> E:
        setattr(endpoint, _ATTRIBUTE, RequestExample(body, **parts))
        return endpoint

    return attach_example


@cache
def read_recorded_answers() -> dict[str, dict[str, Any]]:
    """Return status, media type and answer of each operation."""
    return json.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def add_example(method: str, path: str, operation: dict[str, Any], endpoint: object) -> None:
    """Add request, answer and curl to an operation of the OpenAPI description."""
    asked: RequestExample = getattr(endpoint, _ATTRIBUTE, RequestExample())
    answered = read_recorded_answers().get(operation["operationId"], {})
    for one in operation.get("parameters", ()):
        value = _find_value(asked, one)
        if value is not None:
            one["example"] = value
    if asked.body is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = asked.body
    if "answer" in answered:
        content = operation["responses"].get(str(answered["status"]), {}).get("content", {})
        if answered["media"] in content:  # else the record is old, as the test says
            content[answered["media"]]["example"] = answered["answer"]
    operation["x-codeSamples"] = [{"lang": "curl", "source": format_curl_command(method, path, operation, asked)}]


def _find_value(request_example: RequestExample, parameter: dict[str, Any]) -> str | None:
    where, name = parameter["in"], parameter["name"]
    if where == "path":
        return request_example.path.get(name, PLACEHOLDERS.get(name))
    return {"query": request_example.query, "header": request_example.headers}[where].get(name)


def format_curl_command(method: str, path: str, operation: dict[str, Any], request_example: RequestExample) -> str:
    """Return the command for a shell in which TEMPER is the address of the server."""
    names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"]
    address = path.format(**{name: quote(request_example.path.get(name, PLACEHOLDERS[name])) for name in names})
    query = f"?{urlencode(request_example.query, safe=',:')}" if request_example.query else ""
    words = ["curl -sS", *([] if method == "get" else [f"-X {method.upper()}"]), f'"$TEMPER{address}{query}"']
    media = [
        media for status, one in operation["responses"].items() if status == "200" for media in one.get("content", ())
    ]
    if media == ["text/event-stream"]:
        words.insert(1, "-N")
    if "." in (file := path.rpartition("/")[2]):
        words.append(f"-o {file}")
    words += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in request_example.headers.items()]
    if request_example.body is not None:
        words += [
            "-H 'Content-Type: application/json'",
            f"-d {shlex.quote(json.dumps(request_example.body, ensure_ascii=False))}",
        ]
    return " ".join(words)

"""Runs the operator's command that enters a pack's statement in an external log, and keeps its answer."""

import base64
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Annotated

import msgspec
from msgspec import Meta

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.stored_external_answer import read_or_fetch_once
from app.evidence.verify import LONGEST_RECEIPT, compute_sha256

FOLDER = "receipts"
PATIENCE = 30.0
END_SECONDS = 1.0
MOST_WORDS = 64
_Word = Annotated[str, Meta(pattern="^[^\\x00]+$")]
_Command = Annotated[tuple[_Word, ...], Meta(min_length=1, max_length=MOST_WORDS)]


class _AnswerTooLong(Exception):
    pass


def parse_hook_command_json(json_text: str) -> tuple[str, ...]:
    """Parse a JSON list of a command and its arguments, or raise BadInput. No shell is involved."""
    if not json_text:
        return ()
    try:
        return msgspec.json.decode(json_text, type=_Command)
    except ValueError:
        raise BadInput(
            'TEMPER_LOG_HOOK must be a JSON list of a command and its arguments, like ["/usr/local/bin/enter", "-"].'
        ) from None


def find_or_request_receipt(
    folder: Path, hook: Sequence[str], statement: bytes, patience: float = PATIENCE
) -> bytes | None:
    """Return the stored receipt, or request one; None if there is none and no hook is set."""
    ask = partial(_request_receipt, hook, statement, patience) if hook else None
    return read_or_fetch_once(folder / f"{compute_sha256(statement)}.json", "receipt", ask)


def _request_receipt(hook: Sequence[str], statement: bytes, patience: float) -> bytes:
    answer = base64.b64encode(_run_hook(hook, statement, patience)).decode()
    receipt = {"statement": compute_sha256(statement), "command": Path(hook[0]).name, "answer": answer}
    return json.dumps(receipt, indent=1).encode() + b"\n"


def _run_hook(hook: Sequence[str], statement: bytes, patience: float) -> bytes:
    """Return the hook's answer. Raise EnvironmentUnusable if it gives none, or not within its patience."""
    child = _start_hook(hook, statement)
    ends_at = time.monotonic() + patience
    try:
        answer = _read_answer_or_raise_at_deadline(child, ends_at)
        code = child.wait(max(0.0, ends_at - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        raise EnvironmentUnusable(f"{hook[0]} did not answer within {patience:g} seconds.") from None
    except _AnswerTooLong:
        raise EnvironmentUnusable(f"{hook[0]} answered with more than {LONGEST_RECEIPT} bytes.") from None
    finally:
        _kill_hook_session_unless_ended(child)
    if code or not answer:
        raise EnvironmentUnusable(
            f"{hook[0]} returned no receipt: it exited with {code} and wrote {len(answer)} bytes."
        )
    return answer


def _start_hook(hook: Sequence[str], statement: bytes) -> "subprocess.Popen[bytes]":
    """Start the hook in its own session, so that its children die with it, and without Temper's environment."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("TEMPER_")}
    with tempfile.TemporaryFile() as stdin:
        stdin.write(statement)
        stdin.seek(0)
        try:
            return subprocess.Popen(
                hook, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=around, start_new_session=True
            )
        except OSError as exc:
            raise EnvironmentUnusable(f"{hook[0]} could not be started: {exc.strerror}.") from exc


def _read_answer_or_raise_at_deadline(child: "subprocess.Popen[bytes]", ends_at: float) -> bytes:
    """Read standard output to its end. Raise TimeoutError at `ends_at`, whichever process still holds it open."""
    assert child.stdout
    answer = b""
    with DefaultSelector() as selector:
        selector.register(child.stdout, EVENT_READ)
        while len(answer) <= LONGEST_RECEIPT:
            if (left := ends_at - time.monotonic()) <= 0 or not selector.select(left):
                raise TimeoutError
            if not (part := os.read(child.stdout.fileno(), LONGEST_RECEIPT)):
                return answer
            answer += part
    raise _AnswerTooLong


def _kill_hook_session_unless_ended(child: "subprocess.Popen[bytes]") -> None:
    """Kill the hook's session unless it has ended. A process that Temper may not kill, as sudo's, is left."""
    if child.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            child.wait(END_SECONDS)
    assert child.stdout
    child.stdout.close()

"""Runs the operator's command that enters a pack's statement in an external log, and keeps its answer."""

import base64
import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from app.errors import BadInput, EnvironmentUnusable
from app.evidence.stored_external_answer import read_or_fetch_once
from app.evidence.verify import LONGEST_RECEIPT, compute_sha256

FOLDER = "receipts"
PATIENCE = 30.0
MOST_WORDS = 64
_Word = Annotated[str, Meta(pattern="^[^\\x00]+$")]
_Command = Annotated[tuple[_Word, ...], Meta(min_length=1, max_length=MOST_WORDS)]


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
    """Run the hook in its own session, so that its children die with it, and without Temper's environment."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("TEMPER_")}
    with tempfile.TemporaryFile() as stdin:
        stdin.write(statement)
        stdin.seek(0)
        try:
            child = subprocess.Popen(
                hook, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=around, start_new_session=True
            )
        except OSError as exc:
            raise EnvironmentUnusable(f"{hook[0]} could not be started: {exc.strerror}.") from exc
    late = threading.Event()

    def stop_late_hook() -> None:
        late.set()
        _kill_hook(child)

    with child:
        timer = threading.Timer(patience, stop_late_hook)
        timer.start()
        assert child.stdout
        answer = child.stdout.read(LONGEST_RECEIPT + 1)
        if len(answer) > LONGEST_RECEIPT:
            _kill_hook(child)
        child.wait()
        timer.cancel()
    if late.is_set():
        raise EnvironmentUnusable(f"{hook[0]} did not answer within {patience:g} seconds.")
    if len(answer) > LONGEST_RECEIPT:
        raise EnvironmentUnusable(f"{hook[0]} answered with more than {LONGEST_RECEIPT} bytes.")
    if child.returncode or not answer:
        raise EnvironmentUnusable(
            f"{hook[0]} returned no receipt: it exited with {child.returncode} and wrote {len(answer)} bytes."
        )
    return answer


def _kill_hook(child: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)

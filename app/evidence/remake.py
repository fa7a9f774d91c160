"""A pack made again from its own events: papers that were written by another hand do not come out the same."""

import json
from collections.abc import Iterator

import msgspec

from app.errors import BadInput
from app.events.record import Recorded, read
from app.evidence.maker import maker
from app.evidence.pack import packed
from app.evidence.verify import Broken, Files, chain


def remake(files: Files) -> str:
    """What could not be compared, and why; empty when every file came out the same. The pack has been checked."""
    made_by = json.loads(files["manifest.json"]).get("made_by")
    if made_by != maker():
        return f"its papers were not made again: {str(made_by)[:60]!a} wrote them, and this is {maker()}"
    try:
        again = packed(_events(files))
    except BadInput as exc:
        return f"its papers were not made again: {exc}"
    for name in sorted({*files, *again}, key=lambda name: (name == "manifest.json", name)):
        if files.get(name) != again.get(name):
            raise Broken(f"{name} is not what this Temper makes of these events")
    return ""


def _events(files: Files) -> Iterator[Recorded]:
    try:
        for _, line, told in chain(files):
            yield read(line, told)
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as exc:
        raise Broken(f"its events are not of the shape that Temper writes: {str(exc)[:200]!a}") from exc

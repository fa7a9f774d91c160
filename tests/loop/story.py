"""A run of the pretend world as a reader follows it: what is to be done next, and what came of it.

>> is what decide() asks for, << are the events by which it is answered; what both repeat at every step is left out.
"""

import re

import msgspec

from app.events.kinds import TurnFinished, TurnStarted, get_event_kind
from app.loop.effects import Effect, StartItem
from tests.loop.playing import World

UNTOLD_EFFECT = ("seconds", "until", "journal", "turn")
TOLD = ("word", "decision", "differences", "cause")
"""Fields of an event that say how it went; a veto is said where there is one."""


def story(world: World) -> str:
    """From the first item on."""
    begun = next(at for at, (effect, _) in enumerate(world.steps) if isinstance(effect, StartItem))
    return "".join(_step(effect, events) for effect, events in world.steps[begun:])


def _step(effect: Effect, recorded) -> str:
    answers = ", ".join(_answer(one.event) for one in recorded if not _said_by_what_follows(one.event))
    return f">> {_asked(effect)}\n<< {answers or 'nothing: the process was killed'}\n"


def _said_by_what_follows(event) -> bool:
    return isinstance(event, TurnStarted) or (isinstance(event, TurnFinished) and event.outcome == "answered")


def _asked(effect: Effect) -> str:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(effect).__name__).lower()
    values = [str(value) for key, value in msgspec.structs.asdict(effect).items() if key not in UNTOLD_EFFECT and value]
    return " ".join([name, *values]).rstrip()


def _answer(event) -> str:
    if isinstance(event, TurnFinished):
        return event.outcome
    fields = msgspec.structs.asdict(event)
    said = [str(fields[name]) for name in TOLD if fields.get(name)]
    return " ".join([get_event_kind(event), *said, *(["veto"] if fields.get("veto") else [])])

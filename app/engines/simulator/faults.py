"""Faults on request, each of a kind seen on real engines."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Kind = Literal[
    "die", "stall", "slow", "503", "broken_json", "wrong_channel", "empty", "split_utf8", "u2028", "babble"
]  # fmt: skip

SLOW = 0.1
"""Share of its pace that a slow engine keeps."""
ODD_TEXT = " – naïve, 界, ✓"


class SimulatedFault(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: Kind
    after_tokens: Annotated[int, Meta(ge=0)] = 0
    """For die, stall and slow: tokens that are still sent normally."""
    times: Annotated[int, Meta(ge=1)] = 1
    role: str | None = None
    purpose: str | None = None
    recover: bool = False
    """After die: the engine restarts on the same port."""


class FaultQueue:
    """Pending faults of one engine, in the order of the requests."""

    def __init__(self) -> None:
        self.waiting: list[SimulatedFault] = []

    def take_fault(self, role: str | None, purpose: str) -> SimulatedFault | None:
        """Return the first fault for this request and use it up once, or None."""
        for fault in self.waiting:
            if fault.role in (None, role) and fault.purpose in (None, purpose):
                fault.times -= 1
                if not fault.times:
                    self.waiting.remove(fault)
                return fault
        return None


def spoil_reply(kind: Kind, thought: str, answer: str) -> tuple[str, str]:
    """Return the thought and answer changed by a fault; most faults leave them unchanged."""
    match kind:
        case "broken_json":  # xgrammar permits a raw control character inside a string
            return thought, _insert_in_last_string(answer, "\x07")
        case "wrong_channel":  # the reasoning parser missed the opening token
            return "", f"<|channel>thought\n{thought}<channel|>{answer}"
        case "empty":  # the reasoning channel was never closed
            return f"{thought}\n{answer}", ""
        case "split_utf8":
            return thought + ODD_TEXT, answer
        case "u2028":
            return thought + "\u2028", _insert_in_last_string(answer, "\u2028")
        case "babble":
            return thought, _insert_in_last_string(answer, "\x00").partition("\x00")[0]
    return thought, answer


def _insert_in_last_string(answer: str, text: str) -> str:
    """Insert text into the last string value, since the schema may fix the first."""
    head, opening, tail = answer.rpartition('":"')
    return f"{head}{opening}{text}{tail}" if opening else f"{answer}{text}"

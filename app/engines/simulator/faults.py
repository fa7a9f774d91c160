"""Misbehaviour on demand: each kind is one that real engines have shown."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Kind = Literal[
    "die", "stall", "slow", "503", "broken_json", "wrong_channel", "empty", "split_utf8", "u2028", "babble"
]  # fmt: skip

SLOW = 0.1
"""A slow engine keeps a tenth of its pace."""
ODD_TEXT = " – naïve, 界, ✓"


class SimFault(Struct, kw_only=True, forbid_unknown_fields=True):
    kind: Kind
    after_tokens: Annotated[int, Meta(ge=0)] = 0
    """For die, stall and slow: the tokens that still come as usual."""
    times: Annotated[int, Meta(ge=1)] = 1
    role: str | None = None
    purpose: str | None = None
    recover: bool = False
    """After die: the engine starts anew on the same port."""


class Faults:
    """What is to go wrong on one engine, in the order it was asked for."""

    def __init__(self) -> None:
        self.waiting: list[SimFault] = []

    def take(self, role: str | None, purpose: str) -> SimFault | None:
        """The first fault meant for this request, used up once."""
        for fault in self.waiting:
            if fault.role in (None, role) and fault.purpose in (None, purpose):
                fault.times -= 1
                if not fault.times:
                    self.waiting.remove(fault)
                return fault
        return None


def spoil(kind: Kind, thought: str, answer: str) -> tuple[str, str]:
    """The reply as a fault leaves it; most leave the text alone."""
    match kind:
        case "broken_json":  # what xgrammar lets through: a raw control character inside a string
            return thought, _in_last_string(answer, "\x07")
        case "wrong_channel":  # the reasoning parser missed the opening token
            return "", f"<|channel>thought\n{thought}<channel|>{answer}"
        case "empty":  # the reasoning channel was never closed
            return f"{thought}\n{answer}", ""
        case "split_utf8":
            return thought + ODD_TEXT, answer
        case "u2028":
            return thought + "\u2028", _in_last_string(answer, "\u2028")
        case "babble":
            return thought, _in_last_string(answer, "\x00").partition("\x00")[0]
    return thought, answer


def _in_last_string(answer: str, text: str) -> str:
    """Into the last string value: the first may be a name that the schema fixes."""
    head, opening, tail = answer.rpartition('":"')
    return f"{head}{opening}{text}{tail}" if opening else f"{answer}{text}"


def listing(faults: Faults) -> dict[str, Any]:
    return {"simulated": True, "faults": faults.waiting}

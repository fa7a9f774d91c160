"""Structs made out before there are threads."""

from collections.abc import Iterator

import msgspec


def make_out() -> None:
    """msgspec makes out what a struct holds when the first one is decoded: where two threads do that at once, as two
    hosts that begin together, one of them meets half of it, and the process ends with SIGSEGV."""
    for struct in _below(msgspec.Struct):
        if not getattr(struct, "__parameters__", ()):
            msgspec.json.Decoder(struct)


def _below(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for one in struct.__subclasses__():
        yield one
        yield from _below(one)

"""Build msgspec decoders before threads start."""

from collections.abc import Iterator

import msgspec


def build_struct_decoders() -> None:
    """Build a decoder for every struct. msgspec does it lazily, and two threads that decode the same type first at
    the same time crash the process with SIGSEGV."""
    for struct in _iterate_subclasses(msgspec.Struct):
        if not getattr(struct, "__parameters__", ()):
            msgspec.json.Decoder(struct)


def _iterate_subclasses(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for one in struct.__subclasses__():
        yield one
        yield from _iterate_subclasses(one)

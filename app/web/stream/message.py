"""Server-sent messages as bytes. Lines end in LF alone: a chunk that ends between CR and LF splits a message."""

HELLO = b": temper\n\n"
HEARTBEAT = b": still here\n\n"


def message(data: bytes, *, name: str = "", seq: int | None = None) -> bytes:
    head = b"" if seq is None else b"id: %d\n" % seq
    if name:
        head += b"event: %s\n" % name.encode()
    return head + b"".join(b"data: %s\n" % line for line in data.split(b"\n")) + b"\n"


def end(seq: int) -> bytes:
    """The run is over and all of it was sent: nothing to come back for."""
    return message(b'{"seq":%d}' % seq, name="end", seq=seq)


def reset(head: int) -> bytes:
    """What the viewer holds cannot be continued: it takes a new snapshot."""
    return message(b'{"seq":%d}' % head, name="reset")

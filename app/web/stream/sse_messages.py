"""Encode server-sent messages. Lines end in LF only: a chunk cut between CR and LF would split a message."""

HELLO = b": temper\n\n"
HEARTBEAT = b": still here\n\n"
"""A comment by the SSE format, which browsers ignore: proxies and browsers close a connection that is silent long."""


def encode_message(data: bytes, *, name: str = "", seq: int | None = None) -> bytes:
    head = b"" if seq is None else b"id: %d\n" % seq
    if name:
        head += b"event: %s\n" % name.encode()
    return head + b"".join(b"data: %s\n" % line for line in data.split(b"\n")) + b"\n"


def encode_end(seq: int) -> bytes:
    """Encode the end of a run's stream: the viewer need not reconnect."""
    return encode_message(b'{"seq":%d}' % seq, name="end", seq=seq)


def encode_reset(head: int) -> bytes:
    """Encode a reset: the viewer cannot resume and must load a new snapshot."""
    return encode_message(b'{"seq":%d}' % head, name="reset")

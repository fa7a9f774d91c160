"""Encode file names that are not valid UTF-8 as text that logs, pages and digests can hold."""

import re

_MARK = "\ufffd"
_ODD = re.compile("[\udc80-\udcff\ufffd]")
_SPELLED = re.compile("\ufffd(\ufffd|[0-9a-f]{2})")


def encode_name(name: str) -> str:
    """Return the name with each surrogate-escaped byte spelled out. Different names stay different."""
    return _ODD.sub(lambda odd: _MARK + (_MARK if odd[0] == _MARK else f"{ord(odd[0]) - 0xDC00:02x}"), name)


def decode_name(name: str) -> str:
    return _SPELLED.sub(lambda found: _MARK if found[1] == _MARK else chr(0xDC00 + int(found[1], 16)), name)

"""Names on a host that are bytes and not text: spelled so that log, page and digest can hold them, and read back."""

import re

_MARK = "\ufffd"
_ODD = re.compile("[\udc80-\udcff\ufffd]")
_SPELLED = re.compile("\ufffd(\ufffd|[0-9a-f]{2})")


def spelled(name: str) -> str:
    """Of a name as Python hands it out, in which each odd byte is half of a pair; no two come out the same."""
    return _ODD.sub(lambda odd: _MARK + (_MARK if odd[0] == _MARK else f"{ord(odd[0]) - 0xDC00:02x}"), name)


def meant(name: str) -> str:
    return _SPELLED.sub(lambda found: _MARK if found[1] == _MARK else chr(0xDC00 + int(found[1], 16)), name)

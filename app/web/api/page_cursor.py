"""Opaque page cursors for lists, in both directions."""

import base64
import binascii
import json
import math
from dataclasses import dataclass

from app.web.api.problem import Problem


@dataclass(frozen=True)
class PageCursor:
    forward: bool
    at: float
    id: str

    def __str__(self) -> str:
        packed = json.dumps([int(self.forward), self.at, self.id], separators=(",", ":"))
        return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def parse_page_cursor(text: str) -> PageCursor:
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        forward, at, name = json.loads(packed)
        if forward in (0, 1) and isinstance(at, float) and math.isfinite(at) and _is_plain_id(name):
            return PageCursor(bool(forward), at, name)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise Problem("bad-cursor", "This is not a valid cursor: use next or previous from an answer.", field="cursor")


def _is_plain_id(name: object) -> bool:
    return isinstance(name, str) and name.isalnum()

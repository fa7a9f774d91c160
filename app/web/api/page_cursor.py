"""Opaque page cursors for lists, in both directions."""

import base64
import binascii
import json
import math

from app.store.run_list_pages import ListPlace
from app.web.api.problem import Problem


def format_page_cursor(list_place: ListPlace) -> str:
    packed = json.dumps([int(list_place.forward), list_place.at, list_place.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def parse_page_cursor(text: str) -> ListPlace:
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        forward, at, name = json.loads(packed)
        if (
            forward in (0, 1)
            and isinstance(at, float)
            and math.isfinite(at)
            and isinstance(name, str)
            and name.isalnum()
        ):
            return ListPlace(bool(forward), at, name)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise Problem("bad-cursor", "This is not a valid cursor: use next or previous from an answer.", field="cursor")

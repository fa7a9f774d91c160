"""Opaque page cursors for lists, in both directions."""

import base64
import json
from contextlib import suppress
from typing import Literal

import msgspec

from app.store.run_list_pages import ListPlace
from app.web.api.problem import Problem

_Fields = tuple[Literal[0, 1], float, str]


def format_page_cursor(list_place: ListPlace) -> str:
    packed = json.dumps([int(list_place.forward), list_place.at, list_place.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def parse_page_cursor(text: str) -> ListPlace:
    with suppress(ValueError, msgspec.MsgspecError):
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        forward, at, name = msgspec.json.decode(packed, type=_Fields)
        if name.isalnum():
            return ListPlace(bool(forward), at, name)
    raise Problem("bad-cursor", "This is not a valid cursor: use next or previous from an answer.", field="cursor")

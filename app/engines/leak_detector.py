"""Detect Gemma 4's faults in a reply: control tokens in the text, or an empty answer."""

import re

from app.events.vocabulary import Channel

_NAMES = "channel|turn|think|tool|tool_call|tool_response|image|audio|video"
_CONTROL = re.compile(rf'<\|(?:{_NAMES})>|<(?:{_NAMES})\|>|<\|"\|>|<(?:bos|eos|pad)>|<(?:start|end)_of_turn>')
_LONGEST = len("<tool_response|>")
# The channel's name remains if the engine strips the control tokens around it.
_CHANNEL_NAME = "thought\n"


class LeakDetector:
    def __init__(self) -> None:
        self._control = False
        self._tails: dict[Channel, str] = {"thought": "", "answer": ""}
        self._opening = ""
        """First characters of the answer, without leading whitespace."""

    def add_text(self, channel: Channel, text: str) -> None:
        seen = self._tails[channel] + text
        self._control = self._control or _CONTROL.search(seen) is not None
        self._tails[channel] = seen[-_LONGEST:]
        if channel == "answer" and len(self._opening) < len(_CHANNEL_NAME):
            self._opening = (self._opening + text).lstrip()[: len(_CHANNEL_NAME)]

    @property
    def has_leak(self) -> bool:
        return self._control or self._opening in ("", _CHANNEL_NAME)

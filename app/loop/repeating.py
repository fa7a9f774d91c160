"""Detects that a model repeats itself, which would otherwise go on until its last token."""

from app.events.words import Channel

_WINDOW = 240
"""Characters that must repeat; longer than a banner's line of dashes."""
_LONGEST = _WINDOW // 4
_EVERY = 32


class RepetitionDetector:
    def __init__(self) -> None:
        self._tails: dict[Channel, str] = {"thought": "", "answer": ""}
        self._unseen = 0

    def is_repeating(self, channel: Channel, text: str) -> bool:
        """Return whether the end of the channel, with `text`, repeats one piece at least four times."""
        tail = self._tails[channel] = (self._tails[channel] + text)[-_WINDOW:]
        self._unseen += len(text)
        if self._unseen < _EVERY or len(tail) < _WINDOW:
            return False
        self._unseen = 0
        return any(tail[size:] == tail[:-size] for size in range(1, _LONGEST + 1))

"""Watches a reply for a model that has begun to repeat itself: it does not stop by itself before its last token."""

from app.events.words import Channel

_WINDOW = 240
"""Characters that have to be the same again and again. A banner's line of dashes is shorter."""
_LONGEST = _WINDOW // 4
_EVERY = 32


class RepeatWatch:
    def __init__(self) -> None:
        self._tails: dict[Channel, str] = {"thought": "", "answer": ""}
        self._unseen = 0

    def repeats(self, channel: Channel, text: str) -> bool:
        """Whether the channel's end, `text` included, is one piece at least four times over."""
        tail = self._tails[channel] = (self._tails[channel] + text)[-_WINDOW:]
        self._unseen += len(text)
        if self._unseen < _EVERY or len(tail) < _WINDOW:
            return False
        self._unseen = 0
        return any(tail[size:] == tail[:-size] for size in range(1, _LONGEST + 1))

"""Whether an engine takes one more turn. Pure, over what it reports and what we hold there."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Room:
    """What is known of one replica. None is what nobody said, and holds nothing back."""

    streams: int | None = None
    """Requests at a time: its max_num_seqs, or fewer where a probe found that more win nothing."""
    kv_tokens: int | None = None
    kv_used: int | None = None
    """Of these, in use when it was looked at last: ours and other people's."""
    others: int = 0
    """Requests that are not this process's."""
    nodes: int = 1
    """Processes that share it, each with a queue of its own."""


@dataclass(frozen=True)
class Held:
    """What this process has at the replica: a turn counts with its prompt and all that it may write."""

    turns: int = 0
    tokens: int = 0
    unseen: int = 0
    """Of the tokens, those of turns that began after the last look."""


def why_wait(room: Room, held: Held, tokens: int) -> str:
    """What a turn of so many tokens waits for; empty where it may go.

    One turn of ours always goes: the engine has a queue, too, and nobody else's load may keep us out of it for good.
    """
    if not held.turns:
        return ""
    if room.streams is not None and (
        held.turns >= max(1, room.streams // room.nodes) or held.turns + room.others >= room.streams
    ):
        return f"it answers {room.streams} at a time"
    if room.kv_tokens is None:
        return ""
    # What could come to be held is our own doing; what is held by others is known by looking alone.
    if held.tokens + tokens > room.kv_tokens // room.nodes:
        return f"its KV cache holds {room.kv_tokens:,} tokens"
    if room.kv_used is not None and room.kv_used + held.unseen + tokens > room.kv_tokens:
        return f"{room.kv_used:,} of its {room.kv_tokens:,} KV tokens are in use"
    return ""


def most_streams(max_num_seqs: int | None, knee: int | None) -> int | None:
    known = [one for one in (max_num_seqs, knee) if one]
    return min(known) if known else None

"""Decide whether an engine can take one more turn, from its reported capacity and our own load. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReplicaCapacity:
    """Reported capacity of one replica. A value of None is unknown and limits nothing."""

    streams: int | None = None
    """Concurrent requests: max_num_seqs, or fewer if a probe found that more bring no throughput."""
    kv_tokens: int | None = None
    kv_used: int | None = None
    """KV tokens in use at the last sample, ours and those of others."""
    others: int = 0
    """Requests of other processes."""
    nodes: int = 1
    """Processes that share the replica, each with its own queue."""


@dataclass(frozen=True)
class ReplicaLoad:
    """This process's load on a replica. A turn counts its prompt and its maximum answer."""

    turns: int = 0
    tokens: int = 0
    unseen: int = 0
    """Tokens of turns that began after the last sample."""


def explain_wait(room: ReplicaCapacity, held: ReplicaLoad, tokens: int) -> str:
    """Return why a turn of `tokens` must wait, or an empty string if it can start.

    One turn per process always starts: the load of others must not lock this process out, and the engine queues too.
    """
    if not held.turns:
        return ""
    if room.streams is not None and (
        held.turns >= max(1, room.streams // room.nodes) or held.turns + room.others >= room.streams
    ):
        return f"it answers {room.streams} at a time"
    if room.kv_tokens is None:
        return ""
    # The maximum is known for our own turns only; the use by others is known from samples.
    if held.tokens + tokens > room.kv_tokens // room.nodes:
        return f"its KV cache holds {room.kv_tokens:,} tokens"
    if room.kv_used is not None and room.kv_used + held.unseen + tokens > room.kv_tokens:
        return f"{room.kv_used:,} of its {room.kv_tokens:,} KV tokens are in use"
    return ""


def limit_streams(max_num_seqs: int | None, knee: int | None) -> int | None:
    known = [one for one in (max_num_seqs, knee) if one]
    return min(known) if known else None

"""Send a reply at the engine's pace, without drift; after a late timer several tokens are sent at once."""

import asyncio
import random
from collections.abc import AsyncIterator

from app.engines.simulator import chunks
from app.engines.simulator.chunks import ChunkEncoder
from app.engines.simulator.faults import SimulatedFault
from app.engines.simulator.reply_creation import Reply, ReplyPiece
from app.engines.simulator.simulated_engine import ActiveRequest, Pace, SimulatedEngine

_BURSTS = (1, 1, 1, 1, 1, 2, 3)
"""Tokens per chunk: sometimes several, as with speculative decoding."""
_EMPTY_CHUNKS = 0.06
TICK = 0.02
"""Seconds between chunks, at most fifty per second; a faster engine sends several tokens in each."""
_AT_ONCE = 5
"""Chunks of a reply sent without a pace."""

DEATH = chunks.build_error(500, "InternalServerError", "EngineCore encountered an issue. This fault was asked for.")


class ReplySender:
    """Sender of one reply. A fault stops it at the requested token."""

    def __init__(self, engine: SimulatedEngine, reply: Reply, fault: SimulatedFault | None, request_id: str) -> None:
        self._engine = engine
        self._reply = reply
        self._fault, self._fault_kind = fault, fault.kind if fault else None
        self._id = request_id
        self._pace = engine.compute_pace(reply, slow=False)
        self._random = random.Random(request_id)  # noqa: S311  variety that repeats, not a secret
        self._started = engine.clock()
        self._dead = False

    async def iterate_stream_bytes(self, encoder: ChunkEncoder) -> AsyncIterator[bytes]:
        """Yield the bytes of the stream. If it is closed early, the request counts as aborted."""
        done = False
        with self._engine.track_request(self._reply.prompt_tokens) as active:
            try:
                yield encoder.encode_opening()
                async for pieces, tokens in self._iterate_due_pieces(active):
                    for data in encoder.encode_pieces(pieces, tokens):
                        async for part in self._split_characters_on_fault(data):
                            yield part
                done = True
                if self._dead:
                    yield chunks.encode_event(DEATH) + chunks.DONE
                else:
                    yield encoder.encode_finish(
                        self._reply.finish_reason, self._count_finished_reply_and_get_tokens(active)
                    )
                    yield encoder.encode_usage_if_requested_and_done(self._reply.completion_tokens)
            finally:
                if not done:
                    self._engine.write_log(f"Aborted request {self._id}.")

    async def wait_out_reply_and_check_engine_survived(self) -> bool:
        """Wait for the reply's duration and return True if it completed."""
        with self._engine.track_request(self._reply.prompt_tokens) as active:
            async for _ in self._iterate_due_pieces(active):
                pass
            if not self._dead:
                self._count_finished_reply_and_get_tokens(active)
        return not self._dead

    async def _iterate_due_pieces(self, active: ActiveRequest) -> AsyncIterator[tuple[tuple[ReplyPiece, ...], int]]:
        pieces, sent, last = self._reply.pieces, 0, self._started
        stop = self._get_stop_index(len(pieces))
        while sent < stop and self._engine.state == "ready":
            due = min(sent + (self._random.choice(_BURSTS) if sent else 1), stop)
            await self._sleep_until(self._started + self._pace.compute_due_time(due), last)
            if sent and self._random.random() < _EMPTY_CHUNKS:
                yield (), sent
            now = self._engine.clock()
            at_pace = max(self._pace.count_due_tokens(now - self._started), sent + 1)
            upto = min(at_pace, sent + self._compute_max_chunk_tokens(stop), stop)
            self._record_tokens(active, sent, upto, now - last)
            yield pieces[sent:upto], upto
            sent, last = upto, now
            self._update_pace(sent, now)
        await self._apply_fault()

    def _get_stop_index(self, total: int) -> int:
        return min(total, self._fault.after_tokens) if self._fault and self._fault_kind in ("die", "stall") else total

    def _compute_max_chunk_tokens(self, stop: int) -> int:
        """Return the most tokens per step: without a pace all are due at once, but are still sent in a few chunks."""
        return max(-(-stop // _AT_ONCE), 32) if self._pace.rate == float("inf") else stop

    async def _sleep_until(self, deadline: float, last_sent_at: float) -> None:
        if self._pace.rate == float("inf"):
            await asyncio.sleep(0)
            return
        wait = max(deadline, last_sent_at + TICK if last_sent_at > self._started else 0.0) - self._engine.clock()
        if wait > 0:
            await asyncio.sleep(wait)

    def _update_pace(self, sent: int, now: float) -> None:
        slow = self._fault is not None and self._fault.kind == "slow" and sent >= self._fault.after_tokens
        pace = self._engine.compute_pace(self._reply, slow=slow)
        if pace.rate != self._pace.rate:
            self._pace = Pace(now - self._started - (sent - 1) / pace.rate, pace.rate)

    async def _apply_fault(self) -> None:
        if self._fault_kind == "stall":
            await asyncio.Event().wait()
        if self._fault and self._fault.kind == "die" and self._engine.state == "ready":
            self._engine.kill_engine(self._fault)
        self._dead = self._engine.state != "ready"

    def _record_tokens(self, active: ActiveRequest, sent: int, upto: int, seconds_since_last_sent: float) -> None:
        meters, count = self._engine.meters, upto - sent
        meters.generation_tokens += count
        active.tokens += count
        self._engine.update_peaks()
        if sent:
            meters.gaps.observe(seconds_since_last_sent / count, count)
        else:
            meters.ttft.observe(seconds_since_last_sent)

    def _count_finished_reply_and_get_tokens(self, active: ActiveRequest) -> int:
        """Count the last token, which has no text, and the finished reply. Return its tokens."""
        meters, tokens = self._engine.meters, self._reply.completion_tokens
        meters.generation_tokens += tokens - len(self._reply.pieces)
        meters.finished[self._reply.finish_reason] += 1
        meters.whole.observe(self._engine.clock() - self._started)
        active.tokens += tokens - len(self._reply.pieces)
        return tokens

    async def _split_characters_on_fault(self, data: bytes) -> AsyncIterator[bytes]:
        """Yield `data`; for split_utf8, split every multi-byte character after its first byte."""
        cuts = [n + 1 for n, byte in enumerate(data) if byte >= 0xC0] if self._fault_kind == "split_utf8" else []
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            yield data[start:end]
            if cuts:
                await asyncio.sleep(0)

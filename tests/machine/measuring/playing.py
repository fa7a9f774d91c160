"""A scripted engine at the wire, and scripted cards beside it."""

import asyncio
import json
from dataclasses import replace

import httpx

from app.engines.client import EngineClient
from app.engines.engine_metrics import SHORTEST
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.gpus.gpu_reading import GpuReading
from app.machine.measuring.probe import ProbeSubject
from app.machine.measuring.probe_figures import FigureOrigin
from tests.engines.transcript import DONE, chunk, usage

ENGINE = replace(
    read_lineup(require_lineup_path("simulated")).engines["gemma-31b"], simulation=None, base_urls=("http://e/v1",)
)


class Wire:
    """vLLM's endpoints. Every answer is as long as asked; `fails_at` is the number of streams that breaks it."""

    def __init__(self, *, serves=ENGINE.model, running=0, fails_at=0, others=0, speculates=False):
        self.serves, self.running, self.fails_at, self.others = serves, running, fails_at, others
        self.speculates = speculates
        self.generated = 1000
        self.asked = []

    def __call__(self, request):
        match request.url.path:
            case "/v1/models":
                return httpx.Response(200, json={"data": [{"id": self.serves, "max_model_len": 4096}]})
            case "/version":
                return httpx.Response(200, json={"version": "0.25.1"})
            case "/metrics":
                return httpx.Response(200, text=self._metrics())
            case "/v1/chat/completions":
                return self._chat(json.loads(request.content))
        return httpx.Response(404)

    def _metrics(self):
        labels = '{engine="0",model_name="m"}'
        figures = {"num_requests_running": self.running, "generation_tokens_total": self.generated}
        if self.speculates:
            drafts = self.generated / 2
            figures |= {
                "spec_decode_num_drafts_total": drafts,
                "spec_decode_num_draft_tokens_total": 2 * drafts,
                "spec_decode_num_accepted_tokens_total": drafts,
            }
        lines = [f"vllm:{name}{labels} {float(value)}" for name, value in figures.items()]
        return "\n".join(lines) + "\n"

    def _chat(self, asked):
        self.asked.append(asked)
        if self.fails_at and len([one for one in self.asked if one["max_tokens"] == 256]) > self.fails_at:
            return httpx.Response(500, json={"error": {"message": "EngineCore is gone", "code": 500}})
        tokens = asked["max_tokens"]
        self.generated += tokens + self.others
        steps = [*range(1, tokens, 16), tokens]
        pieces = [chunk(0, role="assistant", content=""), *(chunk(step, content="backup ") for step in steps)]
        ends = [chunk(tokens, finish="length"), usage(tokens) + DONE]
        return httpx.Response(200, content=_sent([*pieces, *ends]), headers={"content-type": "text/event-stream"})


async def _sent(pieces):
    """Over long enough for a rate."""
    for piece in pieces:
        yield piece
        await asyncio.sleep(1.2 * SHORTEST / len(pieces))


class Cards:
    reason = ""

    async def read(self):
        return [GpuReading(gpu=gpu, name="NVIDIA L4", used_gib=21.9, total_gib=23.0) for gpu in (0, 1, 2)]


def subject(http, **changes):
    made = ProbeSubject(
        lineup="l4x4",
        engine=ENGINE,
        replica=0,
        client=EngineClient(http, "http://e/v1"),
        cards=Cards(),
        places={("", 0): 0, ("", 1): 1},
        origin=FigureOrigin(),
    )
    return replace(made, **changes)

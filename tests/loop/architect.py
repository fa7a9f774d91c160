"""An Architect whose answers the test writes, on a run whose other roles go by the simulator's script."""

import json

import httpx
import msgspec

from app.engines.simulator.chunks import ChunkEncoder
from app.engines.simulator.reply_creation import ChatRequest, ReplyPiece
from tests.loop.onfixture import answered

OWN = {"approach": "My own.", "steps": [], "risk": "", "rollback": "", "validation": ""}


def reply(answer):
    """The engine's stream of one answer."""
    chunks = ChunkEncoder("a", "m", 10, usage=True, usage_on_each=False)
    pieces = (ReplyPiece("content", json.dumps(answer)),)
    said = [chunks.encode_opening(), *chunks.encode_pieces(pieces, 1), chunks.encode_finish("stop", 1)]
    content = b"".join([*said, chunks.encode_usage_if_requested_and_done(1)])
    return httpx.Response(200, content=content, headers={"content-type": "text/event-stream"})


class Architect:
    """Answers each question for a plan with the next of these; everything else goes by the script."""

    def __init__(self, *plans):
        self.plans, self.prompts = list(plans), []

    def __call__(self, request):
        asked = msgspec.json.decode(request.content, type=ChatRequest)
        self.prompts.append((asked.purpose, asked.messages[1].text))
        return reply(self.plans.pop(0)) if asked.purpose == "plan" and self.plans else answered(request)

    def read_prompt(self, purpose):
        return next(text for asked, text in self.prompts if asked == purpose)

    def list_prompts(self, purpose):
        return [text for asked, text in self.prompts if asked == purpose]

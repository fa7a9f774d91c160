"""llama.cpp's server as it was recorded: what each path answered while it loaded, worked and was idle."""

from pathlib import Path

import httpx

from app.lineups.model import Engine

DATA = Path(__file__).parents[2] / "data"
RECORDED = DATA / "llamacpp"
STREAM = (DATA / "streams" / "llamacpp-2026.10.txt").read_bytes()
LOADING = b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'
TOO_LONG = (
    b'{"error":{"code":400,"message":"request (9031 tokens) exceeds the available context size (4096 tokens), '
    b'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9031,"n_ctx":4096}}'
)
NOT_FOUND = b'{"error":{"message":"File Not Found","type":"not_found_error","code":404}}'
ENGINE = Engine("small", "Small", "smollm2", "gguf", (), 1, 4096, kind="llamacpp", base_urls=("http://e/v1",))


def server(*, busy=False, loading=False, too_long=False):
    """A transport that answers as it did."""
    metrics, slots = ("metrics-busy.txt", "slots.json") if busy else ("metrics.txt", "")
    pages = {
        "/health": b'{"status":"ok"}',
        "/v1/models": (RECORDED / "models.json").read_bytes(),
        "/metrics": (RECORDED / metrics).read_bytes(),
        **({"/slots": (RECORDED / slots).read_bytes()} if slots else {}),
    }

    def answer(request):
        if loading:
            return httpx.Response(503, content=LOADING)
        if request.url.path == "/v1/chat/completions":
            if too_long:
                return httpx.Response(400, content=TOO_LONG)
            return httpx.Response(200, content=STREAM, headers={"content-type": "text/event-stream"})
        found = pages.get(request.url.path)
        return httpx.Response(200, content=found) if found else httpx.Response(404, content=NOT_FOUND)

    return httpx.MockTransport(answer)

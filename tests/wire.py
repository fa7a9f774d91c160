"""As much of an engine's wire as the client asks for: one answer a turn, all of it in one chunk."""

import json
from http.server import BaseHTTPRequestHandler
from typing import Any


class Wire(BaseHTTPRequestHandler):
    """`answer` is what differs from one to the other."""

    protocol_version = "HTTP/1.1"
    model, context = "*", 65536

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        served = {"data": [{"id": self.model, "max_model_len": self.context}]}
        self._say(json.dumps(served).encode() if self.path == "/v1/models" else b"", "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt, text = asked["messages"][-1]["content"], json.dumps(self.answer(asked))
        said = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
        usage = {"choices": [], "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}}
        lines = "".join(f"data: {json.dumps(one)}\n\n" for one in (said, usage))
        self._say(f"{lines}data: [DONE]\n\n".encode(), "text/event-stream")

    def _say(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

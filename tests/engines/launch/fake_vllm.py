"""What `vllm serve` does as a process: log lines, a child in another process session, a server; or an end before."""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINES = (
    "Initializing a V1 LLM engine (v0.25.1) with config: model='m'",
    "Model loading took 16.30 GiB and 1.8 seconds",
    "Available KV cache memory: 2.39 GiB",
    "GPU KV cache size: 10,432 tokens",
    "Maximum concurrency for 4,096 tokens per request: 3.58x",
    "Graph capturing finished in 10 secs, took 1.47 GiB",
    "init engine (profile, create kv cache, warmup model) took 74.60 s",
)


class Server(BaseHTTPRequestHandler):
    model = ""

    def do_GET(self):
        answers = {"/health": "", "/v1/models": json.dumps({"data": [{"id": self.model, "max_model_len": 4096}]})}
        self._answer(answers.get(self.path))

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        chunk = {"choices": [{"delta": {"content": "yes"}, "finish_reason": "length"}]}
        self._answer(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", "text/event-stream")

    def _answer(self, text, kind="application/json"):
        self.send_response(404 if text is None else 200)
        self.send_header("content-type", kind)
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, *_):
        pass


def say(text):
    print(time.strftime("(EngineCore pid=1) INFO %m-%d %H:%M:%S [core.py:1] ") + text, flush=True)


def main():
    how = os.environ.get("FAKE", "")
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    words = sys.argv[1:]
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    for line in LINES:
        say(line)
    if how == "too long":
        print("ValueError: ... the estimated maximum model length is 65120.", flush=True)
        sys.exit(1)
    if how == "floods":
        print(f"{'x' * 999}\n" * 3000, end="")
        sys.exit("ValueError: ... the estimated maximum model length is 65120.")
    if how == "ends":
        sys.exit(0)
    if how == "hangs":
        time.sleep(600)
    Server.model = words[words.index("--served-model-name") + 1]
    server = ThreadingHTTPServer(("127.0.0.1", int(words[words.index("--port") + 1])), Server)
    print("INFO:     Application startup complete.", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

"""A server that guesses: any answer that a turn's schema allows, by chance. What it hits upon is for others to verify.

    python bench/learning/guess.py --port 8123 --seed 1

It speaks as much of the OpenAI wire as the client asks for. Sentences are the prompt's own.
"""

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

_MOST = re.compile(r"\{0,(\d+)\}\$$")
_SENTENCE = re.compile(r".+?[.;](?=\s|$)")
_ONE = 0.7
"""How often a list is as short as it may be: most rules take one change."""
_SECTION = {"explanation": "Scanner", "assessment": "Probes"}


def guessed(schema: dict[str, Any], prompt: str, random: Random, name: str = "") -> Any:
    """What fits the schema, each choice as likely as the next."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "anyOf" in schema:
        return guessed(random.choice(schema["anyOf"]), prompt, random, name)
    match schema["type"]:
        case "object":
            given = schema["properties"].items()
            return {key: guessed(one, prompt, random, key) for key, one in given if key in schema["required"]}
        case "array":
            least, most = max(1, schema.get("minItems", 0)), schema["maxItems"]
            count = least if random.random() < _ONE else random.randint(least, most)
            found = [guessed(schema["items"], prompt, random) for _ in range(count)]
            return [one for number, one in enumerate(found) if one not in found[:number]]
        case "string":
            return _sentence(schema, prompt, name)
        case _:
            return random.choice((True, False))


def _sentence(schema: dict[str, Any], prompt: str, name: str) -> str:
    """Of the section that says it: what the scanner found for an approach, what the probes said for an assessment."""
    title = _SECTION.get(name, "Scanner")
    _, _, behind = prompt.partition(f"## {title}\n")
    text = " ".join(line for line in behind.partition("\n## ")[0].split("\n") if "HOST" not in line)
    said = _SENTENCE.match(text) or _SENTENCE.match(" ".join(prompt.split("\n")[1:3]))
    plain = re.sub(r"[\"\\\x00-\x1f]", "'", said[0] if said else "As the requirement says.").strip()
    bound = _MOST.search(schema.get("pattern", ""))
    return plain[: int(bound[1]) if bound else schema.get("maxLength", 300)]


class Wire(BaseHTTPRequestHandler):
    random = Random(1)
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        served = {"data": [{"id": "guess", "max_model_len": 8192}]}
        self._say(json.dumps(served).encode() if self.path == "/v1/models" else b"", "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = asked["messages"][-1]["content"]
        text = json.dumps(guessed(asked["response_format"]["json_schema"]["schema"], prompt, self.random))
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    Wire.random = Random(given.seed)
    ThreadingHTTPServer(("127.0.0.1", given.port), Wire).serve_forever()


if __name__ == "__main__":
    main()

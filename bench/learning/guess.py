"""A server that guesses: any answer that a turn's schema allows, by chance. What it hits upon is for others to verify.

    python bench/learning/guess.py --port 8123 --seed 1

It speaks as much of the OpenAI wire as the client asks for. Sentences are the prompt's own.
"""

import argparse
import re
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.wire import Wire

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


class Guessing(Wire):
    random = Random(1)
    model, context = "guess", 8192

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        prompt = asked["messages"][-1]["content"]
        guess: dict[str, Any] = guessed(asked["response_format"]["json_schema"]["schema"], prompt, self.random)
        return guess


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    Guessing.random = Random(given.seed)
    ThreadingHTTPServer(("127.0.0.1", given.port), Guessing).serve_forever()


if __name__ == "__main__":
    main()

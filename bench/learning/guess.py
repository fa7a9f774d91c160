"""A server that guesses: any answer that a turn's schema allows, by chance. What it hits upon is for others to verify.

    python bench/learning/guess.py --port 8123 --seed 1 [--hinted] [--take 0.7]

It speaks as much of the OpenAI wire as the client asks for. Sentences are the prompt's own. With --hinted, what the
requirement, the usual fix and the scanner's words name is guessed more often, and two changes at once as often as one.
With --take, a plan that may take a proposal takes one that often; without, by chance like the rest.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.wire import Wire

_MOST = re.compile(r"\{0,(\d+)\}\$$")
_SENTENCE = re.compile(r".+?[.;](?=\s|$)")
_WORD = re.compile(r"[\w./-]*\w")
_SECTION = {"explanation": "Scanner", "assessment": "Probes"}
_HINTS = ("Requirement", "Usual fix", "Scanner")
_HINT = 3.0
"""How much likelier a choice is made for each of its words that is in a hint."""
_FRESH = 20
"""How often at most, where it is hinted, until what is guessed was not tried before."""
_ONE = 0.7
"""How often a list is as short as it may be: most rules take one change."""
_ONE_HINTED = 0.5


class Guess:
    """What fits a schema, each choice as likely as the next, or likelier where the prompt hints at it."""

    def __init__(self, prompt: str, random: Random, *, hinted: bool, take: float | None = None) -> None:
        self._prompt, self._random, self._take = prompt, random, take
        self._hints = {word for title in _HINTS for word in _WORD.findall(self._section(title))} if hinted else set()

    def of(self, schema: dict[str, Any], name: str = "") -> Any:
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one_of(schema["enum"])
        if "anyOf" in schema:
            return self.of(self._one_of(schema["anyOf"]), name)
        match schema["type"]:
            case "object":
                given = schema["properties"].items()
                return {key: self.of(one, key) for key, one in given if key in schema["required"]}
            case "array":
                least, most = max(1, schema.get("minItems", 0)), schema["maxItems"]
                short = self._random.random() < (_ONE_HINTED if self._hints else _ONE)
                found = [self.of(schema["items"]) for _ in range(least if short else self._random.randint(least, most))]
                return [one for number, one in enumerate(found) if one not in found[:number]]
            case "string":
                return self._sentence(schema, name)
            case _:
                return self._random.choice((True, False))

    def _one_of(self, options: list[Any]) -> Any:
        if self._take is not None and (taking := [one for one in options if _takes_proposal(one)]):
            own = [one for one in options if one not in taking]
            options = taking if self._random.random() < self._take else own or taking
        return self._random.choices(options, [_HINT ** self._hinted(one) for one in options])[0]

    def _hinted(self, option: Any) -> int:
        """How many of its words are hints, less those that are none."""
        if not self._hints:
            return 0
        words = [word for text in _said(option) for word in _WORD.findall(text)]
        known = sum(word in self._hints or word.rpartition("/")[2] in self._hints for word in words)
        return 2 * known - len(words)

    def _sentence(self, schema: dict[str, Any], name: str) -> str:
        """Of the section that says it: what the scanner found for an approach, the probes for an assessment."""
        text = self._section(_SECTION.get(name, "Scanner"))
        said = _SENTENCE.match(text) or _SENTENCE.match(" ".join(self._prompt.split("\n")[1:3]))
        plain = re.sub(r"[\"\\\x00-\x1f]", "'", said[0] if said else "As the requirement says.").strip()
        bound = _MOST.search(schema.get("pattern", ""))
        return plain[: int(bound[1]) if bound else schema.get("maxLength", 300)]

    def _section(self, title: str) -> str:
        _, _, behind = self._prompt.partition(f"## {title}\n")
        return " ".join(line for line in behind.partition("\n## ")[0].split("\n") if "HOST" not in line)


def _takes_proposal(option: Any) -> bool:
    return isinstance(option, dict) and "candidate" in option.get("properties", {})


def _said(option: Any) -> Iterator[str]:
    """A choice's values, and those of a schema that leave no choice."""
    if not isinstance(option, dict):
        yield str(option)
        return
    if "const" in option:
        yield str(option["const"])
    if len(option.get("enum", ())) == 1:
        yield str(option["enum"][0])
    for one in option.get("properties", {}).values():
        yield from _said(one)


class Guessing(Wire):
    random, hinted = Random(1), False
    take: float | None = None
    tried: ClassVar[set[str]] = set()
    """What was proposed for the rule and host that are worked now."""
    model, context = "guess", 8192

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        prompt = asked["messages"][-1]["content"]
        guess = Guess(prompt, self.random, hinted=self.hinted, take=self.take)
        found: dict[str, Any] = {}
        for _ in range(_FRESH if self.hinted else 1):
            found = guess.of(asked["response_format"]["json_schema"]["schema"])
            if json.dumps(found) not in self.tried:
                break
        self._remember(prompt, found)
        return found

    def _remember(self, prompt: str, found: dict[str, Any]) -> None:
        if prompt.startswith("Task: plan") and "\nAttempt: 1\n" in f"{prompt}\n":
            self.tried.clear()
        if "actions" in found:
            self.tried.add(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hinted", action="store_true")
    parser.add_argument("--take", type=float, help="share of the plans that take a proposal where there is one")
    given = parser.parse_args()
    Guessing.random, Guessing.hinted, Guessing.take = Random(given.seed), given.hinted, given.take
    ThreadingHTTPServer(("127.0.0.1", given.port), Guessing).serve_forever()


if __name__ == "__main__":
    main()

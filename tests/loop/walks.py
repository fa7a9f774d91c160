"""Random walks of a schema: the worst model that a grammar can hold, and the built-in host that it is let loose on."""

import random
import re
from pathlib import Path
from typing import Any

from app.events.event_field_types import Probe
from app.events.kinds import PlanMade, SentryProbed, VerdictGiven
from app.loop.attempt_state import Attempt
from app.loop.state import Item
from app.loop.turn_context import TurnContext
from app.scanners.scanner import BuiltinScanner
from app.skills.stig.pack import STIG
from app.syntax.host_files_protocol import FileState
from tests.hostfiles import DictFiles

_TREE = Path(__file__).parents[2] / "app/targets/fixture/tree"
_PLAIN = "abz09 .,:/=-_#'{}[]$äß€✓"
_ANY = _PLAIN + '"\\\n\t\x00\x07\x1b\x7f\u2028\ud800'
"""A grammar that binds no characters lets all of these into a string."""
_BOUNDED = re.compile(r"\^\(?(\[\^.*\]\{(\d+,)?\d+\}\|?)+\)?\$")

_CLASS = re.compile(r"\[([A-Za-z0-9 _.@/+:-]+)\](?:\{(\d+),(\d+)\})?|(/)")
_CLASSES = re.compile(rf"\^(?:{_CLASS.pattern})+\$")
"""A row of classes of plain characters, as in the fields of questions."""


def _draw_from_class(members: str, least: str, most: str, itself: str, draw: random.Random) -> str:
    if itself:
        return itself
    known = [one for one in map(chr, range(32, 127)) if re.fullmatch(f"[{members}]", one)]
    return "".join(draw.choices(known, k=draw.randint(int(least or 1), int(most or 1))))


class Host(DictFiles):
    def find_first_link(self, _path: str) -> str | None:
        return None


def host() -> Host:
    files = {f"/{path.relative_to(_TREE)}": path.read_bytes() for path in _TREE.rglob("*") if path.is_file()}
    return Host({path: FileState(content, 0o644, "root:root") for path, content in files.items()})


def walk(schema: dict[str, Any], draw: random.Random) -> Any:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return walk(draw.choice(schema["anyOf"]), draw)
    match schema["type"]:
        case "object":
            wanted = schema["properties"].items()
            return {k: walk(v, draw) for k, v in wanted if k in schema["required"] or draw.random() < 0.5}
        case "array":
            return [walk(schema["items"], draw) for _ in range(draw.randint(schema["minItems"], schema["maxItems"]))]
        case "string":
            return _string(schema, draw)
    raise AssertionError(schema)


def _string(schema: dict[str, Any], draw: random.Random) -> str:
    if "maxLength" in schema:
        return "".join(draw.choices(_ANY, k=draw.randint(0, schema["maxLength"])))
    pattern = schema["pattern"]
    if _BOUNDED.fullmatch(pattern):
        most = max(sum(map(int, re.findall(r"(\d+)\}", way))) for way in pattern.split("|"))
        return "".join(draw.choices(_PLAIN, k=draw.randint(0, most)))
    if _CLASSES.fullmatch(pattern):
        return "".join(_draw_from_class(*one, draw) for one in _CLASS.findall(pattern.strip("^$")))
    pattern = re.sub(r"\(([^()]*)\)\{1,5\}", lambda m: m[1] * draw.randint(1, 5), pattern)
    made = pattern.strip("^$").replace("[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,47}", draw.choice(("etc", "x.d", "a-b")))
    made = made.replace("\\.", ".").replace("\\-", "-").replace("[0-7]{3}", f"{draw.randint(0, 511):03o}")
    made = made.replace("[a-z0-9][a-z0-9_-]{0,31}", draw.choice("az9") + "-x" * draw.randint(0, 15))
    assert re.fullmatch(pattern, made), (pattern, made)
    return made


def about(rule: str, files: DictFiles, *, guided: bool) -> TurnContext:
    """An attempt that has come to every question at once."""
    one = STIG.rules[rule]
    verdict = BuiltinScanner({rule: one.check}).judge_rules(files, [rule])[0]
    given = VerdictGiven(
        rule=rule, phase="opening", word=verdict.word, evidence=verdict.evidence, scanner="", path=verdict.path
    )
    at = {"rule": rule, "attempt": 1}
    probed = SentryProbed(
        **at, probes=(Probe("login", False, 'it "fails"\x07'),), drift=("a \\ b",), log=("ok", "sshd: error: no")
    )
    plan = PlanMade(**at, approach="", paths=one.paths[:1], steps=(), risk="", rollback="", validation="")
    attempt = Attempt(1, 0.0, plan=plan, verdict=given, probed=probed)
    return TurnContext(Item(rule), attempt, one, "h", files, {}, opening=given, guided=guided)

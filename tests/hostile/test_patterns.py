"""No pattern of ours can be made to run for ever, by whatever text it is given.

Processor time is what counts here, not the clock: a pattern that backtracks without bounds takes years where the
others take milliseconds, so the limit between the two can be wide and no busy machine comes near it.
"""

import ast
import importlib
import re
import signal
from functools import cache
from pathlib import Path

import pytest

import app
from app.events import event_field_types
from app.loop import answers
from app.targets.subjects import option_tables, pam_policy
from app.targets.subjects.option_file_policy import OptionJudge
from tests.hostile.pumps import pumps

ROOT = Path(app.__file__).parent
LENGTH, SECONDS = 1000, 2.0
_CALLS = {"compile", "match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}


class TooSlow(Exception):
    pass


def patterns():
    seen = {}
    for file in sorted(ROOT.rglob("*.py")):
        source = file.read_text()
        if "import re\n" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if _is_of_re(node) and (pattern := _evaluated(node.args[0], file)) is not None:
                seen.setdefault(pattern, f"{file.relative_to(ROOT.parent)}:{node.lineno}")
    return seen


def _is_of_re(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
    )


def _evaluated(argument, file):
    """The pattern as the module has it; None where it is another function's argument."""
    name = ".".join(file.relative_to(ROOT.parent).with_suffix("").parts)
    try:
        expression = compile(ast.Expression(argument), str(file), "eval")
        return eval(expression, dict(vars(importlib.import_module(name))))  # our own source
    except NameError:
        return None


def of_tables():
    options = [one for one in vars(option_tables).values() if isinstance(one, OptionJudge)]
    for one in options:
        yield from (pattern for pair in one.good.items() for pattern in pair)
        yield from one.named
    yield from pam_policy._STRICTER.values()
    for module in (event_field_types, answers):
        for made in vars(module).values():
            yield from (meta.pattern for meta in getattr(made, "__metadata__", ()) if getattr(meta, "pattern", None))


def compiled():
    for one, at in patterns().items():
        pattern = re.compile(one)
        if isinstance(pattern.pattern, str):
            yield pattern, at


@cache
def found():
    return dict(compiled())


def all_of_them():
    return {**found(), **{re.compile(one): "a table" for one in dict.fromkeys(of_tables())}}


@pytest.fixture
def alarm():
    def ring(*_):
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, ring)
    yield lambda seconds: signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def slow_on(pattern, alarm):
    """The text that takes it too long; None when there is none."""
    for text in pumps(pattern, LENGTH):
        alarm(SECONDS)
        try:
            pattern.search(text)
            pattern.fullmatch(text)
        except TooSlow:
            return text
        finally:
            alarm(0)
    return None


def test_there_are_patterns_to_look_at():
    assert len(found()) > 80
    assert len(all_of_them()) > 200


def test_no_pattern_runs_for_ever(alarm):
    slow = [
        (at, pattern.pattern, text[:60]) for pattern, at in all_of_them().items() if (text := slow_on(pattern, alarm))
    ]
    assert slow == []


@pytest.mark.parametrize("bad", [r"(?:-[A-Z0-9.-]+ ?)+", r"(a+)+$", r"(?:a|a)*b", r"(?:\w+\s?)*:", r"^(\s*\w*)*$"])
def test_a_pattern_that_would_is_found_out(bad, alarm):
    assert slow_on(re.compile(bad), lambda seconds: alarm(min(seconds, 0.3))) is not None

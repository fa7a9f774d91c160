"""The commands that documents show: found in code blocks and in lines of text, and held to the real command line."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from starlette.routing import Match
from typer.main import get_command

from app.__main__ import UsageError
from app.__main__ import app as terminal
from app.web.routes import ROUTES

ROOT = Path(__file__).parent.parent.parent
OURS = ("temper", "make", "curl")
WRAPPERS = ("sudo", "systemd-run", "docker")
"""Start another command, whose words follow theirs."""
NO_SHELL = ("python", "ts")
"""Languages of blocks; tests/docs/test_clients.py runs the Python."""
SEPARATORS = (";", "&&", "||", "|", "&", "(", ")")
ASSIGNMENT = re.compile(r"[A-Z_]+=.*", re.DOTALL)
CRON_TIME = re.compile(r"^(?:[\d*/,-]+\s+){5}")
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]*|…")
ADDRESS = re.compile(r"""^(?:\$\{?TEMPER\}?|https?://127\.0\.0\.1:8000)(/[^?]*)""")


@dataclass(frozen=True)
class ShownCommand:
    """One simple command of a document. A command inside a line of text may be cut short: `temper host add`."""

    file: str
    words: tuple[str, ...]
    whole: bool = True

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.words)}"


def list_documents() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])


def list_blocks(text: str) -> list[str]:
    """What a document shows set apart, whatever it is."""
    return [one.content for one in MarkdownIt("commonmark").parse(text) if one.type in ("fence", "code_block")]


def find_commands(text: str, file: str = "", others: frozenset[str] = frozenset()) -> Iterator[ShownCommand]:
    """Commands of blocks that hold a program of ours or of `others`, and commands of ours inside lines of text."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type in ("fence", "code_block") and token.info not in NO_SHELL:
            lines = join_lines(token.content)
            if any(line.split()[0] in {*OURS, *others} for line in lines):
                yield from (ShownCommand(file, words) for line in lines for words in split_commands(line))
        for one in token.children or ():
            if one.type == "code_inline" and one.content.split(" ")[0] in OURS:
                yield from (ShownCommand(file, words, whole=False) for words in split_commands(one.content))


def join_lines(block: str) -> list[str]:
    """Lines with their continuations and what is quoted over several of them, without here-documents."""
    plain = re.sub(r"<<'?(\w+)'?\n.*?\n\1\n", "\n", block.replace("\\\n", " "), flags=re.DOTALL)
    joined: list[str] = []
    for line in plain.splitlines():
        if joined and _is_quote_open(joined[-1]) and _is_quote_open(line):
            joined[-1] += f"\n{line}"
        elif line.strip():
            joined.append(CRON_TIME.sub("", line).removeprefix("$ "))
    return joined


def _is_quote_open(line: str) -> bool:
    return re.sub(r"\s#\s.*", "", line).count("'") % 2 == 1


def split_commands(line: str) -> Iterator[tuple[str, ...]]:
    """The simple commands of a line. `temper pause RUN, resume RUN` stands for two of one group."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    now: list[str] = []
    for word in [*lexer, ";"]:
        if word not in SEPARATORS:
            now.append(word)
        elif words := unwrap(now):
            yield from split_list(words)
            now = []


def unwrap(words: list[str]) -> list[str]:
    """Without assignments, and without the command that starts another one."""
    while words and ASSIGNMENT.fullmatch(words[0]):
        words = words[1:]
    if words and words[0] in WRAPPERS:
        names = [Path(word).name for word in words]
        compose = "run" in names if words[0] == "docker" else True
        at = names.index("temper") if compose and "temper" in names else 0
        if words[0] == "sudo" and at and words[at - 1] == "-u":
            at = names.index("temper", at + 1)
        words = ["temper", *words[at + 1 :]] if at else words
    return words


def split_list(words: list[str]) -> Iterator[tuple[str, ...]]:
    if words[0] != "temper" or not any(word.endswith(",") for word in words[1:]):
        yield tuple(words)
        return
    group = ["temper", words[1]] if words[1] in GROUPS else ["temper"]
    for part in " ".join(words[len(group) :]).split(", "):
        yield (*group, *part.split())


COMMANDS = get_command(terminal)
GROUPS = {name for name, command in COMMANDS.commands.items() if hasattr(command, "commands")}


def find_fault(command: ShownCommand) -> str | None:
    """What the program would refuse; None where it would begin."""
    program, *words = command.words
    if program == "temper":
        return find_temper_fault(words, whole=command.whole)
    if program == "make":
        return find_make_fault(words)
    return find_curl_fault(words)


def find_temper_fault(words: list[str], *, whole: bool) -> str | None:
    """The words go through the command line's own parser, and values through the types of their options."""
    command = COMMANDS
    context = command.make_context("temper", [], resilient_parsing=True)
    while hasattr(command, "commands"):
        if not words:
            return None if not whole else "no command is named"
        if words[0].startswith("-"):
            return None if words in (["--version"], ["--help"]) else f"no option of temper: {words[0]}"
        if words[0] not in command.commands and "lineup" in command.commands:  # as `temper score` itself reads it
            words = ["lineup", *words]
        name, *words = words
        if name not in command.commands:
            return f"no command {name!r}"
        command = command.commands[name]
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    context.resilient_parsing = False
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in {*known, "--help"}]
    if unknown or not whole:
        return f"no option {unknown}" if unknown else None
    return _find_value_fault(command, context, [word for word in words if word != "…"], cut="…" in words)


def _find_value_fault(command, context, words: list[str], *, cut: bool) -> str | None:
    try:
        values, rest, _ = command.make_parser(context).parse_args(words)
    except UsageError as exc:
        return str(exc)
    if rest:
        return f"takes no {rest}"
    for param in command.params:
        value = values.get(param.name)
        if value is None or value == ():
            if param.required and not cut:
                return f"{param.name} is missing"
        elif not any(PLACEHOLDER.fullmatch(str(one)) for one in (value if isinstance(value, list) else [value])):
            try:
                param.process_value(context, value)
            except UsageError as exc:
                return str(exc)
    return None


def find_make_fault(words: list[str]) -> str | None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for word in words:
        if not word.startswith("ARGS=") and word not in targets:
            return f"no target {word!r}"
    arguments = next((word.removeprefix("ARGS=") for word in words if word.startswith("ARGS=")), "")
    return find_temper_fault(["demo", *shlex.split(arguments)], whole=True) if "demo" in words else None


def find_curl_fault(words: list[str]) -> str | None:
    """Every address of ours that it names is answered by a route, for the method that it uses."""
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if {"-d", "--data"} & {*words} else "GET"
    paths = [found[1] for word in words if (found := ADDRESS.match(word))]
    for path in paths:
        filled = re.sub(r"\$\{?\w+\}?", "x", path)
        scope = {"type": "http", "method": method, "path": filled, "root_path": "", "headers": []}
        if not any(route.matches(scope)[0] is Match.FULL for route in ROUTES):
            return f"nothing answers {method} {filled}"
    return None if paths else "no address of ours"

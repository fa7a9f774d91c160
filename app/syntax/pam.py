"""PAM service files: who is asked, in which order, and what a refusal means."""

import re
from dataclasses import dataclass, field

from app.files import Files
from app.syntax import source
from app.syntax.setting import Problem

FOLDER = "/etc/pam.d"
_MODULES = ("/usr/lib64/security/", "/lib64/security/", "/usr/lib/security/", "/lib/security/")
_KINDS = ("auth", "account", "password", "session")
_WORD = re.compile(r"\[((?:\\.|[^\]\\])*)\]|([^ \t\r\f\v]+)")
_CONTROLS = ("required", "requisite", "sufficient", "optional", "include", "substack")
_READS = 100
_LONGEST = 4096


@dataclass(frozen=True)
class PamRule:
    kind: str
    control: str
    """A word, or what stands between the brackets."""
    module: str
    """The module's file name, with its folder where that is none of PAM's own; for include and substack the service."""
    arguments: tuple[str, ...]
    path: str
    line: int
    quiet: bool = False
    """A dash ahead of the kind: a module that is missing is passed over."""


@dataclass(frozen=True)
class PamStack:
    rules: tuple[PamRule, ...]
    problems: tuple[Problem, ...]

    def of(self, kind: str) -> tuple[PamRule, ...]:
        return tuple(rule for rule in self.rules if rule.kind == kind)


def service(text: str, path: str) -> PamStack:
    """One file as it stands, includes not followed. A # opens a comment anywhere, also ahead of a backslash."""
    rules, problems = [], []
    live = "\n".join(line.partition("#")[0].rstrip(" \t") for line in text.split("\n"))
    for number, line in source.joined(live):
        if len(line) > _LONGEST:
            problems.append(Problem("the line is longer than PAM reads", path, number))
            continue
        words = [bracketed or plain for bracketed, plain in _WORD.findall(line)]
        if not words:
            continue
        if words[0] == "@include" and len(words) == 2:
            rules += [PamRule(kind, "include", words[1], (), path, number) for kind in _KINDS]
            continue
        fault = _fault(words)
        if fault:
            problems.append(Problem(fault, path, number))
            continue
        kind, module = source.fold(words[0]).lstrip("-"), _module(words[2])
        quiet = words[0].startswith("-")
        rules.append(PamRule(kind, words[1], module, tuple(words[3:]), path, number, quiet))
    return PamStack(tuple(rules), tuple(problems))


def _module(word: str) -> str:
    """A module of the same name in another folder is another module."""
    folder, _, name = word.rpartition("/")
    return name if f"{folder}/" in (*_MODULES, f"{FOLDER}/") else word


def _fault(words: list[str]) -> str:
    if source.fold(words[0]).removeprefix("-") not in _KINDS:
        return "the line does not start with auth, account, password or session"
    if len(words) < 3:
        return "a control and a module are wanted"
    if source.fold(words[1]) not in _CONTROLS and "=" not in words[1]:
        return "PAM does not know the control of this line"
    return ""


def stack(files: Files, path: str) -> PamStack:
    """The whole stack of a service, with include and substack expanded in place."""
    reader = _Reader(files)
    reader.read(path, frozenset(_KINDS))
    return PamStack(tuple(reader.rules), tuple(reader.problems))


@dataclass
class _Reader:
    files: Files
    rules: list[PamRule] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    reads: int = 0

    def read(self, path: str, kinds: frozenset[str]) -> None:
        self.reads += 1
        text = source.text(self.files, path)
        if text is None or self.reads > _READS:
            fault = f"{path} is absent" if text is None else "files include each other without an end"
            self.problems.append(Problem(fault, path, 1))
            return
        found = service(text, path)
        self.problems += found.problems
        for rule in found.rules:
            if rule.kind not in kinds or self.reads > _READS:
                continue
            if source.fold(rule.control) in {"include", "substack"}:
                named = rule.module if rule.module.startswith("/") else f"{FOLDER}/{rule.module}"
                self.read(named, frozenset({rule.kind}))
            else:
                self.rules.append(rule)

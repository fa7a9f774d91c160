"""sudoers with everything that it includes, in the order in which sudo reads it."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from app.files import Files
from app.syntax import source
from app.syntax.setting import Problem
from app.syntax.sudoers_line import Alias, Default, Grant, aliases, defaults, grants

MAIN = "/etc/sudoers"
_INCLUDE = re.compile(r'[ \t]*[#@]include(dir)?[ \t]+(?:"([^"]+)"|((?:\\.|[^ \t\r\\])+))[ \t\r]*')
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*"|\\.)|#(?!-?[0-9]).*')
_READS = 200
_LONGEST = 4096


@dataclass(frozen=True)
class Sudoers:
    defaults: tuple[Default, ...]
    aliases: tuple[Alias, ...]
    grants: tuple[Grant, ...]
    problems: tuple[Problem, ...]

    def of(self, user: str, groups: Collection[str]) -> list[Grant]:
        """What sudo would let the user run, in file order: the last that fits a command decides."""
        return [grant for grant in self.grants if self._names(grant.users, user, groups)]

    def _names(self, listed: tuple[str, ...], user: str, groups: Collection[str], depth: int = 0) -> bool:
        named = False
        for entry in listed:
            bare = entry.lstrip("! \t").strip('"')
            members = [m for a in self.aliases if a.kind == "User" and a.name == bare for m in a.members]
            direct = bare in {"ALL", user} or (bare.startswith("%") and bare[1:] in groups)
            if direct or (members and depth < 8 and self._names(tuple(members), user, groups, depth + 1)):
                named = entry.count("!") % 2 == 0
        return named


def effective(files: Files, path: str = MAIN) -> Sudoers:
    reader = _Reader(files)
    reader.read(path)
    return Sudoers(tuple(reader.defaults), tuple(reader.aliases), tuple(reader.grants), tuple(reader.problems))


@dataclass
class _Reader:
    files: Files
    defaults: list[Default] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    reads: int = 0

    def read(self, path: str) -> None:
        self.reads += 1
        text = source.text(self.files, path)
        if text is None or self.reads > _READS:
            fault = f"{path} is absent" if text is None else "files include each other without an end"
            self.problems.append(Problem(fault, path, 1))
            return
        for number, line in source.joined(_without_comments(text)):
            include = _INCLUDE.fullmatch(line)
            if include:
                self._include(include, path)
            elif line.strip(source.TRAIL):
                self._line(line.strip(source.TRAIL), path, number)

    def _include(self, include: re.Match[str], path: str) -> None:
        named = include[2] or re.sub(r"\\(.)", r"\1", include[3])
        whole = named if named.startswith("/") else f"{path.rpartition('/')[0]}/{named}"
        found = [whole]
        if include[1]:
            # sudo leaves out what editors and package tools drop beside a file
            names = source.glob(self.files, f"{whole.rstrip('/')}/*")
            found = [p for p in names if "." not in p.rpartition("/")[2] and not p.endswith("~")]
        for included in found:
            if self.reads <= _READS:
                self.read(included)

    def _line(self, line: str, path: str, number: int) -> None:
        if len(line) > _LONGEST:
            self.problems.append(Problem("the line is longer than anybody writes by hand", path, number))
        elif found_defaults := defaults(line, path, number):
            self.defaults += found_defaults
        elif found_aliases := aliases(line):
            self.aliases += found_aliases
        elif not line.startswith("Defaults") and (found_grants := grants(line, path, number)):
            self.grants += found_grants
        else:
            self.problems.append(Problem("sudo cannot read this line", path, number))


def _without_comments(text: str) -> str:
    return "\n".join(line if _INCLUDE.fullmatch(line) else _cut(line) for line in text.split("\n"))


def _cut(line: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or "", line)

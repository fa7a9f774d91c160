"""Parser for sudoers and the files that it includes, in sudo's reading order."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.setting import BadSetting
from app.syntax.sudoers_line import Alias, Grant, SudoDefault, parse_aliases, parse_defaults, parse_grants

MAIN = "/etc/sudoers"
_INCLUDE = re.compile(r'(?:[ \t]*@|#)include(dir)?[ \t]+(?:"([^"]+)"|((?:\\.|[^ \t\r\\])+))[ \t\r]*')
"""With a # it must start the line: after a blank it is a comment."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*"|\\.)|#(?!-?[0-9]).*')
_GOES_ON = re.compile(r"(?<!\\)\\[ \t]*\r?$")
_MARKS = re.compile(r"\\.")
_READS = 200
_DEPTH = 16
_LONGEST = 4096


@dataclass(frozen=True)
class Sudoers:
    defaults: tuple[SudoDefault, ...]
    aliases: tuple[Alias, ...]
    grants: tuple[Grant, ...]
    problems: tuple[BadSetting, ...]
    paths: tuple[str, ...] = ()
    """Every file that was read."""

    def list_grants(self, user: str, groups: Collection[str]) -> list[Grant]:
        """List the grants of a user in file order; the last that matches a command decides."""
        return [
            grant for grant in self.grants if self.find_whether_user_included_or_excluded(grant.users, user, groups)
        ]

    def find_whether_user_included_or_excluded(
        self, listed: Sequence[str], user: str, groups: Collection[str], uid: int | None = None
    ) -> bool | None:
        """Return True if a list includes the user, False if it excludes the user, None if it does neither.

        The last matching entry decides. An alias counts as its members, and a bang negates it.
        """
        return self._match_entries(listed, user, {fold_case(group) for group in groups}, uid, 0)

    def _match_entries(
        self, listed: Sequence[str], user: str, groups: Collection[str], uid: int | None, depth: int
    ) -> bool | None:
        for entry in reversed(listed):
            bare = entry.removeprefix("!")
            found: bool | None
            members = self.find_alias_members("User", bare)
            if members is not None:
                found = self._match_entries(members, user, groups, uid, depth + 1) if depth < _DEPTH else None
            elif bare.startswith("%"):
                found = fold_case(bare[1:]) in groups or None
            else:
                found = (bare == "ALL" or fold_case(bare) == fold_case(user) or bare == f"#{uid}") or None
            if found is not None:
                return found is not entry.startswith("!")
        return None

    def find_alias_members(self, kind: str, name: str) -> tuple[str, ...] | None:
        return next((alias.members for alias in self.aliases if (alias.kind, alias.name) == (kind, name)), None)


def read_sudoers(files: Files, path: str = MAIN) -> Sudoers:
    reader = _Reader(files)
    reader.read(path)
    return Sudoers(
        tuple(reader.defaults), tuple(reader.aliases), tuple(reader.grants), tuple(reader.problems), tuple(reader.paths)
    )


@dataclass
class _Reader:
    files: Files
    defaults: list[SudoDefault] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    problems: list[BadSetting] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    reads: int = 0

    def read(self, path: str) -> None:
        self.reads += 1
        self.paths.append(path)
        text = host_text.read_text(self.files, path)
        if text is None or self.reads > _READS:
            fault = f"{path} is absent" if text is None else "files include each other without an end"
            self.problems.append(BadSetting(fault, path, 1))
            return
        for number, line in _join_lines(text):
            include = _INCLUDE.fullmatch(line)
            if include:
                self._read_include(include, path)
            elif line.strip(host_text.TRAIL):
                self._parse_line(line.strip(host_text.BLANK), path, number)

    def _read_include(self, include: re.Match[str], path: str) -> None:
        named = include[2] or re.sub(r"\\(.)", r"\1", include[3])
        whole = named if named.startswith("/") else f"{path.rpartition('/')[0]}/{named}"
        found = [whole]
        if include[1]:
            # sudo skips files that editors and package tools leave in the folder
            names = host_text.glob_paths_like_shell(self.files, f"{whole.rstrip('/')}/*")
            found = [p for p in names if "." not in p.rpartition("/")[2] and not p.endswith("~")]
        for included in found:
            if self.reads <= _READS:
                self.read(included)

    def _parse_line(self, line: str, path: str, number: int) -> None:
        if len(line) > _LONGEST:
            self.problems.append(BadSetting("the line is longer than anybody writes by hand", path, number))
        elif found_defaults := parse_defaults(line, path, number):
            self.defaults += found_defaults
        elif found_aliases := parse_aliases(line):
            self.aliases += found_aliases
        elif not line.startswith("Defaults") and (found_grants := parse_grants(line, path, number)):
            self.grants += found_grants
        else:
            self.problems.append(BadSetting("sudo cannot read this line", path, number))


def _join_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines, joined at backslashes and without comments. Comments are not continued."""
    start, held, within = 1, "", False
    for number, whole in host_text.number_lines(text):
        line = whole if not held and _INCLUDE.fullmatch(whole) else _COMMENT.sub(lambda match: match[1] or "", whole)
        if not held:
            start = number
        more = _GOES_ON.search(line)
        held += (line[: more.start()] if more else line).lstrip(host_text.BLANK if within else "")
        within = bool(more) and _MARKS.sub("", held).count('"') % 2 == 1
        if more:
            held += "" if within else " "
            continue
        yield start, held
        held = ""
    if held:
        yield start, held

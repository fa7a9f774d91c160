"""Parser for sshd_config as sshd reads it: Include expanded, the first value counts, Match blocks apart."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.host_text import fold_case
from app.syntax.setting import BadSetting, Setting
from app.syntax.sshd_keywords import explain_rejection, normalize_keyword
from app.syntax.sshd_line import Directive, parse_directive
from app.syntax.sshd_match import Conditions, parse_conditions_with_fault

MAIN = "/etc/ssh/sshd_config"
_DEPTH = 16
_READS = 200
"""Limits reads: two files that include each other's folder would double at every level."""


@dataclass(frozen=True)
class SshdConfigLine:
    """A line that sets something, in reading order."""

    directive: Directive
    conditions: Conditions | None
    """None before the first Match line."""


@dataclass(frozen=True)
class MatchBlock:
    criteria: str
    conditions: Conditions
    path: str
    line: int
    settings: list[Setting] = field(default_factory=list)

    def get(self, keyword: str) -> Setting | None:
        return next(iter(self.list_settings(keyword)), None)

    def list_settings(self, keyword: str) -> tuple[Setting, ...]:
        return _select_keyword(self.settings, keyword)


@dataclass(frozen=True)
class SshdConfig:
    settings: tuple[Setting, ...]
    """The global settings, in reading order."""
    matches: tuple[MatchBlock, ...]
    problems: tuple[BadSetting, ...]
    lines: tuple[SshdConfigLine, ...]
    paths: tuple[str, ...]
    """Every file that was read."""

    def get(self, keyword: str) -> Setting | None:
        return next(iter(self.list_global_settings(keyword)), None)

    def list_global_settings(self, keyword: str) -> tuple[Setting, ...]:
        """Return all global settings of the keyword: AllowUsers, Port and the like accumulate."""
        return _select_keyword(self.settings, keyword)


def _select_keyword(settings: Iterable[Setting], keyword: str) -> tuple[Setting, ...]:
    name = normalize_keyword(keyword)
    return tuple(s for s in settings if normalize_keyword(s.key) == name)


def read_sshd_config(files: Files, path: str = MAIN) -> SshdConfig:
    reader = _Reader(files)
    reader.read(path, None, 0)
    return SshdConfig(
        settings=tuple(reader.settings),
        matches=tuple(reader.blocks),
        problems=tuple(reader.problems),
        lines=tuple(reader.lines),
        paths=tuple(dict.fromkeys(reader.paths)),
    )


@dataclass
class _Reader:
    files: Files
    settings: list[Setting] = field(default_factory=list)
    blocks: list[MatchBlock] = field(default_factory=list)
    problems: list[BadSetting] = field(default_factory=list)
    lines: list[SshdConfigLine] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def read(self, path: str, block: MatchBlock | None, depth: int) -> None:
        self.paths.append(path)
        if depth > _DEPTH or len(self.paths) > _READS:
            self.problems.append(BadSetting("files include each other without an end", path, 1))
            return
        text = host_text.read_text(self.files, path)
        if text is None:
            self.problems.append(BadSetting(f"{path} is absent", path, 1))
            return
        outer = block
        for number, line in host_text.number_lines(text):
            found = parse_directive(line)
            if found is None:
                continue
            if fold_case(found.keyword) == "match":
                block = self._open_block(found, outer, path, number)
            elif fold_case(found.keyword) == "include":
                self._read_include(found, block, path, number, depth)
            else:
                self._add_setting(found, block, path, number)

    def _open_block(self, directive: Directive, outer: MatchBlock | None, path: str, number: int) -> MatchBlock:
        asked, fault = parse_conditions_with_fault(directive.rest)
        if directive.fault or fault:
            self.problems.append(BadSetting(fault or f"Match: {directive.fault}", path, number))
        criteria = directive.value if outer is None else f"{outer.criteria} {directive.value}"
        block = MatchBlock(criteria, asked if outer is None else (*outer.conditions, *asked), path, number)
        self.blocks.append(block)
        return block

    def _read_include(self, directive: Directive, block: MatchBlock | None, path: str, number: int, depth: int) -> None:
        if directive.fault:
            self.problems.append(BadSetting(f"Include: {directive.fault}", path, number))
        for pattern in directive.arguments:
            absolute = pattern if pattern.startswith("/") else f"/etc/ssh/{pattern}"
            for included in host_text.glob_paths_like_shell(self.files, absolute):
                if len(self.paths) <= _READS:
                    self.read(included, block, depth + 1)

    def _add_setting(self, directive: Directive, block: MatchBlock | None, path: str, number: int) -> None:
        conditional = block is not None and block.conditions != ()
        fault = directive.fault or explain_rejection(directive.keyword, directive.arguments, in_match=conditional)
        if fault:
            text = fault if directive.keyword in fault else f"{directive.keyword}: {fault}"
            self.problems.append(BadSetting(text, path, number, fold_case(directive.keyword)))
        if not directive.arguments:
            return
        self.lines.append(SshdConfigLine(directive, None if block is None else block.conditions))
        kept = self.settings if block is None else block.settings
        kept.append(Setting(directive.keyword, directive.value, path, number))


BACKEND = "/etc/crypto-policies/back-ends/opensshserver.config"


def find_backend_setting(text: str, keyword: str, path: str = BACKEND) -> Setting | None:
    for number, line in host_text.number_lines(text):
        found = parse_directive(line)
        if found is not None and fold_case(found.keyword) == fold_case(keyword):
            return Setting(found.keyword, found.value, path, number)
    return None

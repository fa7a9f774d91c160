"""Parser for PAM service files, read as libpam reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from app.syntax import host_text, pam_lexer
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting

FOLDER = "/etc/pam.d"
VENDOR = "/usr/lib/pam.d"
OTHER = "other"
"""The service that provides the rules for services, or kinds of rules, without their own."""
KINDS = ("auth", "account", "password", "session")
INCLUDE = "@include"
"""Debian's include: all kinds of rules, or the kind being read."""
_MODULES = ("/usr/lib64/security/", "/lib64/security/", "/usr/lib/security/", "/lib/security/")
_CONTROLS = ("required", "requisite", "sufficient", "optional", "include", "substack")
_READS = 100
_DEEPEST = 16


@dataclass(frozen=True)
class PamRule:
    kind: str
    control: str
    """A word, or the text between brackets."""
    module: str
    """The module's file name, with its folder if it is not one of PAM's; for include and substack the service."""
    arguments: tuple[str, ...]
    path: str
    line: int
    quiet: bool = False
    """The kind starts with a dash: a missing module is ignored."""
    level: int = 0
    """The depth of substacks around the rule."""
    broken: bool = False
    """libpam cannot parse the line, and refuses when it reaches it."""

    @property
    def opens_substack(self) -> bool:
        """True for the start of a substack, which runs no module."""
        return self.control == "substack"

    @property
    def actions(self) -> Mapping[str, str]:
        return pam_lexer.parse_actions(self.control) or {"default": "bad"}


@dataclass(frozen=True)
class PamStack:
    rules: tuple[PamRule, ...]
    problems: tuple[BadSetting, ...]
    chain: tuple[PamRule, ...] = ()
    """All rules that libpam runs through, with broken lines and starts of substacks."""
    given_up: bool = False
    """libpam gives up, and the service refuses every request."""

    def list_rules_of_kind(self, kind: str) -> tuple[PamRule, ...]:
        return tuple(rule for rule in self.rules if rule.kind == kind)


@lru_cache(maxsize=64)  # the stacks of a host include the same few files many times
def parse_service(text: str, path: str) -> PamStack:
    """Parse one file without following includes."""
    rules: list[tuple[PamRule, str]] = []
    given_up = False
    try:
        for number, line in pam_lexer.join_pam_lines(text):
            words = pam_lexer.split_pam_words(line)
            rules.append((_build_rule(words, path, number), _describe_fault(words)))
    except pam_lexer.UnfinishedPamFile:
        given_up = True
    problems = [BadSetting(fault, path, rule.line) for rule, fault in rules if fault]
    if given_up:
        problems.append(
            BadSetting("a line that goes on has no end, so PAM gives the file up", path, text.count("\n") + 1)
        )
    plain = tuple(rule for rule, fault in rules if not fault)
    return PamStack(plain, tuple(problems), tuple(rule for rule, _ in rules), given_up)


def _build_rule(words: list[str], path: str, number: int) -> PamRule:
    kind = host_text.fold_case(words[0]).removeprefix("-")
    if kind == INCLUDE:
        return PamRule("", INCLUDE, (words[1:] or [""])[0], (), path, number)
    control, module = (words[1:] or [""])[0], _strip_standard_pam_folder((words[2:] or [""])[0])
    folded, known = host_text.fold_case(control), kind in KINDS
    broken = not known or len(words) < 3
    control = folded if folded in _CONTROLS else control
    rest, quiet = tuple(words[3:]), words[0].startswith("-")
    return PamRule(kind if known else "", control, module, rest, path, number, quiet, broken=broken)


def _strip_standard_pam_folder(word: str) -> str:
    """Drop PAM's own folders: a module of the same name elsewhere is another module."""
    folder, _, name = word.rpartition("/")
    return name if f"{folder}/" in (*_MODULES, f"{FOLDER}/") else word


def _describe_fault(words: list[str]) -> str:
    kind = host_text.fold_case(words[0]).removeprefix("-")
    if kind == INCLUDE:
        return "" if len(words) > 1 else "a service to include is wanted"
    if kind not in KINDS:
        return "the line does not start with auth, account, password or session"
    if len(words) < 3:
        return "a control and a module are wanted"
    known = host_text.fold_case(words[1]) in _CONTROLS or pam_lexer.parse_actions(words[1]) is not None
    return "" if known else "PAM does not know the control of this line"


def read_stack_with_includes(files: Files, path: str) -> PamStack:
    """Return the whole stack of a service, with include and substack expanded in place."""
    reader = _Reader(files)
    given_up = not reader.read(path, "", 0)
    plain = [rule for rule in reader.chain if not (rule.broken or rule.opens_substack)]
    return PamStack(tuple(plain), tuple(reader.problems), tuple(reader.chain), given_up)


def find_chains_falling_back_to_other_service(
    files: Files, service_name: str
) -> Mapping[str, tuple[PamRule, ...]] | None:
    """Return the rules that libpam runs for a service, by kind; None if it cannot start.

    A kind without rules has those of `other`, which must be readable for every service.
    """
    paths = [path for path in (f"{FOLDER}/{service_name}", f"{FOLDER}/{OTHER}") if files.state(path) is not None]
    there = [read_stack_with_includes(files, path) for path in paths]
    if not there or any(one.given_up for one in there):
        return None
    own = {kind: [tuple(rule for rule in one.chain if rule.kind == kind) for one in there] for kind in KINDS}
    return {kind: next(filter(None, chains), ()) for kind, chains in own.items()}


@dataclass
class _Reader:
    files: Files
    chain: list[PamRule] = field(default_factory=list)
    problems: list[BadSetting] = field(default_factory=list)
    reads: int = 0

    def read(self, path: str, kind: str, level: int) -> bool:
        """Read the rules of one kind, or of all. Return False if libpam gives up."""
        self.reads += 1
        text = host_text.read_text(self.files, path)
        if text is None or self.reads > _READS or level >= _DEEPEST:
            fault = f"{path} is absent" if text is None else "files include each other without an end"
            self.problems.append(BadSetting(fault, path, 1))
            return False
        found = parse_service(text, path)
        self.problems += found.problems
        return all(self._add_rule_or_give_up(rule, kind, level) for rule in found.chain) and not found.given_up

    def _add_rule_or_give_up(self, rule: PamRule, kind: str, level: int) -> bool:
        if rule.control == INCLUDE:
            if rule.module and self.read(self._get_service_path(rule.module), kind, level):
                return True
            # without a kind there is no rule that could refuse, so libpam gives up
            return bool(kind) and self._append_refusing_rule(rule, kind, level)
        own = rule.kind or kind or "auth"
        if kind and own != kind:
            return True
        if rule.control not in ("include", "substack"):
            self.chain.append(replace(rule, kind=own, level=level))
            return True
        if rule.opens_substack:
            self.chain.append(replace(rule, kind=own, level=level, broken=False))
        is_read = bool(rule.module) and self.read(self._get_service_path(rule.module), own, level + rule.opens_substack)
        return is_read or self._append_refusing_rule(rule, own, level)

    def _append_refusing_rule(self, rule: PamRule, kind: str, level: int) -> bool:
        self.chain.append(replace(rule, kind=kind, control="", level=level, broken=True))
        return True

    def _get_service_path(self, name: str) -> str:
        if name.startswith("/"):
            return name
        own, vendor = f"{FOLDER}/{name}", f"{VENDOR}/{name}"
        return vendor if self.files.state(own) is None and self.files.state(vendor) is not None else own

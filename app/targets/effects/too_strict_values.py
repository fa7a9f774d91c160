"""Bounds that protect a host from values which are too strict, and from a lost legal notice. The data is bounds.toml.

They are judged by the files before and after, so that each way to a change gets the same answer.
"""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from app.resources.kind import Objection
from app.syntax import host_text
from app.syntax.host_files_protocol import Files, FileState
from app.targets.effects import legal_notice_protection
from app.targets.effects.crypto_policies import CONFIG, MODULES, CryptoPolicies
from app.targets.effects.daemon_base import UNSET, Daemon
from app.targets.effects.strictness_comparison import parse_decimal_integer
from app.targets.overlay import Overlay
from app.text.clean import clean_text

_DATA = Path(__file__).with_name("bounds.toml")
_TAKEN = "-"


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The values of a setting that a host can live with."""

    program: str
    key: str
    why: str
    least: int | None = None
    most: int | None = None
    none: int | None = None
    """The value that means no limit; another check judges it."""
    words: tuple[str, ...] = ()
    """How a rule's text spells the key, if not as `key`."""
    part: str = ""
    """A pattern of the numbers in a value that holds more; each of them counts."""

    def measure_excess(self, value: str) -> int:
        """Return how far the value is past the bound; 0 within it, and for words."""
        return max((self._measure_number(number) for number in self._list_numbers(value)), default=0)

    def is_stated(self, key: str, value: str, asks: frozenset[str]) -> bool:
        """Return True if a rule asks for this value, or for each number in it that is past the bound."""
        if not self.part:
            return f"{_get_setting_name(key)} {value}" in asks
        past = {number for number in self._list_numbers(value) if self._measure_number(number)}
        start = f"{self.words[0]} "
        return past <= {parse_decimal_integer(one.removeprefix(start)) for one in asks if one.startswith(start)}

    def _list_numbers(self, value: str) -> list[int]:
        found = map(parse_decimal_integer, re.findall(self.part, value) if self.part else [value])
        return [number for number in found if number is not None and number != self.none]

    def _measure_number(self, number: int) -> int:
        low = self.least - number if self.least is not None else 0
        return max(low, number - self.most if self.most is not None else 0, 0)


class _Kept(msgspec.Struct, frozen=True):
    kind: str
    one_of: tuple[str, ...]
    scopes: tuple[str, ...]


class _Readers(msgspec.Struct, frozen=True):
    path: str
    owner: str
    needs: int
    why: str


class _Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bounds: Annotated[tuple[Bound, ...], msgspec.Meta(min_length=1)]
    kept: tuple[_Kept, ...]
    readers: tuple[_Readers, ...]


@cache
def load_bounds() -> _Bounds:
    return msgspec.convert(tomllib.loads(_DATA.read_text()), _Bounds)


@dataclass(frozen=True)
class ReadSide:
    """The settings of a program before and after a change."""

    daemon: Daemon
    before: Mapping[str, str]
    after: Mapping[str, str]


def find_access_or_notice_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str]
) -> Objection | None:
    """Return the objection to files that would be too strict, or would lose a notice; None if there is none."""
    return (
        _find_read_access_objection(paths, before, after, asks)
        or _find_crypto_policy_objection(paths, after)
        or legal_notice_protection.find_notice_objection(paths, before, after, asks)
    )


def find_excess_objection(sides: Iterator[ReadSide], asks: frozenset[str]) -> Objection | None:
    """Return the objection to the first setting that a change takes past its bound."""
    for side in sides:
        name = side.daemon.name
        for key, value in side.after.items():
            was = side.before.get(key, UNSET)
            broken = (one for one in list_bounds(name, key) if one.measure_excess(value) > one.measure_excess(was))
            bound = next(broken, None) if value != was else None
            if bound is None or f"{name} {key} {value}" in asks or bound.is_stated(key, value, asks):
                continue
            limit = f"{bound.least} at least" if bound.least is not None else f"{bound.most} at most"
            reason = f"{name}: {key} would be {value}, and has to be {limit}: {bound.why}."
            return Objection("destruction", clean_text(reason, 400))
    return None


def list_bounds(program: str, key: str) -> list[Bound]:
    key = key.partition(" for ")[0] if program == "sshd" else key
    return [one for one in load_bounds().bounds if one.program == program and re.fullmatch(one.key, key)]


def list_key_value_texts_asked_by_rule(rule_text: str) -> frozenset[str]:
    """Return what the text of a rule asks for: "KEY VALUE" for values past a bound, and the notice that it states.

    A number counts after the name of its setting, or in a line of its own that assigns it, as scripts of content do.
    """
    words = {word for bound in load_bounds().bounds for word in bound.words or (bound.key,)}
    assigned = re.findall(r"^\w+=['\"]?(-?[0-9]{1,9})['\"]?$", rule_text, re.MULTILINE)
    found = {
        f"{word} {value}"
        for word in words
        for named in re.finditer(rf"\b{word}\b(?=(.{{0,40}}))", rule_text, re.IGNORECASE)
        for value in [*_list_zero_or_one_stated_number(named[1]), *assigned]
    }
    return frozenset(found) | legal_notice_protection.build_notice_asks_for_file_and_sshd(rule_text)


def _list_zero_or_one_stated_number(text_after_key: str) -> list[str]:
    link = r"[\s=:'\"`]*(?:in \S+ )?(?:(?:has to|must) be|is|to|be)?[\s=:'\"`]*(-?[0-9]{1,9})\b"
    match = re.match(link, text_after_key)
    return [match[1]] if match else []


def _get_setting_name(key: str) -> str:
    """Return the name of a setting as a rule spells it: "login auth: pam_unix.so: rounds" is rounds."""
    return key.partition(" for ")[0].removesuffix(" in PAM").rpartition(" ")[2]


def is_group_reader_required(path: str, owner: str) -> bool:
    """Return True if programs with the group of this owner have to read the file."""
    return any(re.fullmatch(one.path, path) and one.owner == owner for one in load_bounds().readers)


def _find_read_access_objection(
    paths: Collection[str], before: Files, after: Files, asks: frozenset[str]
) -> Objection | None:
    for path in paths:
        was, now = before.state(path), after.state(path)
        for one in load_bounds().readers:
            if not (was and now and re.fullmatch(one.path, path) and was.owner == one.owner):
                continue
            if was.mode & one.needs & ~now.mode and f"mode {path} {now.mode:04o}" not in asks:
                return Objection("destruction", f"{path}: mode {now.mode:04o} is too strict: {one.why}.")
            if was.owner != now.owner and was.mode & one.needs:
                return Objection("destruction", f"{path}: its owner must remain {was.owner}: {one.why}.")
    return None


def _find_crypto_policy_objection(paths: Collection[str], after: Files) -> Objection | None:
    """Return the objection to a crypto policy that leaves no TLS or no SSH; a module counts before it is named, too."""
    ours = [path for path in paths if path.startswith("/etc/crypto-policies/")]
    config = host_text.read_text(after, CONFIG) or "DEFAULT"
    names = [path.removeprefix(MODULES[0]).removesuffix(".pmod") for path in ours if path.startswith(MODULES[0])]
    trials = [config] if ours else []
    trials += [f"{config.strip()}:{name}" for name in names]
    for trial in trials:
        state = FileState(host_text.encode_text(f"{trial}\n"), 0o644, "root:root")
        settings = CryptoPolicies().read_settings(Overlay(after, {CONFIG: state}))
        if lost := _describe_lost_crypto_kind(settings):
            return Objection("destruction", f"crypto-policies: {lost} would be left, so nobody could connect.")
    return None


def _describe_lost_crypto_kind(settings: Mapping[str, str]) -> str:
    taken = [(*_split_kind_and_scope(key), value.split()) for key, value in settings.items()]
    for one in load_bounds().kept:
        for scope in one.scopes:
            words = [
                word.removeprefix(_TAKEN)
                for kind, where, values in taken
                if kind == one.kind and where in ("", "*", scope.lower())
                for word in values
                if word.startswith(_TAKEN)
            ]
            if all(any(fnmatchcase(name, word) for word in words) for name in one.one_of):
                return f"no {one.kind} of {', '.join(one.one_of[:2])} …" + (f" for {scope}" if scope else "")
    return ""


def _split_kind_and_scope(key: str) -> tuple[str, str]:
    kind, _, scope = key.partition(" of ")[0].partition("@")
    return kind, scope.lower()

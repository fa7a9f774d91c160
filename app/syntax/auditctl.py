"""Reads one line of audit rules as auditctl 3.0 does: getopt, its own checks, and what it sends to the kernel."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.syntax import audit_fields
from app.syntax.audit_fields import AuditField, HostNames, RefusedRule, parse_field
from app.syntax.host_text import encode_text, fold_case

_SHORT = "hicslDvtC:e:f:r:b:a:A:d:S:F:m:R:w:W:k:p:q:"
_LONG_WITH_VALUE = ("backlog_wait_time", "signal")
_LONG = (*_LONG_WITH_VALUE, "loginuid-immutable", "reset-lost", "reset_backlog_wait_time_actual")
"""The long options. Any beginning that no other shares will do."""
_LISTS, _ACTIONS = ("exit", "task", "user", "exclude", "filesystem"), ("always", "never")
_SIGNALS = ("term", "hup", "usr1", "usr2", "cont")
_MOST_FIELDS, _LONGEST_KEY, _LONGEST_PATH, _LONGEST_NAME, _MOST_CALLS = 63, 256, 4095, 255, 2048
_ALL = "all"


@dataclass
class AuditCommand:
    """One line: why auditctl refuses it, or what it asks of the kernel."""

    fault: str = ""
    is_skipped: bool = False
    """auditctl passes over it without a word."""
    ignores_errors: bool = False
    """Lines behind it may fail."""
    clears: bool = False
    adds: str = ""
    """The list to which a rule is added, or from which it is deleted."""
    is_deletion: bool = False
    is_prepended: bool = False
    action: str = ""
    calls: set[str] = field(default_factory=set)
    fields: list[AuditField] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Settings that are sent while the line is read."""

    @property
    def identity(self) -> tuple[object, ...]:
        """By what the kernel finds that a rule exists."""
        calls = (_ALL,) if _ALL in self.calls else tuple(sorted(self.calls))
        return self.adds, self.action, calls, *((one.name, one.sign, one.value) for one in self.fields)


class _Done(Exception):
    """auditctl has done what the line asks for, and reads no more of it."""


def split_audit_line_at_spaces_ignoring_quotes(line: str) -> tuple[str, ...]:
    """Split at blanks as auditctl does; a backslash keeps one. It drops words beyond a third of the letters."""
    if "\\" not in line:
        words = line.split(" ")
    else:
        kept = re.sub(r"\\([\\ ])", lambda found: "\x07" if found[1] == " " else "\x04", line)
        words = [word.replace("\x07", " ").replace("\x04", "\\") for word in kept.split(" ")]
    return tuple([word for word in words if word][: len(line.encode("utf-8", "surrogateescape")) // 3 + 1])


def read_command(words: Sequence[str], names: HostNames, is_folder: Callable[[str], bool]) -> AuditCommand:
    """Read the words of a line; `is_folder` says whether a watch is on a folder."""
    reader = _Reader(names, is_folder, len(words) + 1)
    try:
        reader.read_words(list(words))
    except RefusedRule as refused:
        reader.command.fault = str(refused)
    except _Done:
        pass
    return reader.command


class _Reader:
    def __init__(self, names: HostNames, is_folder: Callable[[str], bool], count: int) -> None:
        self.command = AuditCommand()
        self._names, self._is_folder, self._count = names, is_folder, count
        self._machine = ""
        self._keys: list[str] = []
        self._can_have_key = False
        """A key needs a system call, a path, a program or a file system before it."""
        self._has_calls = self._sends_rule = self._ends = self._has_list = False

    def read_words(self, words: list[str]) -> None:
        operands, number, has_option = 0, 0, False
        while number < len(words) and not self._ends:
            word = words[number]
            number += 1
            if word == "--":
                operands, has_option = operands + len(words) - number, True
                break
            if not word.startswith("-") or word == "-":
                operands += 1
                continue
            has_option = True
            read = self._obey_long_option_counting_words if word.startswith("--") else self._obey_cluster_counting_words
            number += read(word.lstrip("-") if word.startswith("--") else word[1:], words[number:])
        if (len(words) - number if self._ends else operands) or not has_option:
            raise RefusedRule("parameter passed without an option given")
        if self._keys:
            self._append_field(parse_field(f"key={chr(1).join(self._keys)}", self.command.adds, self._names))
        if self._has_calls and not self._sends_rule:
            raise RefusedRule("no list specified")
        if self._sends_rule and self.command.adds != "task" and not self._has_calls:
            self.command.calls = {_ALL}

    def _obey_long_option_counting_words(self, text: str, following_words: list[str]) -> int:
        """Obey an option, and return how many of the words behind it are its value."""
        start, has_value, value = text.partition("=")
        found = [one for one in _LONG if one == start] or [one for one in _LONG if one.startswith(start)]
        needs_value = len(found) == 1 and found[0] in _LONG_WITH_VALUE
        takes_next_word = needs_value and not has_value
        if len(found) != 1 or (has_value and not needs_value) or (takes_next_word and not following_words):
            raise RefusedRule(f"Option --{start} is invalid")
        value = following_words[0] if takes_next_word else value
        if found[0] == "signal":
            if fold_case(value) not in _SIGNALS:
                raise RefusedRule(f"{value} is an unsupported signal")
            self._ends = True
        else:
            if needs_value and not value[:1].isdecimal():
                raise RefusedRule(f"Backlog_wait_time must be a numeric value was {value}")
            self.command.requests.append((f"--{found[0]}", value))
            if not needs_value:
                raise _Done
        return int(takes_next_word)

    def _obey_cluster_counting_words(self, letters: str, following_words: list[str]) -> int:
        """Obey the options of a word such as `-b64`, and return how many of the words behind it are its value."""
        for at, letter in enumerate(letters):
            place = _SHORT.find(letter) if letter != ":" else -1
            if place < 0:
                raise RefusedRule(f"Option -{letter} is invalid")
            if _SHORT[place + 1 : place + 2] == ":":
                rest = letters[at + 1 :]
                if not rest and not following_words:
                    raise RefusedRule(f"Option -{letter} is invalid")
                self._obey_option(letter, rest or following_words[0])
                return 0 if rest else 1
            self._obey_flag(letter, following_words)
            if self._ends:
                break
        return 0

    def _obey_flag(self, letter: str, following_words: list[str]) -> None:
        if letter == "h":
            raise RefusedRule("it only prints how auditctl is used")
        if letter == "t":
            raise _Done
        counts = {"D": (2, 4), "l": (2, 3, 4), "s": (2, 3)}.get(letter, (self._count,))
        wanted = {(3, "l"): "-i", (3, "s"): "-i", (4, "D"): "-k", (4, "l"): "-k"}.get((self._count, letter))
        if self._count not in counts or (wanted and following_words[:1] != [wanted]):
            raise RefusedRule(f"Wrong number of options for -{letter}")
        self.command.ignores_errors |= letter in "ic"
        self.command.clears |= letter == "D" and self._count == 2
        self._ends = True
        if wanted:
            raise _Done  # it has read what follows

    def _obey_option(self, letter: str, value: str) -> None:
        command = self.command
        match letter:
            case "e" | "f" | "r" | "b":
                if not (value in ("0", "1", "2") if letter in "ef" else value[:1].isdecimal()):
                    raise RefusedRule(f"-{letter} must be a number was {value}")
                command.requests.append((f"-{letter}", value))
            case "m" | "q" | "R":
                parts = value.split(",")
                is_pair = not self._has_calls and len(parts) == 2 and parts[1]
                if letter == "R" or (letter == "m" and self._count > 3) or (letter == "q" and not is_pair):
                    raise RefusedRule(f"-{letter} cannot be used in this way")
                raise _Done
            case "a" | "A" | "d":
                self._set_list(letter, value)
            case "w" | "W":
                self._set_watch(letter, value)
            case "S":
                self._add_calls(value)
            case "F" if not command.adds:
                raise RefusedRule("List must be given before field")
            case "F" if value.startswith("key="):
                self._add_key(value[4:])
            case "F":
                self._add_field(parse_field(value, command.adds, self._names))
            case "C":
                self._append_field(audit_fields.parse_field_to_field_comparison(value, command.adds))
            case "p":
                self._set_perm(audit_fields.sort_perm_letters_alphabetically(value))
            case "k" if not self._can_have_key or not command.adds:
                raise RefusedRule("key option needs a watch or syscall given prior to it")
            case _:
                self._add_key(value)

    def _set_list(self, letter: str, value: str) -> None:
        command = self.command
        first, comma, second = value.partition(",")
        if letter != "d" and "task" in value and self._has_calls:
            raise RefusedRule("Syscall auditing requested for task list")
        if self._has_list:
            raise RefusedRule("Multiple rule insert/delete operations are not allowed")
        if comma and first in _LISTS and second == "possible":
            command.is_skipped = True
            raise _Done
        action, where = (first, second) if first in _ACTIONS else (second, first)
        if not comma or action not in _ACTIONS or where not in _LISTS or command.adds:
            raise RefusedRule(f"bad keyword {value}")
        command.action, command.adds = action, where
        command.is_deletion, command.is_prepended = letter == "d", letter == "A"
        self._has_list = self._sends_rule = True

    def _set_watch(self, letter: str, path: str) -> None:
        command = self.command
        if command.adds:
            raise RefusedRule("watch option can't be given with a syscall")
        name = path.rpartition("/")[2]
        is_too_long = len(encode_text(path)) > _LONGEST_PATH or len(encode_text(name)) > _LONGEST_NAME
        if is_too_long or not path.startswith("/"):
            raise RefusedRule("File name too long" if path.startswith("/") else "The path must start with '/'")
        plain = path.rstrip("/") or "/"
        command.adds, command.action, command.is_deletion = "exit", "always", letter == "W"
        command.calls = {_ALL}
        command.fields = [AuditField("dir" if self._is_folder(plain) else "path", "=", plain)]
        command.fields.append(AuditField("perm", "=", "arwx"))
        self._has_calls = self._can_have_key = self._sends_rule = True

    def _add_calls(self, value: str) -> None:
        if self.command.adds in ("task", "user", "filesystem", "exclude"):
            raise RefusedRule(f"syscall auditing being added to {self.command.adds} list")
        self._machine = self._machine or self._names.machine
        known = self._names.calls.get(self._machine, ())
        for call in [one for one in value.split(",") if one] if "," in value else [value]:
            name = str(audit_fields.parse_leading_number(call)) if call[:1].isdecimal() else fold_case(call)
            if call != _ALL and name not in known and not (name.isdecimal() and int(name) < _MOST_CALLS):
                raise RefusedRule(f"Syscall name unknown: {call} (on {self._machine})")
            self.command.calls.add(name)
        self._has_calls = self._can_have_key = True

    def _add_field(self, field: AuditField) -> None:
        if field.name == "arch":
            if self._has_calls:
                raise RefusedRule("arch must be before -S")
            self._machine = field.value
        if field.name == "key" and not self._can_have_key:
            raise RefusedRule("Key field needs a watch, syscall or exe path given prior to it")
        self._append_field(field)
        self._can_have_key |= field.name in ("perm", "path", "dir", "exe", "fstype")

    def _append_field(self, field: AuditField) -> None:
        if len(self.command.fields) >= _MOST_FIELDS:
            raise RefusedRule("too many fields")
        if field.name == "key" and not self._can_have_key:
            raise RefusedRule("Key field needs a watch, syscall or exe path given prior to it")
        self.command.fields.append(field)

    def _set_perm(self, perm: str) -> None:
        fields = self.command.fields
        if not self.command.adds or not fields:
            raise RefusedRule("permission option needs a watch given prior to it")
        place = next((at for at, one in enumerate(fields) if one.name == "perm"), len(fields))
        fields[place : place + 1] = [AuditField("perm", "=", perm)]
        self._can_have_key = True

    def _add_key(self, value: str) -> None:
        if sum(len(encode_text(key)) + 1 for key in self._keys) + len(encode_text(value)) > _LONGEST_KEY:
            raise RefusedRule(f"the key is longer than {_LONGEST_KEY} characters")
        self._keys += [value] if value else []

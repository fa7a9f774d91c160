"""Settings that a rule's text asks for literally, where only the text can say that the value is right."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.targets.subjects.stated_setting_file_families import find_stated_family
from app.targets.writable_areas import find_judge_or_objection, list_family_patterns

_SYSCTL = re.compile(
    r"(?<![\w.])((?:dev|fs|kernel|net|user|vm)\.[a-z0-9_.]{1,80}[a-z0-9_])"
    r" ?= ?(-?[0-9]{1,10}(?: [0-9]{1,10})?)(?![\w.])"
)
_LOADERS = ("sysctl", "systemd-sysctl")
_OPTIONS = (
    ("crypto-policies policy", re.compile(r"\bupdate-crypto-policies --set ([A-Z0-9]+)\b")),
    ("auditd freq", re.compile(r"^\s*freq ?= ?([0-9]{1,4})\s*$", re.MULTILINE)),
    ("auditd space_left", re.compile(r"^\s*space_left *= ?([0-9]{1,2}%)\s*$", re.MULTILINE)),
    ("auditd admin_space_left", re.compile(r"^\s*admin_space_left *= ?([0-9]{1,2}%)\s*$", re.MULTILINE)),
    ("pwquality retry", re.compile(r"^\s*retry ?= ?([0-9])\s*$", re.MULTILINE)),
)
_PATH = re.compile(r"(/etc/[A-Za-z0-9_.@/-]*[A-Za-z0-9])")
COMMAND = re.compile(r"^\$ (?:sudo )?(.+)$")
_WRITTEN = re.compile(r"echo (?P<quote>['\"])(?P<line>[^'\"]+)(?P=quote) \| sudo tee (?:-a )?(?P<path>/etc/[\w./-]+)")
_BOOT_ARGUMENTS = re.compile(
    r"(?:(?:/usr)?/s?bin/)?grubby --update-kernel=ALL --args=(?P<quote>['\"]?)(?P<arguments>[\w.,=: -]+)(?P=quote)"
)
BOOT_ENTRIES = "/boot/loader/entries/*.conf"
"""The entries of a boot loader that makes no menus of /etc/default/grub."""
NEW_KERNELS = "/etc/kernel/cmdline"
"""From where the entry of a kernel that is installed later gets its arguments, if the host has this file."""
_SENTENCE = re.compile(r"[.:?]$|^(?:Note|Then|If|Or|To|Add|The|For|Where)\b")
_FOLLOWS = re.compile(r"\b(?:[Aa]dd|modify|modifying|adding|update)\b.*\bfollowing line\b")
_TAKES_AWAY = re.compile(r"\b(?:[Rr]emove|[Dd]elete|[Cc]omment out|[Uu]ncomment|conflict)\b")
_SECTION = re.compile(r"\[([A-Za-z][\w/.-]*)\]")
PLACEHOLDER = re.compile(
    r"<[A-Za-z_][A-Za-z0-9_. ]*>|(?<!^)\[[A-Za-z_][A-Za-z0-9_. ]*\]|%?\{[A-Za-z_][A-Za-z0-9_. ]*\}"
)
"""What a text leaves open: `<user>`, `[name server 1]`; a whole line in brackets is the header of a section."""
_DROP_INS = {"/etc/sudoers.d": "99-temper", "/etc/ssh/sshd_config.d": "00-temper.conf"}
"""sudo skips names with a dot; sshd takes the first value, and other programs the last one."""
_MOST_LINES = 12


@dataclass(frozen=True)
class StatedLine:
    path: str
    section: str
    """The section that the text names for it; empty if none."""
    line: str


def find_stated_settings_joined_with_values(text: str) -> frozenset[str]:
    """Return the settings as `Rule.asks` has them: "sysctl kernel.pid_max 65536"."""
    kernel = {f"{loader} {key} {value}" for key, value in _SYSCTL.findall(text) for loader in _LOADERS}
    options = {f"{name} {value}" for name, pattern in _OPTIONS for value in pattern.findall(text)}
    lines = {
        family.format_asks_entry(one)
        for stated in find_stated_lines(text)
        if (family := find_stated_family(stated.path))
        for one in family.list_stated_line_settings(stated.section, stated.line)
    }
    return frozenset(kernel | options | lines)


def find_stated_lines(text: str) -> Iterator[StatedLine]:
    """Yield each literal line that a text says to write, after the sentence that names its file."""
    path, section, announced, count = "", "", False, 0
    for line in map(str.strip, text.split("\n")):
        if not line:
            continue
        named, command = _PATH.findall(line), COMMAND.match(line)
        if command or _SENTENCE.search(line):
            path, section = (named[-1], "") if named else (path, section)
            if command and (written := _WRITTEN.fullmatch(command[1])):
                yield StatedLine(written["path"], "", written["line"])
            if command:
                yield from find_boot_argument_lines(command[1])
            section = next(iter(_SECTION.findall(line)), section)
            says_so = line.endswith(":") or (named and _FOLLOWS.search(line))
            announced = bool(says_so) and not command and not _TAKES_AWAY.search(line)
        elif named == [line.strip("\"'`")]:
            path, section, announced = named[0], "", False
        elif announced and path and count < _MOST_LINES and not line.startswith("#"):
            count += 1
            section = next(iter(re.findall(r"^\[([^\[\]]+)\]$", line)), section)
            yield StatedLine(_resolve_drop_in_path(path), section, line)


def find_boot_argument_lines(command: str) -> Iterator[StatedLine]:
    """Yield the lines in which a command of grubby sets arguments: for menus, in entries, and for kernels to come."""
    if added := _BOOT_ARGUMENTS.fullmatch(command.strip()):
        arguments = added["arguments"].strip()
        yield StatedLine("/etc/default/grub", "", f'GRUB_CMDLINE_LINUX="{arguments}"')
        yield StatedLine(BOOT_ENTRIES, "", f"options {arguments}")
        yield StatedLine(NEW_KERNELS, "", arguments)


def _resolve_drop_in_path(file_or_folder: str) -> str:
    """Return a file of our own in a folder of drop-ins, and any other path as it is."""
    drop_in = f"{file_or_folder}/{_DROP_INS.get(file_or_folder, '99-temper.conf')}"
    return (
        drop_in
        if list_family_patterns(file_or_folder) and callable(find_judge_or_objection(drop_in))
        else file_or_folder
    )

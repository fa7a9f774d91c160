"""What Ansible's modules for files do, on a scratch copy of a host's files."""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from app.candidates.scratch_files_to_actions import ScratchFiles, Undecidable
from app.syntax.host_text import decode_bytes

Arguments = Mapping[str, Any]
Outcome = dict[str, Any]
_NO: Outcome = {"changed": False}
_MOST_LEVELS = 4
_CLASSES = {"u": (6, "s", 0o4000), "g": (3, "s", 0o2000), "o": (0, "t", 0o1000)}
"""For each class of users the shift of its bits, and the letter and the bit of its special permission."""
_MARKER = "# {mark} ANSIBLE MANAGED BLOCK"


def apply_lineinfile_module(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`lineinfile`."""
    path = _get_path(arguments)
    may_be_absent = is_true_for_ansible(arguments.get("create")) or arguments.get("state") == "absent"
    lines = _split_lines_without_endings(_read_text(path, scratch, may_be_absent=may_be_absent))
    words = arguments.get("search_string")
    pattern = re.escape(str(words)) if words else arguments.get("regexp")
    matching = [place for place, line in enumerate(lines) if pattern and re.search(pattern, line)]
    line = arguments.get("line")
    if arguments.get("state") == "absent":
        gone = matching if pattern else [place for place, one in enumerate(lines) if one == line]
        left = [one for place, one in enumerate(lines) if place not in gone]
        changed = bool(gone) and scratch.write_text(path, _join_lines(left))
        return {"changed": _check_owner_and_set_mode(arguments, path, scratch) or changed, "found": len(gone)}
    if not isinstance(line, str):
        raise Undecidable("A line to write has no text.")
    with_groups = is_true_for_ansible(arguments.get("backrefs"))
    if matching:
        place = _choose_match(arguments, matching)
        found = re.search(str(pattern), lines[place])
        lines[place] = found.expand(line) if found and with_groups else line
    elif line in lines or with_groups:
        return {"changed": _check_owner_and_set_mode(arguments, path, scratch)}
    else:
        lines.insert(_get_insertion_index(arguments, lines), line)
    return _write_text(arguments, path, _join_lines(lines), scratch)


def apply_replace_module(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`replace`."""
    path = _get_path(arguments)
    text = _read_text(path, scratch, may_be_absent=False)
    after, before = arguments.get("after") or "", arguments.get("before") or ""
    part = re.search(f"{after}(?P<part>.*{'?' if after and before else ''}){before}", text, re.DOTALL)
    if part is None:
        return dict(_NO)
    start, end = part.span("part")
    made = re.sub(arguments["regexp"], arguments.get("replace", ""), text[start:end], flags=re.MULTILINE)
    return _write_text(arguments, path, text[:start] + made + text[end:], scratch)


def apply_blockinfile_module(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`blockinfile`, with its default marker or another."""
    _require_unset(arguments, "append_newline", "prepend_newline")
    path = _get_path(arguments)
    lines = _split_lines_without_endings(
        _read_text(path, scratch, may_be_absent=is_true_for_ansible(arguments.get("create")))
    )
    marker = str(arguments.get("marker", _MARKER))
    first = marker.replace("{mark}", str(arguments.get("marker_begin", "BEGIN")))
    last = marker.replace("{mark}", str(arguments.get("marker_end", "END")))
    content = str(arguments.get("block", arguments.get("content", ""))).rstrip("\n")
    block = [first, *content.split("\n"), last] if content and arguments.get("state") != "absent" else []
    start = end = _get_insertion_index(arguments, lines)
    if first in lines and last in lines:
        start, end = sorted((lines.index(first), lines.index(last)))
        end += 1
    changed = lines[start:end] != block and scratch.write_text(path, _join_lines(lines[:start] + block + lines[end:]))
    return {"changed": _check_owner_and_set_mode(arguments, path, scratch) or changed}


def edit_ini(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`ini_file`: one option of one section."""
    _require_unset(arguments, "values", "section_has", "section_has_values")
    if not is_true_for_ansible(arguments.get("exclusive", True)):
        raise Undecidable("An option that is not exclusive may have several values.")
    if arguments["section"] is None:
        raise Undecidable("An option without a section has its place above all sections.")
    path, section, option = _get_path(arguments), f"[{arguments['section']}]", str(arguments["option"])
    lines = _split_lines_without_endings(
        _read_text(path, scratch, may_be_absent=is_true_for_ansible(arguments.get("create", True)))
    )
    start = lines.index(section) + 1 if section in lines else len(lines)
    end = next((place for place in range(start, len(lines)) if lines[place].startswith("[")), len(lines))
    is_absent = arguments.get("state") == "absent"
    comment = (
        "" if is_absent or not is_true_for_ansible(arguments.get("modify_inactive_option", True)) else r"[#;]?[ \t]*"
    )
    pattern = rf"[ \t]*{comment}{re.escape(option)}[ \t]*(?:=|$)[ \t]*(.*)"
    known = {place: found[1] for place in range(start, end) if (found := re.match(pattern, lines[place]))}
    if is_absent:
        left = [line for place, line in enumerate(lines) if place not in known]
        changed = bool(known) and scratch.write_text(path, _join_lines(left))
        return {"changed": _check_owner_and_set_mode(arguments, path, scratch) or changed}
    gap = "" if is_true_for_ansible(arguments.get("no_extra_spaces")) else " "
    wanted = f"{option}{gap}={gap}{arguments['value']}"
    if known:  # the line with this value stays, or else the first one gets it; the others go
        kept = next((place for place, value in known.items() if value == str(arguments["value"])), min(known))
        lines[kept] = wanted
        lines = [line for place, line in enumerate(lines) if place == kept or place not in known]
    else:
        lines[end:end] = [wanted] if section in lines else [section, wanted]
    return _write_text(arguments, path, _join_lines(lines), scratch)


def set_sysctl(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`sysctl`: the line in the file; the kernel loads it at the reload that follows."""
    path, key = arguments.get("sysctl_file", "/etc/sysctl.conf"), str(arguments["name"])
    if arguments.get("state") == "absent":
        raise Undecidable("A kernel setting would be taken away.")
    lines = _split_lines_without_endings(scratch.read_text(path) or "")
    wanted = f"{key}={str(arguments['value']).strip()}"
    known = [place for place, line in enumerate(lines) if re.match(rf"\s*{re.escape(key)}\s*=", line)]
    kept = [line for place, line in enumerate(lines) if place not in known[1:]]
    if known:
        kept[known[0]] = wanted
    else:
        kept.append(wanted)
    return {"changed": scratch.write_text(path, _join_lines(kept))}


def apply_copy_module(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`copy` of a text that stands in the task."""
    if "content" not in arguments:
        raise Undecidable("A file would be copied that the content does not hold.")
    return _write_text(arguments, _get_path(arguments), str(arguments["content"]), scratch)


def set_file_mode(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`file`: the mode of a file that is there. Owners, and modes of folders, are set by `set_permissions`."""
    path, state = _get_path(arguments), arguments.get("state")
    if scratch.now.is_folder(path):
        raise Undecidable(f"{path} is a folder; no typed action changes one.")
    if state in ("absent", "directory", "link", "hard") or "src" in arguments:
        if state == "absent" and scratch.now.state(path) is None:
            return dict(_NO)
        raise Undecidable(f"{path} would become {state}; no typed action does that.")
    if scratch.now.state(path) is None:
        if state != "touch":
            return dict(_NO)
        scratch.write_text(path, "")
    return {"changed": _check_owner_and_set_mode(arguments, path, scratch)}


def stat_path(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    path = _get_path(arguments)
    state, folder = scratch.now.state(path), scratch.now.is_folder(path)
    if state is None and not folder:
        return {**_NO, "stat": {"exists": False}}
    found = {"exists": True, "isdir": folder, "isreg": not folder, "islnk": False, "path": path}
    if state is not None:
        user, _, group = state.owner.partition(":")
        found |= {"mode": f"{state.mode:04o}", "pw_name": user, "gr_name": group, "size": len(state.content)}
    return {**_NO, "stat": found}


def find_files(arguments: Arguments, scratch: ScratchFiles) -> Outcome:
    """`find` of files in folders, and some levels below them if the task says so."""
    wanted, contains = arguments.get("patterns", "*"), arguments.get("contains")
    patterns = wanted.split(",") if isinstance(wanted, str) else wanted
    by_regex = is_true_for_ansible(arguments.get("use_regex"))
    places = arguments.get("paths", arguments.get("path"))
    folders = places if isinstance(places, list) else [places]
    found = []
    for folder in folders:
        for path in _list_files(str(folder), scratch, below=is_true_for_ansible(arguments.get("recurse"))):
            name, content = path.rpartition("/")[2], scratch.now.read(path)
            named = any(re.match(one, name) if by_regex else fnmatchcase(name, one) for one in patterns)
            if named and content is not None and (not contains or _has_line(contains, decode_bytes(content))):
                found.append({"path": path})
    return {**_NO, "files": found, "matched": len(found)}


def _list_files(folder: str, scratch: ScratchFiles, *, below: bool) -> list[str]:
    """Return a folder's files, with those of some levels of folders below it. Raises Undecidable for a deeper one."""
    levels = [
        scratch.now.glob(folder.rstrip("/") + "/*" * (level + 1)) for level in range(_MOST_LEVELS if below else 1)
    ]
    if below and levels[-1]:
        raise Undecidable(f"{folder} has more levels of folders than are searched.")
    return [path for level in levels for path in level]


MODULES: Mapping[str, Callable[[Arguments, ScratchFiles], Outcome]] = {
    "lineinfile": apply_lineinfile_module,
    "replace": apply_replace_module,
    "blockinfile": apply_blockinfile_module,
    "ini_file": edit_ini,
    "sysctl": set_sysctl,
    "copy": apply_copy_module,
    "file": set_file_mode,
    "stat": stat_path,
    "find": find_files,
}


def _get_path(arguments: Arguments) -> str:
    path = next((arguments[name] for name in ("path", "dest", "destfile", "name") if name in arguments), None)
    if not isinstance(path, str) or not path.startswith("/"):
        raise Undecidable(f"A task names no file, but {path!r}.")
    return path


def _require_unset(arguments: Arguments, *names: str) -> None:
    """Raise Undecidable if the task sets an argument that is not followed here."""
    for name in names:
        if str(arguments.get(name)).lower() not in ("none", "false", "no"):
            raise Undecidable(f"What {name} does to a file cannot be told beforehand.")


def is_true_for_ansible(value: object) -> bool:
    """Return whether Ansible takes a module's argument for true."""
    return str(value).lower() in ("true", "yes", "on", "1", "1.0", "y", "t")


def _read_text(path: str, scratch: ScratchFiles, *, may_be_absent: bool) -> str:
    """Return the file's text; "" if it is absent and may be. Raises Undecidable if it must not."""
    text = scratch.read_text(path)
    if text is None and not may_be_absent:
        raise Undecidable(f"{path} is not there, and the tasks would stop at it.")
    return text or ""


def _write_text(arguments: Arguments, path: str, text: str, scratch: ScratchFiles) -> Outcome:
    """Write the file and set its attributes; return whether that changes anything."""
    changed = scratch.write_text(path, text)
    return {"changed": _check_owner_and_set_mode(arguments, path, scratch) or changed}


def _split_lines_without_endings(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _join_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _has_line(pattern: str, text: str) -> bool:
    return any(re.match(pattern, line) for line in text.split("\n"))


def _get_insertion_index(arguments: Arguments, lines: list[str]) -> int:
    """Return where a new line goes: before or after the last line that matches, else at the end."""
    before, after = arguments.get("insertbefore"), arguments.get("insertafter")
    if before == "BOF":
        return 0
    for pattern, step in ((before, 0), (after, 1)):
        if pattern and pattern not in ("EOF", "BOF"):
            found = [place for place, line in enumerate(lines) if re.search(pattern, line)]
            if found:
                return _choose_match(arguments, found) + step
    return len(lines)


def _choose_match(arguments: Arguments, matching: list[int]) -> int:
    return matching[0 if is_true_for_ansible(arguments.get("firstmatch")) else -1]


def spell_zero_as_root(account: object) -> str:
    """Return the name of a task's owner or group; a task writes root as 0, too."""
    return "" if account is None else "root" if str(account) == "0" else str(account)


def _check_owner_and_set_mode(arguments: Arguments, path: str, scratch: ScratchFiles) -> bool:
    """Set the mode; return True if that changes it. Raises Undecidable for another owner or group."""
    mode = arguments.get("mode")
    there = scratch.now.state(path)
    if there is None:
        return False
    user, _, group = there.owner.partition(":")
    for name, has in (("owner", user), ("group", group)):
        if spell_zero_as_root(arguments.get(name)) not in ("", has):
            raise Undecidable(f"{path} would get another {name}; that is an action of its own.")
    if mode is None:
        return False
    return scratch.change_mode(path, _parse_mode(mode, there.mode))


def _parse_mode(mode: object, before: int) -> int:
    """Return the permission bits; symbolic ones count from those before. YAML reads 0644 as a number of base eight."""
    if isinstance(mode, int):
        return mode
    text = str(mode)
    if re.fullmatch(r"[0-7]{3,4}", text):
        return int(text, 8)
    bits = before
    for part in text.split(","):
        found = re.fullmatch(r"([ugoa]*)([-+=])([rwxst]*)", part)
        if found is None:
            raise Undecidable(f"The mode {text!r} is not understood.")
        bits = _apply_symbolic(bits, found[1] or "a", found[2], found[3])
    return bits


def _apply_symbolic(bits: int, user_classes: str, sign: str, permission_letters: str) -> int:
    """Return the bits after one part of a symbolic mode. Like Ansible, `=` clears the special bit of its class, too."""
    basic = sum({"r": 4, "w": 2, "x": 1}.get(one, 0) for one in {*permission_letters})
    for one in "ugo" if "a" in user_classes else user_classes:
        shift, letter, special = _CLASSES[one]
        mask = basic << shift | (special if letter in permission_letters else 0)
        if sign == "=":
            bits &= ~(7 << shift | special)
        bits = bits & ~mask if sign == "-" else bits | mask
    return bits

"""Set an option in files of commands or rows: limits, modprobe, audit rules."""

from collections.abc import Iterable

from app.errors import BadInput
from app.syntax import audit_rule_files, host_text, limits_conf, modprobe
from app.syntax.edit_lines import get_index_after_all_lines, replace_or_insert_line
from app.syntax.setting import find_last


def find_limit(text: str, key: str) -> str | None:
    domain, kind, item = _parse_limit_key(key)
    rows = [x for x in limits_conf.parse_limits(text, "") if x.domain == domain and x.item == item]
    return next((x.value for x in reversed(rows) if kind == "-" or x.kind in {kind, "-"}), None)


def put_limit(text: str, key: str, value: str) -> str:
    domain, kind, item = _parse_limit_key(key)
    lines = text.split("\n")
    rows = [x for x in limits_conf.parse_limits(text, "") if x.domain == domain and x.item == item]
    same = [x.line - 1 for x in rows if x.kind == kind]
    overriding = [x.line - 1 for x in rows if x.kind != kind and "-" in {x.kind, kind}]
    row = f"{domain} {kind} {item} {value}"
    if same and (not overriding or overriding[-1] < same[-1]):
        hash_at = lines[same[-1]].find("#")
        comment = "" if hash_at < 0 else " " + lines[same[-1]][hash_at:].rstrip("\r")
        return replace_or_insert_line(text, row + comment, same[-1], same[:-1], 0)
    # a `-` row sets hard and soft, so the requested row must come after it, and a `-` row after both
    ends = [index for index, line in enumerate(lines) if line.rstrip() == "# End of file"]
    end = ends[-1] if ends else get_index_after_all_lines(text)
    return replace_or_insert_line(text, row, None, same, overriding[-1] + 1 if overriding else end)


def _parse_limit_key(key: str) -> tuple[str, str, str]:
    words = key.split()
    if len(words) == 2:
        words.insert(0, "*")
    if len(words) != 3 or words[1] not in {"hard", "soft", "-"}:
        raise BadInput(f"limits.conf needs a key such as `hard maxlogins` or `@wheel hard nproc`, not {key!a}")
    return words[0], words[1], words[2]


def find_module_command_value(text: str, command_and_module: str) -> str | None:
    command, module = _parse_command_and_module(command_and_module)
    found = [x for x in modprobe.parse_module_lines(text, "") if x.command == command]
    if command == "blacklist":
        return found[-1].module if found else None
    return next((x.rest for x in found if x.module == module), None)


def put_kernel_module_option(text: str, key: str, value: str) -> str:
    command, module = _parse_command_and_module(key)
    stated = [x for x in modprobe.parse_module_lines(text, "") if x.command == command]
    if command == "blacklist":
        drop = [x.line - 1 for x in stated if x.module == modprobe.normalize_module_name(value)]
        return replace_or_insert_line(text, f"blacklist {value}", None, drop, get_index_after_all_lines(text))
    lines = text.split("\n")
    if command == "options":
        _require_every_option_restated(module, [x.rest for x in stated if x.module == module], value)
    found = [x.line - 1 for x in stated if x.module == module]
    drop = [index for start in found for index in range(start, _find_index_after_continued_line(lines, start))]
    keep = found[0] if found else None
    written = f"{command} {module} {value}"
    return replace_or_insert_line(text, written, keep, set(drop) - {keep}, get_index_after_all_lines(text))


def _require_every_option_restated(module: str, stated: Iterable[str], value: str) -> None:
    """Raise BadInput if `value`, which replaces all options of the module, leaves one out: modprobe adds them up."""
    wanted = {word.partition("=")[0] for word in value.split()}
    lost = sorted({word.partition("=")[0] for rest in stated for word in rest.split()} - wanted)
    if lost:
        raise BadInput(f"{module} also has the option {', '.join(lost)[:200]!a}, which would be lost: state it as well")


def _parse_command_and_module(command_and_module: str) -> tuple[str, str]:
    words = command_and_module.split()
    if words == ["blacklist"]:
        return "blacklist", ""
    if len(words) != 2 or words[0] not in {"install", "options"}:
        raise BadInput(
            "modprobe.d needs the key `install <module>`, `options <module>` or `blacklist`, "
            f"not {command_and_module!a}"
        )
    return words[0], modprobe.normalize_module_name(words[1])


def _find_index_after_continued_line(lines: list[str], index: int) -> int:
    while index < len(lines) and lines[index].endswith("\\"):
        index += 1
    return index + 1


def find_audit_control(text: str, key: str) -> str | None:
    found = find_last(audit_rule_files.parse_controls(text, ""), _parse_audit_control(key))
    return None if found is None else found.value


def put_audit_control(text: str, key: str, value: str) -> str:
    control = _parse_audit_control(key)
    written = f"{control} {value}"
    stated = audit_rule_files.parse_audit_lines(text, "")
    found = [x.line - 1 for x in stated if x.control and x.control.key == control]
    if control == "-e":
        # with -e 2 the rules are locked: later lines are rejected
        return replace_or_insert_line(text, written, None, found, get_index_after_all_lines(text))
    if found:
        return replace_or_insert_line(text, written, found[-1], found[:-1], 0)
    heads = [
        x.line
        for x in stated
        if x.words[0] == "-D" or x.words[0].startswith("--") or (x.control and x.control.key != "-e")
    ]
    first = stated[0].line - 1 if stated else get_index_after_all_lines(text)
    return replace_or_insert_line(text, written, None, (), heads[-1] if heads else first)


def _parse_audit_control(key: str) -> str:
    control = key if key.startswith("-") else f"-{key}"
    if control not in audit_rule_files.CONTROLS:
        raise BadInput(
            f"audit rules take {', '.join(audit_rule_files.CONTROLS)} as options, not {host_text.fold_case(key)!a}"
        )
    return control

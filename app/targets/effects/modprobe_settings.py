"""modprobe: blacklisted kernel modules and the commands that run instead of loading one."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from app.syntax import host_text, modprobe
from app.syntax.host_files_protocol import Files
from app.syntax.modprobe import ModuleLine
from app.targets.effects import drop_ins
from app.targets.effects.daemon_base import UNSET, Ask, Daemon, Query
from app.targets.effects.strictness_comparison import Strength, create_ranked_comparison

NOTHING = "nothing"
_NOTHING = re.compile(r"(?:/usr)?/bin/(?:false|true)")
END = "# End of configuration files."
_LISTED = ("options", "alias", "softdep", "remove")


class Modprobe(Daemon):
    name = "modprobe"
    areas = ("/etc/modprobe.d/",)

    def read_settings(self, files: Files) -> Mapping[str, str]:
        texts = drop_ins.read_drop_in_texts("modprobe.d", files)
        return evaluate_module_lines([line for text in texts for line in modprobe.parse_module_lines(text, "")])

    def ask_settings(self, files: Files, ask: Ask) -> Mapping[str, str] | None:
        outcome = ask(files, Query("/sbin/modprobe", ("-c",), (modprobe.FOLDER,)))
        if outcome is None or END not in outcome.output:
            return None
        return evaluate_module_lines(modprobe.parse_modprobe_dump(outcome.output.partition(END)[0]))

    def compare_values(self, key: str, was: str, now: str) -> Strength:
        kind = key.partition(" ")[0]
        if kind == "blacklist":
            return create_ranked_comparison(UNSET, "yes")(was, now)
        if kind == "install" and now == NOTHING:
            return Strength.STRONGER
        return Strength.WEAKER if was == NOTHING else Strength.INCOMPARABLE


def evaluate_module_lines(lines: list[ModuleLine]) -> dict[str, str]:
    found: dict[str, str] = {}
    installs = [line for line in lines if line.command == "install" and line.rest]
    for line in installs:
        # the first match decides, patterns included
        first = next(one for one in installs if one.module == line.module or fnmatchcase(line.module, one.module))
        found[f"install {line.module}"] = NOTHING if _NOTHING.fullmatch(first.rest) else first.rest
    for line in lines:
        key = f"{line.command} {line.module}"
        if line.command == "blacklist":
            found[key] = "yes"
        elif line.command in _LISTED and (rest := line.rest and _format_rest(line)):
            found[key] = f"{found[key]}; {rest}" if key in found else rest
    return found


def _format_rest(line: ModuleLine) -> str:
    """Format the rest of a line as modprobe prints it."""
    if line.command == "alias":
        return modprobe.normalize_module_name(line.rest.replace("\t", " ").split(" ")[0])
    return _format_softdep(line.rest) if line.command == "softdep" else line.rest.replace("\t", " ")


def _format_softdep(rest: str) -> str:
    """Merge repeated pre: and post: lists."""
    held: dict[str, list[str]] = {"": [], "pre:": [], "post:": []}
    now = ""
    for word in host_text.split_words(rest):
        now = word if word in held else now
        held[now] += [] if word == now else [word]
    return " ".join(f"{name} {' '.join(held[name])}" for name in ("pre:", "post:") if held[name])

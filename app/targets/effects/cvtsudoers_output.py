"""Parses the JSON output of cvtsudoers into our Sudoers model."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.syntax.sudoers import Sudoers
from app.syntax.sudoers_line import Alias, Grant, SudoDefault, parse_defaults

_TAGS = {
    "authenticate": ("PASSWD", "NOPASSWD"),
    "noexec": ("NOEXEC", "EXEC"),
    "setenv": ("SETENV", "NOSETENV"),
    "log_input": ("LOG_INPUT", "NOLOG_INPUT"),
    "log_output": ("LOG_OUTPUT", "NOLOG_OUTPUT"),
    "send_mail": ("MAIL", "NOMAIL"),
    "follow": ("FOLLOW", "NOFOLLOW"),
    "sudoedit_follow": ("FOLLOW", "NOFOLLOW"),
    "intercept": ("INTERCEPT", "NOINTERCEPT"),
}
_ALIASES = {"User": "User_Aliases", "Runas": "Runas_Aliases", "Host": "Host_Aliases", "Cmnd": "Command_Aliases"}
_MARKS = {"userid": "#", "usergroup": "%", "usergid": "%#", "nonunixgroup": "%:", "nonunixgid": "%:#", "netgroup": "+"}
JsonObject = Mapping[str, Any]


def parse_cvtsudoers(rules_json: str, defaults_text: str) -> Sudoers | None:
    """Parse rules from JSON and Defaults from sudoers text; return None if the output is invalid.

    The JSON does not distinguish `Defaults>root` from `Defaults:root`.
    """
    try:
        told = json.loads(rules_json[rules_json.index("{") :]) if rules_json.strip() else {}
        return Sudoers(tuple(_iter_defaults(defaults_text)), tuple(_iter_aliases(told)), tuple(_iter_grants(told)), ())
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _iter_defaults(defaults_text: str) -> Iterator[SudoDefault]:
    for line in defaults_text.replace("\\\n", " ").split("\n"):
        if line.startswith("Defaults"):
            # cvtsudoers writes %!group for !%group.
            yield from parse_defaults(re.sub(r"(%:?|\+)!", r"!\1", line.strip()), "", 0) or ()


def _iter_aliases(rules_json: JsonObject) -> Iterator[Alias]:
    for kind, name in _ALIASES.items():
        for alias, members in rules_json.get(name, {}).items():
            yield Alias(kind, alias, tuple(map(_format_member, members)))


def _iter_grants(rules_json: JsonObject) -> Iterator[Grant]:
    for spec in rules_json.get("User_Specs", ()):
        users, hosts = tuple(map(_format_member, spec["User_List"])), tuple(map(_format_member, spec["Host_List"]))
        for given in spec["Cmnd_Specs"]:
            options = {name: value for one in given.get("Options", ()) for name, value in one.items()}
            tags = frozenset(_TAGS[name][not held] for name, held in options.items() if name in _TAGS)
            others = tuple(sorted(f"{name}={value}" for name, value in options.items() if name not in _TAGS))
            for command in given["Commands"]:
                named = _format_member(command)
                yield Grant(users, hosts, _format_runas_without_parentheses(given), tags, named, "", 0, others)


def _format_runas_without_parentheses(command_spec: JsonObject) -> str:
    users = ", ".join(map(_format_member, command_spec.get("runasusers", ())))
    groups = ", ".join(_format_member(entry).replace("%", "", 1) for entry in command_spec.get("runasgroups", ()))
    if not users and not groups:
        return "" if "runasusers" in command_spec else "root"
    return f"{users} : {groups}".strip() if groups else users


def _format_member(entry: JsonObject) -> str:
    bang = "!" if entry.get("negated") else ""
    digests = "".join(f"{kind}:{value} " for kind, value in entry.items() if kind.startswith("sha"))
    named = ((kind, value) for kind, value in entry.items() if kind != "negated" and not kind.startswith("sha"))
    kind, value = next(named)
    text = str(value)
    mark = "" if kind == "netgroup" and text.startswith("+") else _MARKS.get(kind, "")
    return f"{bang}{digests}{mark}{text}"

"""Units of systemd: which may be stopped or disabled, and which must not be started."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from app.resources import kind

_DEFAULT_TARGET = "multi-user.target"
"""The only one that a host may be made to boot into."""
_DEFAULT_LINK = "/etc/systemd/system/default.target"
_NAME = "^([A-Za-z0-9][A-Za-z0-9@_.-]*[.](service|socket|timer|mount|path)|multi-user[.]target|ctrl-alt-del[.]target)$"
UnitName = Annotated[str, msgspec.Meta(max_length=100, pattern=_NAME)]
UnitVerb = Literal["enable", "enable-now", "disable", "mask", "unmask", "start", "stop", "set-default"]
_UNIT = re.compile(
    r"\b([A-Za-z0-9][A-Za-z0-9@_-]{0,60}\.(?:service|socket|timer|mount|path)|(?:multi-user|ctrl-alt-del)\.target)\b"
)
_SERVICE = re.compile(r"[`'\"]?([A-Za-z0-9][A-Za-z0-9@_-]{1,60})[`'\"]? services?\b")
_OF_ID = re.compile(r"(service|socket|timer)_(.+)_(?:installed|removed|enabled|disabled|masked)")
_ORDER: tuple[UnitVerb, ...] = ("unmask", "mask", "enable", "enable-now", "disable", "stop", "start", "set-default")
"""The order in which roles read them."""
_ENABLED = '[ "$(systemctl is-enabled %s 2>/dev/null)" = %s ]'
_PROTECTED = msgspec.toml.decode(Path(__file__).with_name("protected_units.toml").read_bytes(), type=dict[str, str])
_UNWELCOME = re.compile(
    r"debug-shell|rescue|emergency|ctrl-alt-del|telnet.*|rsh.*|rlogin.*|rexec.*|a?tftpd?.*|vsftpd|proftpd|nis|ypserv"
    r"|ypbind|x?inetd|rpcbind.*|kdump|autofs|cups.*|avahi-.*|console-shell"
)
_OFF, _ON, _DEFAULT = ("disabled", "masked"), ("enabled", "unmasked"), "default"


class SetUnit(kind.ResourceAction, frozen=True, tag="set_unit"):
    """Restart and reload are actions of `reload`."""

    unit: UnitName
    to: UnitVerb


def find_candidates(rule: kind.RuleTexts) -> Iterator[SetUnit]:
    found = [*_UNIT.findall(rule.text), *(f"{name}.service" for name in _SERVICE.findall(rule.text))]
    if match := _OF_ID.fullmatch(rule.id):
        found += [f"{match[2]}.{match[1]}", f"{match[2].replace('_', '-')}.{match[1]}"]
    return (SetUnit(unit=name, to=verb) for name in found for verb in _ORDER)


def _is_possible_and_not_done_yet(action: SetUnit, host_state: kind.HostState) -> bool:
    enabled, active = host_state.text.split(" ", 1)
    return {
        "mask": enabled != "masked",
        "unmask": enabled == "masked",
        "enable": enabled == "disabled",
        "enable-now": enabled == "disabled" or (host_state.has_systemd and enabled == "enabled" and active != "active"),
        "disable": enabled == "enabled",
        "start": host_state.has_systemd and active != "active",
        "stop": host_state.has_systemd and active == "active",
        "set-default": action.unit == _DEFAULT_TARGET and enabled != _DEFAULT,
    }[action.to]


def judge_units(foreseen: kind.ForeseenStates) -> kind.Objection | None:
    for unit, one in foreseen.iterate_names_and_states("unit"):
        if one.after == kind.NOT_FORESEEN:
            continue
        name, _, suffix = unit.rpartition(".")
        (_, ran), (set_to, runs) = (state.split(" ", 1) for state in (one.before, one.after))
        if set_to == _DEFAULT and unit != _DEFAULT_TARGET:
            return kind.Objection("lockout", f"The host would boot into {unit}, where nobody can log in.")
        if (runs == "active" != ran or set_to in _ON) and _UNWELCOME.fullmatch(name):
            return kind.Objection("weakening", f"{unit} would run, and hardening disables it.")
        if (runs == "inactive" != ran) or set_to in _OFF:
            if suffix == "mount":
                return kind.Objection("destruction", f"{unit}: Temper does not unmount file systems.")
            for clause, pattern in _PROTECTED.items():
                if re.fullmatch(pattern, name):
                    return kind.Objection(clause, f"{unit} would stop running, and it is protected.")
    return None


def _match_state(wanted: str, found: str) -> bool:
    """An unmasked unit may be enabled or disabled."""
    if wanted.startswith("unmasked "):
        return not found.startswith("masked") and found.partition(" ")[2] == wanted.partition(" ")[2]
    return kind.match_state(wanted, found)


def _build_commands(action: SetUnit, _: Sequence[str]) -> tuple[kind.ShellCommands, ...]:
    name = shlex.quote(action.unit)
    if action.to == "set-default":
        look = f'[ "$(systemctl get-default)" = {name} ]'
        return (kind.ShellCommands(look, f"systemctl set-default {name}", "systemctl daemon-reload", (_DEFAULT_LINK,)),)
    verbs = ("enable", "start") if action.to == "enable-now" else (action.to,)
    return tuple(_build_verb_commands(verb, name) for verb in verbs)


def _build_verb_commands(verb: str, name: str) -> kind.ShellCommands:
    active = f"systemctl is-active -q {name}"
    look, undo = {
        "enable": (_ENABLED % (name, "enabled"), "disable"),
        "disable": (_ENABLED % (name, "disabled"), "enable"),
        "mask": (_ENABLED % (name, "masked"), "unmask"),
        "unmask": (f'[ "$(systemctl is-enabled {name} 2>/dev/null)" != masked ]', "mask"),
        "start": (active, "stop"),
        "stop": (f"! {active}", "start"),
    }[verb]
    return kind.ShellCommands(look, f"systemctl {verb} {name}", f"systemctl {undo} {name}")


KIND = kind.ResourceKind(
    name="unit",
    actions=(SetUnit,),
    find_candidates=find_candidates,
    is_possible=_is_possible_and_not_done_yet,
    list_words=lambda action: (action.to,),
    judge_states=judge_units,
    match_state=_match_state,
    build_commands=_build_commands,
)

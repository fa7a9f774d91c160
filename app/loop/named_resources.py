"""Finds resources that a rule's texts name: packages, units, mounts, ageing. The host says whether they exist."""

import re
from collections.abc import Iterable, Iterator, Sequence

from app.events.vocabulary import AgeSetting, MountOption
from app.targets.resources.offer import WantedResources

_TO_BE = re.compile(r"\b(?:apt-get|apt|dnf|yum|zypper)\b[^\n]{0,80}?\b(?:install|remove|erase|purge)\b([^\n]{0,200})")
_PACKAGE = re.compile(r"[`'\"]?([A-Za-z0-9][A-Za-z0-9+._-]{1,60})[`'\"]? packages?\b")
_OF_ID = re.compile(r"(package|service|socket|timer)_(.+)_(?:installed|removed|enabled|disabled|masked)")
_UNIT = re.compile(r"\b([A-Za-z0-9][A-Za-z0-9@_-]{0,60}\.(?:service|socket|timer|mount|path))\b")
_SERVICE = re.compile(r"[`'\"]?([A-Za-z0-9][A-Za-z0-9@_-]{1,60})[`'\"]? services?\b")
_MOUNT_OF_ID = re.compile(r"mount_option_(.+)_(nodev|nosuid|noexec)")
_MOUNT = re.compile(r"(?<![\w.])(/(?:boot|dev/shm|home|srv|tmp|var|opt|media)(?:/[a-z]{1,20}){0,2})(?![\w/])")
_OPTIONS: tuple[MountOption, ...] = ("nodev", "nosuid", "noexec")
_AGES: tuple[tuple[AgeSetting, re.Pattern[str]], ...] = (
    ("max", re.compile(r"chage\b[^\n]{0,80}?(?:-M|--maxdays)[ =]+(\d{1,5})")),
    ("min", re.compile(r"chage\b[^\n]{0,80}?(?:-m|--mindays)[ =]+(\d{1,5})")),
    ("warn", re.compile(r"chage\b[^\n]{0,80}?(?:-W|--warndays)[ =]+(\d{1,5})")),
    ("inactive", re.compile(r"chage\b[^\n]{0,80}?(?:-I|--inactive)[ =]+(\d{1,5})")),
)
_PLAIN_WORDS = frozenset({"the", "this", "that", "following", "system", "software", "any", "all", "no", "and", "of"})


def find_wanted_resources(rule: str, texts: Sequence[str], accounts: Iterable[str]) -> WantedResources:
    """Return the resources to look for. `rule` is the id, which in some content says more than the texts."""
    text = "\n".join(texts)
    options = [option for option in _OPTIONS if re.search(rf"\b{option}\b", text)]
    ages = [(setting, int(days)) for setting, known in _AGES for days in known.findall(text)]
    names = [*_find_packages(rule, text), *_find_units(rule, text)]
    names += [("mount", place) for place in _find_mounts(rule, text)] if options else []
    names += [("account", name) for name in accounts] if ages else []
    return WantedResources.from_names(names, _limit_options(rule, options), dict.fromkeys(ages))


def _find_packages(rule: str, text: str) -> Iterator[tuple[str, str]]:
    found = [word for line in _TO_BE.findall(text) for word in line.replace('"', " ").replace("'", " ").split()]
    found += _PACKAGE.findall(text)
    if (match := _OF_ID.fullmatch(rule)) and match[1] == "package":
        found.append(match[2].replace("_", "-"))
    return (("package", name.rstrip(".,;")) for name in found if name.lower() not in _PLAIN_WORDS)


def _find_units(rule: str, text: str) -> Iterator[tuple[str, str]]:
    found = [*_UNIT.findall(text), *(f"{name}.service" for name in _SERVICE.findall(text))]
    if (match := _OF_ID.fullmatch(rule)) and match[1] != "package":
        found += [f"{match[2]}.{match[1]}", f"{match[2].replace('_', '-')}.{match[1]}"]
    return (("unit", name) for name in found)


def _find_mounts(rule: str, text: str) -> list[str]:
    if match := _MOUNT_OF_ID.fullmatch(rule):
        return [f"/{match[1].replace('_', '/')}"]
    return _MOUNT.findall(text)


def _limit_options(rule: str, options: Sequence[MountOption]) -> Sequence[MountOption]:
    """Limit the options to the rule's own, if it is about one."""
    match = _MOUNT_OF_ID.fullmatch(rule)
    return [option for option in options if not match or option == match[2]]

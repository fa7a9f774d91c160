"""A benchmark inside a data stream: its profiles, and the rules of one with their words filled in."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput
from app.scanners.openscap.xml import MOST, Element, local, parse
from app.text.clean import clean

_PATH = re.compile(r"(?<![\w.$}/-])/etc/[A-Za-z0-9_./-]*[A-Za-z0-9_]")
_GROUP = re.compile(r"_group_(V-\d+)$")
_SCRIPT = "urn:xccdf:fix:script:sh"
_DISCUSSION = re.compile(r"<VulnDiscussion>(.*?)</VulnDiscussion>", re.DOTALL)
_BREAKS = ("br", "p", "li", "pre")
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,255}")
"""It goes on a command line, and to people's eyes."""
PATHS, FIX, REQUIREMENT, TITLE, EXTENDED = 4, 1800, 1200, 160, 32


@dataclass(frozen=True)
class Profile:
    id: str
    title: str
    rules: int

    @property
    def short(self) -> str:
        return short(self.id)


@dataclass(frozen=True)
class ScapRule:
    id: str
    """As the content calls it, in full: what oscap is asked for."""
    name: str
    """DISA's V-number where there is one, else the id without its organisation."""
    title: str
    severity: str
    requirement: str
    fix: str
    script: bool
    """The content has no words for the fix, and it is a script."""
    idents: tuple[str, ...]
    paths: tuple[str, ...]
    """Files of /etc that its own words name."""


def short(id_: str) -> str:
    return re.sub(r"^xccdf_[\w.-]*?_(?:rule|profile|group)_", "", id_)


def discussion(description: str) -> str:
    """DISA packs a dozen fields into one, as escaped markup: this is the one that speaks of the requirement."""
    found = _DISCUSSION.search(description)
    return found[1].strip() if found else description


class Benchmark:
    def __init__(self, content: bytes, what: str) -> None:
        root = parse(content, what)
        found = root if local(root) == "Benchmark" else next(root.iter("{*}Benchmark"), None)
        if found is None:
            raise BadInput(f"{what} holds no benchmark: choose a data stream, a file that ends in -ds.xml.")
        self._root: Element = found
        self._profiles = {one.get("id", ""): one for one in found.iter("{*}Profile")}
        if strange := next((id_ for id_ in self._profiles if not _ID.fullmatch(id_)), None):
            raise BadInput(f"{what} names a profile {strange[:60]!a}; such content is not read.")
        self.title = clean(_text(found.find("{*}title"), {}), TITLE)
        self.version = clean(_text(found.find("{*}version"), {}), 40)

    @property
    def profiles(self) -> list[Profile]:
        return [
            Profile(id_, clean(_text(one.find("{*}title"), {}), TITLE), sum(1 for _ in self._selected(id_)))
            for id_, one in self._profiles.items()
        ]

    def profile(self, name: str) -> str:
        """The full id of what may be given short."""
        for id_ in self._profiles:
            if name in (id_, short(id_)):
                return id_
        names = ", ".join(map(short, self._profiles)) or "none"
        raise BadInput(f"{self.title} has no profile {name[:80]!a}; it has: {names}.")

    def rules(self, profile: str) -> list[ScapRule]:
        values = self._values(profile)
        return [_rule(one, values) for one in self._selected(profile)]

    def _selected(self, profile: str) -> Iterator[Element]:
        chosen = {one.get("idref", ""): one.get("selected") == "true" for one in self._lines(profile, "select")}
        yield from _walk(self._root, chosen)

    def _values(self, profile: str) -> dict[str, str]:
        refined = {one.get("idref", ""): one.get("selector", "") for one in self._lines(profile, "refine-value")}
        values = {}
        for one in self._root.iter("{*}Value"):
            choices = {choice.get("selector", ""): choice.text or "" for choice in one.findall("{*}value")}
            id_ = one.get("id", "")
            values[id_] = choices.get(refined.get(id_, ""), choices.get("", ""))
        return values | {one.get("idref", ""): one.text or "" for one in self._lines(profile, "set-value")}

    def _lines(self, profile: str, kind: str, behind: tuple[str, ...] = ()) -> Iterator[Element]:
        """Of the profile and of those it extends, the nearest last."""
        one = self._profiles[profile]
        below = one.get("extends", "")
        if len(behind) > EXTENDED:
            raise BadInput(f"{self.title}: a profile extends more than {EXTENDED} others; such content is not read.")
        if below in self._profiles and below not in behind:
            yield from self._lines(below, kind, (*behind, profile))
        yield from one.findall(f"{{*}}{kind}")


def read_benchmark(file: Path) -> Benchmark:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST + 1)
    except OSError as exc:
        raise BadInput(f"The data stream {file} cannot be read: {exc.strerror}.") from exc
    return Benchmark(content, f"The data stream {file.name}")


def _walk(node: Element, chosen: Mapping[str, bool]) -> Iterator[Element]:
    """A rule counts when it and every group around it are selected."""
    for child in node:
        if local(child) not in ("Group", "Rule"):
            continue
        if not chosen.get(child.get("id", ""), child.get("selected", "true") != "false"):
            continue
        if local(child) == "Rule":
            yield child
        else:
            yield from _walk(child, chosen)


def _rule(one: Element, values: Mapping[str, str]) -> ScapRule:
    if not _ID.fullmatch(one.get("id", "")):
        raise BadInput(f"The content names a rule {one.get('id', '')[:60]!a}; such content is not read.")
    scripts = [fix for fix in one.findall("{*}fix") if fix.get("system") == _SCRIPT]
    prose, script = _text(one.find("{*}fixtext"), values), _text(scripts[0] if scripts else None, values)
    requirement = clean(discussion(_text(one.find("{*}description"), values)), REQUIREMENT)
    fix = clean(prose or script, FIX)
    return ScapRule(
        id=one.get("id", ""),
        name=_name(one),
        title=clean(" ".join(_text(one.find("{*}title"), values).split()), TITLE),
        severity=one.get("severity", "unknown"),
        requirement=requirement,
        fix=fix,
        script=bool(script) and not prose,
        idents=tuple(clean(ident.text or "", 40) for ident in one.findall("{*}ident")),
        paths=_paths(f"{requirement}\n{script or fix}"),
    )


def _paths(text: str) -> tuple[str, ...]:
    found = dict.fromkeys(path for path in _PATH.findall(text) if not path.endswith(".bak"))
    return tuple(found)[:PATHS]


def _name(one: Element) -> str:
    above = one.getparent()
    group = _GROUP.search(above.get("id", "")) if above is not None else None
    return group[1] if group else short(one.get("id", ""))


def _text(element: Element | None, values: Mapping[str, str]) -> str:
    """Its words, with what the profile sets put in where the content leaves a gap."""
    if element is None:
        return ""
    parts = [element.text or ""]
    for child in element:
        gap = local(child) == "sub"
        parts.append(values.get(child.get("idref", ""), "") if gap else _text(child, values))
        parts += ["\n" if local(child) in _BREAKS else "", child.tail or ""]
    return (
        re.sub(r"[ \t]*\n\s*", "\n", "".join(parts)).strip()
        if local(element) not in ("code", "sub")
        else "".join(parts)
    )

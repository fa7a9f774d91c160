"""Parses an XCCDF benchmark: its profiles, and a profile's rules with values filled in."""

import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from app.errors import BadInput
from app.scanners.openscap.benchmark_value import BenchmarkValue, parse_value
from app.scanners.openscap.safe_xml import MOST, Element, find_benchmark, get_local_name, join_text, parse_xml
from app.text.clean import clean_text, read_with_excess_byte

_PATH = re.compile(r"(?<![\w.$}/-])/etc/[A-Za-z0-9_./-]*[A-Za-z0-9_]")
_GROUP = re.compile(r"_group_(V-\d+)$")
SCRIPT, TASKS = "urn:xccdf:fix:script:sh", "urn:xccdf:fix:script:ansible"
"""The systems of fixes: a script for bash, and Ansible's tasks."""
_DISCUSSION = re.compile(r"<VulnDiscussion>(.*?)</VulnDiscussion>", re.DOTALL)
_BREAKS = ("br", "p", "li", "pre")
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,255}")
"""Ids appear on command lines and pages."""
PATHS, FIX, REQUIREMENT, TITLE, EXTENDED, WHOLE = 4, 1800, 1200, 160, 32, 40_000


@dataclass(frozen=True)
class Profile:
    id: str
    title: str
    rules: int

    @property
    def short_id(self) -> str:
        return shorten_id(self.id)


@dataclass(frozen=True)
class ScapRule:
    id: str
    """The content's full id, as oscap expects it."""
    name: str
    """DISA's V-number, or the id without its organisation."""
    title: str
    severity: str
    requirement: str
    fix: str
    script: bool
    """True if the fix is a script because the content has no text."""
    paths: tuple[str, ...]
    """Files of /etc that its text names."""
    remedy: bool = False
    """True if the content has a fix script."""
    whole: str = ""
    """Requirement and prose uncut, for what they name."""
    code: str = ""
    """The fix script uncut."""


@dataclass(frozen=True)
class ProfileValue:
    value: BenchmarkValue
    usual: str
    """The profile's value."""
    rules: tuple[str, ...]
    weaker: str = ""
    """"less" or "more": the side of the usual value that the checks accept and the profile does not require."""

    @property
    def id(self) -> str:
        return self.value.id


def shorten_id(id_: str) -> str:
    return re.sub(r"^xccdf_[\w.-]*?_(?:rule|profile|group|value)_", "", id_)


def is_valid_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def extract_discussion(description: str) -> str:
    """Return the discussion field of a DISA description, which holds several fields as escaped markup."""
    found = _DISCUSSION.search(description)
    return found[1].strip() if found else description


class Benchmark:
    def __init__(self, content: bytes, what: str) -> None:
        root = parse_xml(content, what)
        found = find_benchmark(root)
        if found is None:
            raise BadInput(f"{what} has no benchmark: choose a data stream, a file whose name ends in -ds.xml.")
        self._root: Element = found
        self._profiles = {one.get("id", ""): one for one in found.iter("{*}Profile")}
        if strange := next((id_ for id_ in self._profiles if not _ID.fullmatch(id_)), None):
            raise BadInput(f"{what} names a profile {strange[:60]!a}; such content is not read.")
        self.id = clean_text(found.get("id", ""), 200)
        self._own: Mapping[str, Element] = {}
        self.title = clean_text(_render_text(found.find("{*}title"), {}), TITLE)
        self.version = clean_text(_render_text(found.find("{*}version"), {}), 40)

    def copy_offering_only_these_profiles(self, profiles: Mapping[str, Element]) -> "Benchmark":
        """Return a copy that offers only the tailoring's profiles. One may have the id of the profile it extends."""
        made = copy(self)
        made._own = profiles  # noqa: SLF001  (its own kind)
        return made

    @cached_property
    def values_by_id(self) -> dict[str, BenchmarkValue]:
        return {one.get("id", ""): parse_value(one) for one in self._root.iter("{*}Value")}

    @cached_property
    def selectable_ids(self) -> frozenset[str]:
        return frozenset(one.get("id", "") for tag in ("Rule", "Group") for one in self._root.iter(f"{{*}}{tag}"))

    def has_original_profile(self, id_: str) -> bool:
        return id_ in self._profiles

    @property
    def profiles(self) -> list[Profile]:
        titles = {id_: _render_text(one.find("{*}title"), {}) for id_, one in self._offered_profiles.items()}
        return [
            Profile(id_, clean_text(titles[id_], TITLE), sum(1 for _ in self._iter_selected_rules(one)))
            for id_, one in self._offered_profiles.items()
        ]

    @property
    def _offered_profiles(self) -> Mapping[str, Element]:
        return self._own or self._profiles

    def resolve_profile_id(self, name: str) -> str:
        """Return the full profile id for a full or short one; raise BadInput if unknown."""
        for id_ in self._offered_profiles:
            if name in (id_, shorten_id(id_)):
                return id_
        names = ", ".join(map(shorten_id, self._offered_profiles)) or "none"
        raise BadInput(f"{self.title} has no profile {name[:80]!a}; it has: {names}.")

    def list_profile_rules(self, profile: str, value_overrides: Mapping[str, str] | None = None) -> list[ScapRule]:
        """Return a profile's rules; `value_overrides` values override the profile's."""
        one = self._offered_profiles[profile]
        values = {**self._resolve_profile_values(one), **(value_overrides or {})}
        return [_parse_rule(each, values) for each in self._iter_selected_rules(one)]

    def render_fix(self, fix_system: str, profile: str, rule_name: str, value_overrides: Mapping[str, str]) -> str:
        """Return the rule's fix for a system, with the profile's values; "" if the content has none."""
        one = self._offered_profiles[profile]
        found = next(
            (each for each in self._iter_selected_rules(one) if _get_group_number_or_short_rule_id(each) == rule_name),
            None,
        )
        if found is None:
            return ""
        return _render_fix(fix_system, found, {**self._resolve_profile_values(one), **value_overrides})

    def list_all_rules(self) -> list[ScapRule]:
        """Return every rule, selected or not, with the default values."""
        values = {id_: one.choices.get("", "") for id_, one in self.values_by_id.items()}
        return [_parse_rule(one, values) for one in self._root.iter("{*}Rule")]

    def map_references_to_fixes(
        self, fix_system: str, profile: str, reference_pattern: re.Pattern[str]
    ) -> dict[str, list[str]]:
        """Return the fixes of a profile's rules by each of the rules' references that has the wanted form."""
        one = self._offered_profiles[profile]
        values = self._resolve_profile_values(one)
        found: dict[str, list[str]] = {}
        for rule in self._iter_selected_rules(one):
            fix = _render_fix(fix_system, rule, values)
            texts = (" ".join(join_text(each).split()) for each in rule.findall("{*}reference"))
            for text in dict.fromkeys(texts) if fix else ():
                if reference_pattern.fullmatch(text):
                    found.setdefault(text, []).append(fix)
        return found

    def map_short_ids_to_profile_parameters(self, profile: str) -> dict[str, ProfileValue]:
        one = self._offered_profiles[profile]
        users: dict[str, dict[str, None]] = {}
        compared: dict[str, set[str]] = {}
        for rule in self._iter_selected_rules(one):
            for each in rule.iter("{*}check-export"):
                id_ = each.get("value-id", "")
                users.setdefault(id_, {})[_get_group_number_or_short_rule_id(rule)] = None
                operations = self._operations_by_variable.get(each.get("export-name", ""), ())
                compared.setdefault(id_, set()).update(operations)
        values, known = self._resolve_profile_values(one), self.values_by_id
        return {
            shorten_id(id_): ProfileValue(known[id_], values[id_], tuple(rules), _get_weaker_direction(compared[id_]))
            for id_, rules in users.items()
            if id_ in known
        }

    @cached_property
    def _operations_by_variable(self) -> dict[str, set[str]]:
        """OVAL operations that compare each variable, by variable id."""
        found: dict[str, set[str]] = {}
        for one in self._root.getroottree().getroot().iter("{*}value", "{*}subexpression"):
            if variable := one.get("var_ref"):
                found.setdefault(variable, set()).add(one.get("operation", "equals"))
        return found

    def list_rules_removed_by_tailoring(self, profile: str) -> list[ScapRule]:
        """Return the rules that a tailoring removes from the profile it extends."""
        one = self._offered_profiles[profile]
        below = self._profiles.get(one.get("extends", "")) if self._own else None
        if below is None:
            return []
        kept, values = set(self._iter_selected_rules(one)), self._resolve_profile_values(below)
        return [_parse_rule(each, values) for each in self._iter_selected_rules(below) if each not in kept]

    def _iter_selected_rules(self, profile: Element) -> Iterator[Element]:
        selects = self._iter_inherited(profile, "select")
        yield from _iterate_selected_rules_below(
            self._root, {one.get("idref", ""): one.get("selected") == "true" for one in selects}
        )

    def _resolve_profile_values(self, profile: Element) -> dict[str, str]:
        refines, sets = (self._iter_inherited(profile, kind) for kind in ("refine-value", "set-value"))
        chosen = {one.get("idref", ""): one.get("selector", "") for one in refines}
        known = self.values_by_id.items()
        values = {id_: one.choices.get(chosen.get(id_, ""), one.choices.get("", "")) for id_, one in known}
        return values | {one.get("idref", ""): one.text or "" for one in sets}

    def _iter_inherited(
        self, profile: Element, kind: str, visited_profiles: tuple[Element, ...] = ()
    ) -> Iterator[Element]:
        """Yield elements of the extended profiles, then of this one; raise BadInput beyond the depth limit."""
        below = self._profiles.get(profile.get("extends", ""))
        if len(visited_profiles) > EXTENDED:
            raise BadInput(f"{self.title}: a profile extends more than {EXTENDED} others, which is the limit.")
        if below is not None and below not in (*visited_profiles, profile):
            yield from self._iter_inherited(below, kind, (*visited_profiles, profile))
        yield from profile.findall(f"{{*}}{kind}")


def _get_weaker_direction(operations: set[str]) -> str:
    if operations and operations <= {"greater than", "greater than or equal"}:
        return "less"
    return "more" if operations and operations <= {"less than", "less than or equal"} else ""


def read_benchmark(file: Path) -> Benchmark:
    try:
        return Benchmark(read_with_excess_byte(file, MOST), f"The data stream {file.name}")
    except OSError as exc:
        raise BadInput(f"The data stream {file} cannot be read: {exc.strerror}.") from exc


def _iterate_selected_rules_below(node: Element, selection_by_id: Mapping[str, bool]) -> Iterator[Element]:
    """Yield rules that are selected along with every group around them."""
    for child in node:
        if get_local_name(child) not in ("Group", "Rule"):
            continue
        if not selection_by_id.get(child.get("id", ""), child.get("selected", "true") != "false"):
            continue
        if get_local_name(child) == "Rule":
            yield child
        else:
            yield from _iterate_selected_rules_below(child, selection_by_id)


def _parse_rule(rule_element: Element, values: Mapping[str, str]) -> ScapRule:
    if not _ID.fullmatch(rule_element.get("id", "")):
        raise BadInput(f"The content names a rule {rule_element.get('id', '')[:60]!a}; such content is not read.")
    prose = _render_text(rule_element.find("{*}fixtext"), values)
    script = _render_text(_find_fix(SCRIPT, rule_element), values)
    discussion = extract_discussion(_render_text(rule_element.find("{*}description"), values))
    requirement = clean_text(discussion, REQUIREMENT)
    fix = clean_text(prose or script, FIX)
    return ScapRule(
        id=rule_element.get("id", ""),
        name=_get_group_number_or_short_rule_id(rule_element),
        title=clean_text(" ".join(_render_text(rule_element.find("{*}title"), values).split()), TITLE),
        severity=rule_element.get("severity", "unknown"),
        requirement=requirement,
        fix=fix,
        script=bool(script) and not prose,
        remedy=bool(script),
        whole=clean_text(f"{discussion}\n{prose}", WHOLE),
        code=clean_text(script, WHOLE),
        paths=find_named_etc_paths(f"{requirement}\n{script or fix}"),
    )


def find_named_etc_paths(text: str) -> tuple[str, ...]:
    """Return the first files of /etc that a text names."""
    return tuple(dict.fromkeys(path for path in _PATH.findall(text) if not path.endswith(".bak")))[:PATHS]


def _get_group_number_or_short_rule_id(rule_element: Element) -> str:
    above = rule_element.getparent()
    group = _GROUP.search(above.get("id", "")) if above is not None else None
    return group[1] if group else shorten_id(rule_element.get("id", ""))


def _find_fix(fix_system: str, rule: Element) -> Element | None:
    return next((fix for fix in rule.findall("{*}fix") if fix.get("system") == fix_system), None)


def _render_fix(fix_system: str, rule: Element, values: Mapping[str, str]) -> str:
    """Return the text with profile values substituted and every blank kept; "" if there is none for the system."""
    fix = _find_fix(fix_system, rule)
    if fix is None:
        return ""
    parts = [fix.text or ""]
    for child in fix:
        parts += [values.get(child.get("idref", ""), ""), child.tail or ""]
    return "".join(parts)


def _render_text(element: Element | None, values: Mapping[str, str]) -> str:
    """Return the text with profile values substituted."""
    if element is None:
        return ""
    parts = [element.text or ""]
    for child in element:
        gap = get_local_name(child) == "sub"
        parts.append(values.get(child.get("idref", ""), "") if gap else _render_text(child, values))
        parts += ["\n" if get_local_name(child) in _BREAKS else "", child.tail or ""]
    text = "".join(parts)
    return text if get_local_name(element) in ("code", "sub") else re.sub(r"[ \t]*\n\s*", "\n", text).strip()

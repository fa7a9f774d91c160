"""Reads tailoring files: custom profiles over a benchmark, fully validated before use."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from app.errors import BadInput
from app.scanners.openscap.benchmark import Benchmark, is_valid_id, shorten_id
from app.scanners.openscap.safe_xml import XCCDF, Element, get_local_name, join_text_collapsing_whitespace, parse_xml
from app.scanners.openscap.scap_files import ADDED, OWN, map_names_to_files
from app.text.clean import clean_text

ENDING = "-tailoring.xml"
MOST_BYTES = 4 << 20
LONGEST_NAME = 61
_NAME = re.compile(rf"[a-z0-9][a-z0-9._-]{{0,{LONGEST_NAME - 1}}}")
_NAMED = {"select": "the rule", "refine-rule": "the rule", "set-value": "the value", "refine-value": "the value"}


@dataclass(frozen=True)
class TailoringFile:
    name: str
    """The file name with its ending."""
    sha256: str
    id: str
    version: str
    benchmark: str
    """The id of its benchmark; "" if not stated."""
    hint: str
    """The stated benchmark's file name; it may have been renamed since."""
    profiles: Mapping[str, Element]
    content: bytes
    """The tailoring alone, in the form that OpenSCAP accepts."""


def read_tailoring(content: bytes, file_name: str) -> TailoringFile:
    what = f"The tailoring file {clean_text(file_name, 80)}"
    if len(content) > MOST_BYTES:
        raise BadInput(f"{what} has {len(content) >> 20} MiB; the limit is {MOST_BYTES >> 20} MiB.")
    top = parse_xml(content, what)
    root = _require_only_tailoring_within(top, what)
    profiles = {one.get("id", ""): one for one in root.findall(f"{{{XCCDF}}}Profile")}
    if not profiles:
        raise BadInput(f"{what} has no profile, so it cannot tailor a scan.")
    if strange := next((id_ for id_ in profiles if not is_valid_id(id_)), None):
        raise BadInput(f"{what} names a profile {strange[:60]!a}; such a file is not read.")
    if len(profiles) != len(root.findall(f"{{{XCCDF}}}Profile")):
        raise BadInput(f"{what} has two profiles with the same id: rename one.")
    about = root.find(f"{{{XCCDF}}}benchmark")
    return TailoringFile(
        name=file_name,
        sha256=hashlib.sha256(content).hexdigest(),
        id=clean_text(root.get("id", ""), 200),
        version=clean_text(join_text_collapsing_whitespace(root.find(f"{{{XCCDF}}}version")), 40),
        benchmark=clean_text(about.get("id", ""), 200) if about is not None else "",
        hint=clean_text(about.get("href", "").partition("#")[0].rpartition("/")[2], 80) if about is not None else "",
        profiles=profiles,
        content=content if root is top else etree.tostring(root, xml_declaration=True, encoding="UTF-8"),
    )


def _require_only_tailoring_within(top: Element, document_name: str) -> Element:
    """Return the only Tailoring element, bare or inside a data stream collection; raise BadInput otherwise."""
    found = list(top.iter("{*}Tailoring")) if get_local_name(top) != "Tailoring" else [top]
    if len(found) != 1:
        said = "has no tailoring" if not found else f"has {len(found)} tailorings: put each into its own file"
        root = clean_text(get_local_name(top), 60)
        raise BadInput(f"{document_name} {said}. Give an xccdf:Tailoring; the root here is <{root}>.")
    space = etree.QName(found[0]).namespace or ""
    if space != XCCDF:
        raise BadInput(f"{document_name} is in the namespace {space[:100]!a}; Temper reads only XCCDF 1.2, {XCCDF}.")
    return found[0]


def offer_only_tailored_profiles(tailoring: TailoringFile, benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with the tailoring's profiles; raise BadInput if they name anything unknown."""
    what = f"The tailoring file {clean_text(tailoring.name, 80)}"
    if tailoring.benchmark not in ("", benchmark.id):
        raise BadInput(f"{what} is for the benchmark {tailoring.benchmark!a}, but {benchmark.title} is {benchmark.id}.")
    for id_, one in tailoring.profiles.items():
        below = one.get("extends", "")
        if below and not benchmark.has_original_profile(below):
            said = f"extends {below[:100]!a}, which {benchmark.title} does not have: it is for other content"
            raise BadInput(f"{what}: its profile {shorten_id(id_)} {said}.")
        for wrong in _iterate_mismatch_descriptions(one, benchmark):
            raise BadInput(f"{what}: its profile {shorten_id(id_)} {wrong}.")
    return benchmark.copy_offering_only_these_profiles(tailoring.profiles)


def _iterate_mismatch_descriptions(profile: Element, benchmark: Benchmark) -> Iterator[str]:
    for line in profile:
        kind, id_ = get_local_name(line), line.get("idref", "")
        if kind not in _NAMED:
            continue
        known = benchmark.values_by_id.get(id_) if kind.endswith("-value") else id_ in benchmark.selectable_ids or None
        if known is None:
            yield f"names {_NAMED[kind]} {id_[:100]!a}, which {benchmark.title} does not have"
        elif kind == "set-value" and (wrong := benchmark.values_by_id[id_].explain_refusal(line.text or "")):
            yield f"sets {shorten_id(id_)} to {(line.text or '')[:60]!a}, but {wrong}"
        elif kind == "refine-value" and line.get("selector", "") not in benchmark.values_by_id[id_].choices:
            choices = ", ".join(filter(None, benchmark.values_by_id[id_].choices)) or "none"
            yield f"selects {line.get('selector', '')[:60]!a} of {shorten_id(id_)}, whose choices are: {choices[:300]}"


def map_names_to_added_tailoring_files() -> dict[str, Path]:
    return map_names_to_files(ENDING, ADDED)


def load_tailoring_file(name: str) -> TailoringFile:
    there = map_names_to_added_tailoring_files()
    if name not in there:
        known = f"the tailorings are: {', '.join(there)}" if there else "add one with temper scap tailor FILE"
        raise BadInput(f"There is no tailoring {name[:80]!a}; {known}.")
    try:
        return read_tailoring(there[name].read_bytes(), there[name].name)
    except OSError as exc:
        raise BadInput(f"The tailoring {name} cannot be read: {exc.strerror or exc}.") from exc


def add_tailoring(content: bytes, name: str, benchmark: Benchmark) -> TailoringFile:
    """Validate and store a tailoring; a stored one is never replaced, since past runs used it."""
    if not _NAME.fullmatch(name):
        said = f"use at most {LONGEST_NAME} small letters, digits, '.', '_' and '-'"
        raise BadInput(f"{name[:80]!a} is not a valid name for a tailoring: {said}.")
    read = read_tailoring(content, f"{name}{ENDING}")
    offer_only_tailored_profiles(read, benchmark)
    if (there := map_names_to_added_tailoring_files().get(name)) and there.read_bytes() != content:
        raise BadInput(f"There is already another tailoring {name!a}, and runs may have used it: choose a new name.")
    folder = OWN.expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / read.name).write_bytes(content)
    return read

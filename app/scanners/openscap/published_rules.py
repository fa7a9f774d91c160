"""Reads a benchmark's published rules: DISA's ids, also where other content refers to them."""

import hashlib
import re
from collections.abc import Iterator

from app.errors import BadInput
from app.events.event_field_types import Published, PublishedRule
from app.scanners.openscap.benchmark import TITLE, extract_discussion
from app.scanners.openscap.safe_xml import Element, find_benchmark, join_text, parse_xml
from app.text.clean import clean_text

_RULE = re.compile(r"(?:^|_)(SV-(\d{1,9})r\d{1,9}_rule)$")
_GROUP = re.compile(r"(?:^|_)(V-\d{1,9})$")
_STIG_ID = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d{6}")
_CCI, _SRG = re.compile(r"CCI-\d{6}"), re.compile(r"SRG-[A-Z0-9-]{1,60}")
_SCAP_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")
_TEXT = 12_000


def read_published(content: bytes, file_name: str) -> Published:
    root = parse_xml(content, file_name)
    found = find_benchmark(root)
    if found is None:
        raise BadInput(f"{file_name} has no benchmark.")
    version, release = _read_version_and_release(found)
    return Published(
        file=file_name,
        sha256=hashlib.sha256(content).hexdigest(),
        id=clean_text(found.get("id", "").removeprefix("xccdf_mil.disa.stig_benchmark_"), 80),
        title=_join_element_text(found.find("{*}title"), TITLE),
        version=version,
        release=release,
        rules=tuple(_iter_rules_with_disa_id(found)),
    )


def _read_version_and_release(benchmark: Element) -> tuple[str, str]:
    """Return version and release; DISA's SCAP content writes both as 002.009."""
    version = _join_element_text(benchmark.find("{*}version"), 40)
    told = (one for one in benchmark.findall("{*}plain-text") if one.get("id") == "release-info")
    release = _join_element_text(next(told, None), 80)
    both = _SCAP_VERSION.fullmatch(version)
    if both and release and not release.startswith("Release:"):
        return both[1].lstrip("0"), f"Release: {both[2].lstrip('0')} {release}"
    return version, release


def _iter_rules_with_disa_id(benchmark: Element) -> Iterator[PublishedRule]:
    """Yield rules with a DISA id; `rule` is the content's full id."""
    for one in benchmark.iter("{*}Rule"):
        refers = [
            _join_element_text(child, 80) for tag in ("reference", "ident") for child in one.findall(f"{{*}}{tag}")
        ]
        ids = {found[1]: found[2] for text in (one.get("id", ""), *refers) if (found := _RULE.search(text))}
        if len(ids) != 1:  # none, or content that serves several rules and decides none
            continue
        ((id_, number),) = ids.items()
        above = one.getparent()
        group = _GROUP.search(above.get("id", "")) if above is not None else None
        if group and above is not None:
            title = _join_element_text(above.find("{*}title"), TITLE)
        else:
            title = next((text for text in refers if _SRG.fullmatch(text)), "")
        told = [_join_element_text(one.find("{*}version"), 80), *refers]
        described = _get_prose(one.find("{*}description")) if group else ""
        yield PublishedRule(
            rule=one.get("id", ""),
            group=group[1] if group else f"V-{number}",
            id=id_,
            stig_id=next((text for text in told if _STIG_ID.fullmatch(text) and not _CCI.fullmatch(text)), ""),
            group_title=title,
            title=_join_element_text(one.find("{*}title"), 400),
            ccis=tuple(dict.fromkeys(text for text in refers if _CCI.fullmatch(text))),
            discussion=extract_discussion(described),
            check=_get_prose(one.find("{*}check/{*}check-content")),
            fix=_get_prose(one.find("{*}fixtext")),
        )


def _join_element_text(element: Element | None, limit: int) -> str:
    return clean_text(" ".join(join_text(element).split()), limit)


def _get_prose(element: Element | None) -> str:
    return clean_text(join_text(element).strip(), _TEXT)

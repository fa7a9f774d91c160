"""Validate and store tailoring files, for the CLI, the API and the pages."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput, Rejected, convert_bad_input_to_rejected
from app.scanners.openscap.benchmark import Benchmark, Profile, read_benchmark
from app.scanners.openscap.scap_files import map_names_to_datastreams, require_datastream
from app.scanners.openscap.tailoring import (
    LONGEST_NAME,
    TailoringFile,
    add_tailoring,
    load_tailoring_file,
    map_names_to_added_tailoring_files,
    offer_only_tailored_profiles,
    read_tailoring,
)

LONGEST = {"name": LONGEST_NAME, "content": 81, "document": 900_000}


@dataclass(frozen=True)
class TailoredProfile:
    tailoring: str
    content: str
    profile: Profile
    left_out: int
    version: str
    sha256: str

    @property
    def skill_name(self) -> str:
        return f"scap:{self.content}:{self.profile.short_id}:{self.tailoring}"


def validate_and_store_tailoring(document: bytes, content: str, name: str) -> list[TailoredProfile]:
    """Store a tailoring file and return its profiles, each a skill. Raise Rejected if it does not fit."""
    with convert_bad_input_to_rejected("content"):
        file = require_datastream(content)
    with convert_bad_input_to_rejected("document"):
        benchmark = read_benchmark(file)
        if not _is_tailoring_for_file_or_unknown_file(given := read_tailoring(document, name), file):
            raise Rejected("document", f"the tailoring is for {given.hint}, not for {file.name}.")
        added = add_tailoring(document, name, benchmark)
    return _create_profiles(name, added, benchmark, file.name.removesuffix("-ds.xml"))


def list_tailored_profiles() -> list[TailoredProfile]:
    """Return the profiles of every stored tailoring, for each data stream that it fits."""
    found: list[TailoredProfile] = []
    if names := map_names_to_added_tailoring_files():
        for content, file in map_names_to_datastreams().items():
            for name in names:
                # If it is for other content or unreadable, an order that names it gets the reason.
                with suppress(BadInput):
                    if _is_tailoring_for_file_or_unknown_file(added := load_tailoring_file(name), file):
                        found += _create_profiles(name, added, read_benchmark(file), content)
    return found


def _is_tailoring_for_file_or_unknown_file(tailoring: TailoringFile, file: Path) -> bool:
    """Return True if the tailoring names `file`, or names no data stream of this machine."""
    return tailoring.hint == file.name or tailoring.hint not in {
        here.name for here in map_names_to_datastreams().values()
    }


def _create_profiles(
    name: str, tailoring: TailoringFile, whole_benchmark: Benchmark, content_name: str
) -> list[TailoredProfile]:
    benchmark = offer_only_tailored_profiles(tailoring, whole_benchmark)
    found = []
    for one in benchmark.profiles:
        left_out = len(benchmark.list_rules_removed_by_tailoring(one.id))
        found.append(TailoredProfile(name, content_name, one, left_out, tailoring.version, tailoring.sha256))
    return found

"""Validate and store tailoring files, for the CLI, the API and the pages."""

from dataclasses import dataclass
from pathlib import Path

from app.errors import BadInput, NotTaken
from app.scanners.openscap.benchmark import Benchmark, Profile, read_benchmark
from app.scanners.openscap.content import datastream, datastreams
from app.scanners.openscap.tailoring import TailoringFile, add_tailoring, fitted, read_tailoring, tailoring, tailorings

LONGEST = {"name": 61, "content": 81, "document": 900_000}


@dataclass(frozen=True)
class TailoredProfile:
    tailoring: str
    content: str
    profile: Profile
    left_out: int
    version: str
    sha256: str

    @property
    def skill(self) -> str:
        return f"scap:{self.content}:{self.profile.short}:{self.tailoring}"


def take_tailoring(document: bytes, content: str, name: str) -> list[TailoredProfile]:
    """Store a tailoring file and return its profiles, each a skill. Raise Rejected if it does not fit."""
    file = _content(content)
    try:
        benchmark = read_benchmark(file)
        given = read_tailoring(document, name)
        added = add_tailoring(document, name, benchmark) if _meant(given, file) else None
    except BadInput as exc:
        raise NotTaken("document", str(exc)) from exc
    if added is None:
        raise NotTaken("document", f"the tailoring says that it is for {given.hint}, and not for {file.name}.")
    return _profiles(name, added, benchmark, file.name.removesuffix("-ds.xml"))


def tailored_profiles() -> list[TailoredProfile]:
    """Return the profiles of every stored tailoring, for each data stream that it fits."""
    found: list[TailoredProfile] = []
    if names := tailorings():
        for content, file in datastreams().items():
            for name in names:
                try:
                    added = tailoring(name)
                    found += _profiles(name, added, read_benchmark(file), content) if _meant(added, file) else []
                except BadInput:  # it is for other content or unreadable; an order that names it gets the reason
                    continue
    return found


def _meant(given: TailoringFile, file: Path) -> bool:
    """Return True if the tailoring names `file`, or names no data stream of this machine."""
    return given.hint == file.name or given.hint not in {here.name for here in datastreams().values()}


def _profiles(name: str, added: TailoringFile, whole: Benchmark, content: str) -> list[TailoredProfile]:
    benchmark = fitted(added, whole)
    return [
        TailoredProfile(name, content, one, len(benchmark.left_out(one.id)), added.version, added.sha256)
        for one in benchmark.profiles
    ]


def _content(name: str) -> Path:
    try:
        return datastream(name)
    except BadInput as exc:
        raise NotTaken("content", str(exc)) from exc

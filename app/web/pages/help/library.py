"""The pages of the documentation: which there are, what is on each, and the index that search reads."""

import functools
import json
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.config import PACKAGE
from app.web.pages.help.markdown import HelpDocument, HelpSection, render_help_document

INDEX = "index"
SEARCH_INDEX = "search-index.js"
PICTURES = (".png", ".svg", ".webp")
GROUPS = (("Guides and reference", ""), ("Measurements", "measurements/"), ("Decisions", "decisions/"))

PagePath = Callable[[str], str]
"""The address of a page or a picture by its name, as the site that is being drawn spells it."""


@dataclass(frozen=True)
class HelpPage:
    name: str
    document: HelpDocument
    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """The titles of all pages by group, each with its address."""

    @property
    def contents(self) -> tuple[HelpSection, ...]:
        return tuple(one for one in self.document.sections if one.level == 2)


def choose_packaged_or_checkout_help_folder() -> Path:
    """The documents' folder: inside the package when it is installed, at the top of a checkout."""
    inside = PACKAGE / "docs"
    return inside if inside.is_dir() else PACKAGE.parent / "docs"


@functools.cache
def find_page_files_by_name() -> Mapping[str, Path]:
    """Name to file, in the order of the site's list of pages: `operator`, `decisions/0001-event-log`."""
    folder = choose_packaged_or_checkout_help_folder()
    found = sorted(
        (file for _, below in GROUPS for file in (folder / below).glob("*.md")),
        key=lambda file: (file.stem != INDEX, file.name),
    )
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in found}


@functools.cache
def find_pictures_by_name() -> Mapping[str, Path]:
    """Name to file of what pages show: `pictures/end.png`."""
    folder = choose_packaged_or_checkout_help_folder()
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.suffix in PICTURES}


def load_page(name: str, address_of: PagePath) -> HelpPage:
    document = render_help_document(
        find_page_files_by_name()[name].read_text(), lambda link: _resolve_link(name, link, address_of)
    )
    return HelpPage(name, document, list_page_titles_and_addresses_by_group(address_of))


def list_page_titles_and_addresses_by_group(
    address_of: PagePath,
) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Each group's title with the title and the address of its pages."""
    pages = [(name, (read_title(file), address_of(name))) for name, file in find_page_files_by_name().items()]
    return tuple((title, tuple(page for name, page in pages if _is_in_group(name, below))) for title, below in GROUPS)


@functools.cache
def read_title(file: Path) -> str:
    return file.read_text().partition("\n")[0].removeprefix("# ").replace("`", "")


def build_search_index_script(address_of: PagePath) -> str:
    """A script that holds every section's address, title, heading and words: a page opened from a disk can load it."""
    entries = [
        [f"{address_of(name)}#{section.anchor}", document.title, section.heading, section.text]
        for name in find_page_files_by_name()
        for document in [load_page(name, address_of).document]
        for section in document.sections
    ]
    return f"globalThis.helpIndex = {json.dumps(entries, ensure_ascii=False, separators=(',', ':'))};\n"


def _is_in_group(page: str, folder: str) -> bool:
    return page.startswith(folder) if folder else "/" not in page


def _resolve_link(page: str, link: str, address_of: PagePath) -> str | None:
    """An address elsewhere and an anchor of the same page stay; what the site does not hold leads nowhere."""
    if link.startswith(("#", "http://", "https://")):
        return link
    path, mark, anchor = link.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if name.removesuffix(".md") in find_page_files_by_name() and name.endswith(".md"):
        return f"{address_of(name.removesuffix('.md'))}{mark}{anchor}"
    return address_of(name) if name in find_pictures_by_name() else None

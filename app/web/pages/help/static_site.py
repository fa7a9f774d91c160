"""The documentation as a folder of files: any web server can offer it, and a browser can open it from a disk."""

import shutil
from pathlib import Path

from app.config import PACKAGE
from app.web.pages.help import library
from app.web.pages.templating import render_template_to_text

ASSETS = ("temper.css", "help.css", "help.js", "icon.svg")


def write_site(folder: Path) -> int:
    """Write every page, picture, style and script below `folder`; return the number of pages."""
    for name in library.find_page_files_by_name():
        file = folder / _file_name(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_draw_page(name, "../" * name.count("/")))
    (folder / library.SEARCH_INDEX).write_text(library.build_search_index_script(_file_name))
    for name, picture in library.find_pictures_by_name().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder / name)
    for asset in ASSETS:
        shutil.copy(PACKAGE / "static" / asset, folder / asset)
    return len(library.find_page_files_by_name())


def _draw_page(name: str, root: str) -> str:
    """`root` leads from the page to the site's top folder."""

    def prefix_asset_name_with_root(asset: str) -> str:
        return root + asset

    shown = library.load_page(name, lambda other: root + _file_name(other))
    search = {"root": root, "search_index": root + library.SEARCH_INDEX}
    return render_template_to_text(
        "help.html", layout="help_site.html", nonce="", page=shown, asset=prefix_asset_name_with_root, **search
    )


def _file_name(name: str) -> str:
    """Pages get the suffix of a file; pictures have theirs."""
    return f"{name}.html" if name in library.find_page_files_by_name() else name

"""The documentation at /help, rendered by the server itself: an air gap has it, too."""

import functools

from fastapi import APIRouter, HTTPException
from starlette.responses import FileResponse, Response

from app.people.rights import guests
from app.web.pages.help import library
from app.web.pages.templating import render_page
from app.web.url_paths import path_to, path_to_unversioned_static_file

router = APIRouter(include_in_schema=False)

PICTURE = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
}
"""A drawing has its two colour schemes in a style of its own, and nothing else may act in it."""


@router.get("/help", name="help")
@guests
def read_help() -> Response:
    return _show_document(library.INDEX)


@router.get("/help/{document:path}", name="help_page")
@guests
def read_help_page(document: str) -> Response:
    if document == library.SEARCH_INDEX:
        return Response(
            _build_search_index_script(), media_type="text/javascript", headers={"x-content-type-options": "nosniff"}
        )
    if document in library.find_page_files_by_name():
        return _show_document(document)
    if document in library.find_pictures_by_name():
        return FileResponse(library.find_pictures_by_name()[document], headers=PICTURE)
    raise HTTPException(404, "The documentation has no such page. Search it at /help.")


def _show_document(name: str) -> Response:
    page, index = _load_help_page(name), _page_path(library.SEARCH_INDEX)
    return render_page(
        "help.html",
        here="help",
        layout="base.html",
        page=page,
        asset=path_to_unversioned_static_file,
        root="",
        search_index=index,
    )


def _page_path(name: str) -> str:
    return path_to("help") if name == library.INDEX else f"{path_to('help')}/{name}"


@functools.cache
def _load_help_page(name: str) -> library.HelpPage:
    """The documents of a running server do not change."""
    return library.load_page(name, _page_path)


@functools.cache
def _build_search_index_script() -> str:
    return library.build_search_index_script(_page_path)

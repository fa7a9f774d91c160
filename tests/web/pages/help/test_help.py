"""The documentation at /help and as a site of files: every page, every link, one index."""

import json
import re
from html import unescape
from urllib.parse import urldefrag, urljoin

import pytest

from app.web.pages.help.library import choose_packaged_or_checkout_help_folder, find_page_files_by_name, load_page
from app.web.pages.help.static_site import write_site
from tests.runs.doors import house

HREF = re.compile(r'(?:href|src)="([^"]*)"')
ID = re.compile(r'id="([^"]*)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    assert write_site(folder) == len(find_page_files_by_name()) > 30
    return folder


async def test_the_server_shows_every_page_and_the_front_page_is_the_index_by_task(tmp_path):
    async with house(tmp_path) as made:
        front = await made.http.get("/help")
        assert front.status_code == 200
        assert 'href="/help/operator"' in front.text
        assert "script-src 'self' 'nonce-" in front.headers["content-security-policy"]
        for name in ("operator", "decisions/0001-one-event-log", "measurements/fanout"):
            assert (await made.http.get(f"/help/{name}")).status_code == 200, name
        page = await made.http.get("/help/evaluator")
        assert 'aria-current="page">Help</a>' in page.text
        picture = await made.http.get(re.search(r'src="(/help/pictures/[^"]*)"', page.text)[1])
        assert (picture.status_code, picture.headers["content-type"][:6]) == (200, "image/")


@pytest.mark.parametrize("name", ["nothing", "../README", "..%2fpyproject.toml", "pictures/", "scores/1-nothing.json"])
async def test_what_is_no_page_is_not_there(tmp_path, name):
    async with house(tmp_path) as made:
        assert (await made.http.get(f"/help/{name}", headers={"accept": "text/html"})).status_code == 404


async def test_the_index_of_search_holds_each_section_and_its_address_is_answered(tmp_path):
    async with house(tmp_path) as made:
        entries = read_index((await made.http.get("/help/search-index.js")).text)
        assert len(entries) > 200
        assert any("fencing" in text for _, _, _, text in entries)
        address, *_ = next(one for one in entries if one[1] == "Exit codes")
        assert f'id="{urldefrag(address).fragment}"' in (await made.http.get(address)).text


def read_index(script):
    return json.loads(script.removeprefix("globalThis.helpIndex = ").rstrip(";\n"))


def test_every_link_of_the_site_leads_to_a_file_and_an_anchor_of_it(site):
    files = {file.relative_to(site).as_posix(): file for file in site.rglob("*") if file.is_file()}
    anchors = {name: set(ID.findall(file.read_text())) for name, file in files.items() if name.endswith(".html")}
    links = [(name, unescape(link)) for name in anchors for link in HREF.findall(files[name].read_text())]
    ours = [(name, urldefrag(urljoin(name, link))) for name, link in links if "://" not in link]
    assert len(ours) > 1000
    assert [(name, to.url) for name, to in ours if to.url not in files] == []
    assert [(name, to) for name, to in ours if to.fragment and to.fragment not in anchors[to.url]] == []
    for address, *_ in read_index(files["search-index.js"].read_text()):
        to = urldefrag(address)
        assert to.fragment in anchors[to.url], address


def test_every_link_of_a_document_leads_to_a_file_of_the_checkout():
    """What the site leaves out (the code, the deployment) is there for those who read the documents in the checkout."""
    lost = []
    for name, file in find_page_files_by_name().items():
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text())
        lost += [(name, link) for link in links if "://" not in link and not (file.parent / link).exists()]
    assert lost == []


def test_nothing_of_the_site_is_fetched_from_elsewhere_or_written_into_the_page(site):
    for file in site.rglob("*.html"):
        text = file.read_text()
        assert re.findall(r'src="(?:https?:)?//', text) == []
        assert re.findall(r"<script[^>]*>[^<]", text) == []
        assert " style=" not in text


def test_every_page_begins_with_its_title_and_is_reached_from_the_index_or_a_list():
    untitled = [name for name, file in find_page_files_by_name().items() if not file.read_text().startswith("# ")]
    assert untitled == []
    index = load_page("index", lambda name: name)
    alone = [
        name
        for name in find_page_files_by_name()
        if "/" not in name and name != "index" and f'href="{name}' not in index.document.html
    ]
    assert alone == []
    assert choose_packaged_or_checkout_help_folder().name == "docs"

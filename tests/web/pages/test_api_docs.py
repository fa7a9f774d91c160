"""The reference of the API: a page for each group, and a search that asks nobody."""

import json
import re

from tests.runs.doors import house


async def test_each_group_has_a_page_with_its_operations_their_curl_and_the_schemas_they_use(tmp_path):
    async with house(tmp_path) as made:
        description = (await made.http.get("/openapi.json")).json()
        contents = (await made.http.get("/api/docs")).text
        pages = {tag["name"]: await made.http.get(f"/api/docs/{tag['name']}") for tag in description["tags"]}
    for path, there in description["paths"].items():
        for method, one in there.items():
            [group] = one["tags"]
            assert f'href="/api/docs/{group}#{one["operationId"]}"' in contents
            assert f'id="{one["operationId"]}"' in pages[group].text
            assert f"<code>{method.upper()} {path}</code>" in pages[group].text
    assert "curl -sS -X POST &#34;$TEMPER/api/v1/runs&#34;" in pages["runs"].text
    assert 'id="shape-RunOrder"' in pages["runs"].text
    assert 'id="shape-RunOrder"' not in pages["webhooks"].text


async def test_no_link_of_these_pages_leads_to_another_server_or_to_nowhere(tmp_path):
    async with house(tmp_path) as made:
        contents = (await made.http.get("/api/docs")).text
        groups = sorted(set(re.findall(r'href="(/api/docs/\w+)"', contents)))
        pages = {address: (await made.http.get(address)).text for address in groups}
    assert len(groups) > 15
    for text in (contents, *pages.values()):
        leads = re.findall(r'(?:href|src)="([^"]*)"', text)
        assert all(lead.startswith(("/", "#")) and not lead.startswith("//") for lead in leads)
        anchors = set(re.findall(r'id="([^"]*)"', text))
        assert {lead[1:] for lead in leads if lead.startswith("#")} <= anchors


async def test_the_search_finds_each_operation_and_an_unknown_group_is_a_page_that_says_so(tmp_path):
    async with house(tmp_path) as made:
        paths = (await made.http.get("/openapi.json")).json()["paths"]
        script = await made.http.get("/api/docs/search-index.js")
        gone = await made.http.get("/api/docs/nothing")
    assert script.headers["content-type"].startswith("text/javascript")
    entries = json.loads(script.text.removeprefix("globalThis.helpIndex = ").rstrip(";\n"))
    assert len(entries) == sum(len(there) for there in paths.values())
    assert ["/api/docs/runs#start_run", "runs", "POST /api/v1/runs"] in [one[:3] for one in entries]
    assert gone.status_code == 404
    assert "lists the groups" in gone.text

"""What a page weighs with all that it loads, as it goes over the wire: 200 kB at most, and nothing from elsewhere."""

import re

import pytest

from tests.runs.doors import house
from tests.web.pages.mission_log import EVENTS

BUDGET = 200_000
LOADED = re.compile(r"""(?:src|href|from)=?\s?"((?:/static/|\./|https?:)[^"]+)""")


async def weight(http, path):
    told, todo = {}, [path]
    while todo:
        if (at := todo.pop()) not in told:
            async with http.stream("GET", at) as answer:
                assert answer.status_code == 200, at
                told[at] = sum([len(part) async for part in answer.aiter_raw()])
            if at == path or at.endswith(".js"):
                text = (await http.get(at)).text
                todo += [one.replace("./", "/static/") for one in LOADED.findall(text)]
    return told


@pytest.mark.parametrize("path", ["/runs/r1", "/runs/r1?at=20", "/runs", "/fleet", "/hosts", "/lessons"])
async def test_a_page_and_all_that_it_loads_is_small(tmp_path, path):
    async with house(tmp_path) as made:
        made.append("r1", *EVENTS)
        told = await weight(made.http, path)
    assert all(one.startswith("/") for one in told), told
    assert any(one.endswith(".css") for one in told)
    assert sum(told.values()) < BUDGET, told

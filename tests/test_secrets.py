"""Whole runs by a hostile model on a host full of secrets: none of them is told, recorded, shown or packed."""

import logging
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.events.event_field_types import Budget
from app.evidence.document_catalog import PAPERS
from app.evidence.pack import build_pack
from app.evidence.run_record import read_run_record
from app.main import create_app
from app.runs.order import Order, create_run_request
from app.targets import host_registry
from app.targets.fixture.fixture_target import FixtureTarget
from tests.evidence.played import KEY
from tests.following import followed
from tests.hostile_engine import Enemy, served
from tests.secretive import SECRETS, planted, slipped_in
from tests.targets.ssh.host import ssh_host

RULES = ("V-257820", "V-257985", "V-258041", "V-258074", "V-257934", "V-258069")
OVER_SSH = ("V-257985", "V-257996", "V-258041", "V-258074", "V-258003", "V-257984")
LINK = "/etc/profile.d/zz-link.sh"
WANTED = [*(path for path, _, _ in SECRETS), LINK, "/etc/shadow", "/etc/ssh/ssh_host_ed25519_key", "/var/log/secure"]
BUDGET = Budget(attempts=3, turn_seconds=20, stall_seconds=20)


@asynccontextmanager
async def laid_out(of, tmp_path):
    """A host by that name, and its root folder."""
    hosts = tmp_path / "data/hosts"
    if of == "fixture":
        FixtureTarget(of, hosts / of).prepare()
        yield hosts / of / "root"
        return
    with ssh_host(tmp_path / "there") as host:
        host_registry.register_host(hosts, of, host.endpoint(), host.known_host, "SHA256:x")
        yield host.root


@asynccontextmanager
async def worked(data, url):
    settings = Settings(data=data, speed=0)
    lineup = load_lineup(settings)
    engines = {name: replace(one, simulation=None, base_urls=(url,)) for name, one in lineup.engines.items()}
    lineup = replace(lineup, engines=engines)
    async with open_runtime(settings, lineup) as runtime:
        yield runtime, lineup


async def ran(runtime, lineup, host, mode, rules, **more):
    request = create_run_request(
        Order(host=host, rules=tuple(rules), mode=mode, keep=host == "fixture", budget=BUDGET, by="ada", **more),
        lineup,
        runtime.settings.hosts_folder,
    )
    name = await runtime.submit_run(request)
    return name, await followed(runtime, name)


async def shown(runtime, run, rules):
    """Pages and the API, as an admin has them."""
    app = create_app(runtime)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        places = [
            f"/runs/{run}",
            "/runs",
            "/hosts",
            f"/api/v1/runs/{run}/items",
            "/api/v1/approvals",
            "/api/v1/lessons",
        ]
        places += [f"/runs/{run}/items/{rule}" for rule in rules]
        places += [f"/api/v1/runs/{run}/items/{rule}" for rule in rules]
        answers = [await http.get(place) for place in places]
    assert {answer.status_code for answer in answers} <= {200, 404}
    return "".join(answer.text for answer in answers)


@pytest.mark.parametrize("mode", ["dry-run", "auto"])
@pytest.mark.parametrize(("of", "rules"), [("fixture", RULES), ("web", OVER_SSH)])
async def test_nothing_of_a_hosts_secrets_comes_out(tmp_path, caplog, of, rules, mode):
    caplog.set_level(logging.INFO)
    enemy = Enemy(WANTED)
    async with laid_out(of, tmp_path) as root:
        canaries = [*planted(root), *slipped_in(root)]
        (root / LINK[1:]).symlink_to("/root/.pgpass")
        with served(enemy) as url:
            places = await seen(tmp_path / "data", url, of, rules, mode)
        kept = [at for at in (tmp_path / "data").rglob("*") if at.is_file() and not at.is_relative_to(root)]
        places["data folder"] = b"".join(at.read_bytes() for at in kept)
    places |= {"prompts": "\n".join(enemy.told).encode(), "messages": caplog.text.encode()}
    assert {*WANTED} <= enemy.named
    assert b"PermitRootLogin" in places["prompts"]
    out = {name: [one for one in canaries if one.encode() in text] for name, text in places.items()}
    assert {name for name, found in out.items() if found} == set(), out


async def seen(data, url, host, rules, mode):
    """All that is left of a run, and all that an admin is shown."""
    async with worked(data, url) as (runtime, lineup):
        run, events = await ran(runtime, lineup, host, mode, rules)
        assert events[-1].event.__struct_config__.tag == "run.finished", events[-1]
        case = read_run_record(events)
        return {
            "log": b"".join(one.line for one in events),
            "pages": (await shown(runtime, run, rules)).encode(),
            "papers": b"".join(paper.build(case) for paper in PAPERS),
            "pack": build_pack(events, KEY),
        }

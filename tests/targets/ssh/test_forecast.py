"""What only looks at a host leaves the change of a run that is at work there alone."""

from app.cli.fix_candidates_of_rule import print_candidates_and_get_acceptance_code
from app.config import Settings
from app.events.event_field_types import SetOption
from app.runs.fix_forecast import forecast_run
from app.skills.stig.pack import STIG
from app.targets import host_registry

SSHD = "/etc/ssh/sshd_config"
RULE = "V-257984"


async def test_a_forecast_and_a_list_of_proposals_neither_undo_nor_mark_anything(host, opened, tmp_path, capsys):
    settings = Settings(data=tmp_path / "here")
    hosts = settings.hosts_folder
    host_registry.register_host(hosts, "web", host.endpoint(), host.known_host, "")
    at_work = opened("hosts/web")
    at_work.prepare()
    at_work.apply("one", [SetOption(path=SSHD, key="X11Forwarding", value="no")], frozenset({SSHD}))
    kept = [one for one in (hosts / "web").rglob("*") if one.is_file()]
    before = {one: one.read_bytes() for one in kept}
    there = host.everything()

    found = await forecast_run(STIG, "web", hosts, rules=(RULE,))
    assert found.rules == 1
    assert print_candidates_and_get_acceptance_code(settings, RULE, "web", "stig", as_json=True) in (0, 2)

    assert {one: one.read_bytes() for one in kept} == before
    assert host.everything() == there
    assert at_work.roll_back("one").differences == ()

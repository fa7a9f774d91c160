"""A hostile engine against a Debian of its own, in mode auto: the host itself says that nothing was lost."""

import pytest

from app.cli.debian_demo import RULES, SKILL
from app.scanners.openscap.scap_files import add_benchmark
from tests.hostile_answers import read_honest_answers
from tests.hosts.conftest import inside, root_may_log_in
from tests.hosts.onslaught import READINGS, attack_host, choose_rules, find_changed_files, list_own_files
from tests.hosts.test_vendor import CONTENT
from tests.thorough import examples

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(3600)]

USUAL, AT_NIGHT = 100, 1000


def test_nobody_loses_a_login_and_nothing_outside_the_rules_changes(site, machine, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    add_benchmark(machine.base_folder / CONTENT)
    rules, wanted = choose_rules(RULES), examples(USUAL, AT_NIGHT)
    before = {name: inside(machine, script) for name, script in READINGS.items()}
    endured = attack_host(site, SKILL, rules, wanted)
    after = {name: inside(machine, script) for name, script in READINGS.items()}
    assert endured.answers >= wanted
    assert [one for one in endured.applied if one[1] not in read_honest_answers()[one[0]]["paths"]] == []
    changed = find_changed_files(before.pop("files"), after.pop("files"))
    assert changed <= list_own_files(rules) & {path for _, path in endured.applied}
    assert after == before
    assert root_may_log_in(machine)
    assert inside(machine, "whoami") == "root"
    assert endured.causes.count("refused") > len(endured.causes) * 0.7

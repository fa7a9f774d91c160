"""Generated hosts ask the same thirty questions, are healthy, and are no two alike."""

import pytest

from app.scanners.builtin import Builtin
from app.scores.hosts import built_in, generated, opened
from app.skills.stig.pack import STIG

SCANNER = Builtin({rule.id: rule.check for rule in STIG.rules.values()})


@pytest.mark.parametrize("seed", range(8))
async def test_every_rule_is_unmet_and_the_host_is_healthy(tmp_path, seed):
    target = await opened(generated(str(seed), 1), tmp_path / "host")
    words = {verdict.rule: verdict.word for verdict in SCANNER.judge(target.files, list(STIG.rules))}
    assert {rule: word for rule, word in words.items() if word != "fail"} == {}
    assert [f"{probe.name}: {probe.detail}" for probe in target.health() if not probe.ok] == []
    assert target.drift(()) == ()


async def test_a_seed_is_one_host_and_another_is_another(tmp_path):
    digests = []
    for name, host in (("a", generated("7", 1)), ("b", generated("7", 1)), ("c", generated("7", 2)), ("d", built_in())):
        digests.append((await opened(host, tmp_path / name)).digest())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_traps_are_told_and_vary():
    found = [frozenset(generated(str(seed), 1).traps) for seed in range(30)]
    assert len(set(found)) > 5
    assert set(built_in().traps) <= frozenset.union(*found)

"""Generated hosts ask the same thirty questions, are healthy, and are no two alike."""

import threading
from dataclasses import replace

import pytest

from app.scanners.scanner import BuiltinScanner
from app.scores.generated_hosts import create_builtin_host, generate_host, write_and_open_host
from app.skills.stig.pack import STIG

SCANNER = BuiltinScanner({rule.id: rule.check for rule in STIG.rules.values()})


@pytest.mark.parametrize("seed", range(8))
async def test_every_rule_is_unmet_and_the_host_is_healthy(tmp_path, seed):
    target = await write_and_open_host(generate_host(str(seed), 1), tmp_path / "host")
    words = {verdict.rule: verdict.word for verdict in SCANNER.judge_rules(target.files, list(STIG.rules))}
    assert {rule: word for rule, word in words.items() if word != "fail"} == {}
    assert [f"{probe.name}: {probe.detail}" for probe in target.check_health() if not probe.ok] == []
    assert target.describe_drift(()) == ()


async def test_a_seed_is_one_host_and_another_is_another(tmp_path):
    digests = []
    for name, host in (
        ("a", generate_host("7", 1)),
        ("b", generate_host("7", 1)),
        ("c", generate_host("7", 2)),
        ("d", create_builtin_host()),
    ):
        digests.append((await write_and_open_host(host, tmp_path / name)).compute_digest())
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


async def test_a_host_is_written_beside_the_event_loop(tmp_path):
    threads = []

    class NotedTexts(dict):
        def items(self):
            threads.append(threading.get_ident())
            return super().items()

    await write_and_open_host(replace(create_builtin_host(), texts=NotedTexts()), tmp_path / "host")
    assert threads
    assert threading.get_ident() not in threads


def test_traps_are_told_and_vary():
    found = [frozenset(generate_host(str(seed), 1).traps) for seed in range(30)]
    assert len(set(found)) > 5
    assert set(create_builtin_host().traps) <= frozenset.union(*found)

"""On a real Debian, each rule of each profile of its content has alone the verdict and evidence of the whole."""

import re

import pytest

from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.datastream_excerpt import open_datastream
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.scap_files import ScapContent
from tests.hosts.test_rootfs import CONTENT

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(3000)]

FOLDER = "/var/cache/temper/scap"
TITLE = re.compile(rb"<[\w.:-]*title[^>]*>[^<]*</[\w.:-]*title>")


async def test_each_rule_of_each_profile_alone_has_the_verdict_and_evidence_of_the_whole(opened, machine):
    file = machine.base_folder / CONTENT
    benchmark, stream, seen, compared = read_benchmark(file), open_datastream(file), set(), 0
    assert len(benchmark.profiles) >= 9
    for profile in benchmark.profiles:
        ids = {rule.name: rule.id for rule in benchmark.list_profile_rules(profile.id)}
        scanner = OpenScapScanner(opened.shell, ScapContent(file, profile.id), ids, FOLDER)
        whole, cut = {one.rule: one for one in await scanner.judge_rules([*ids])}, {}
        for rule, id_ in ids.items():
            cut[rule] = (
                None
                if rule == "security_patches_up_to_date"
                else stream.build_excerpt_and_tailoring(profile.id, [id_])[0]
            )
        # Profiles share most rules, with the same values.
        new = {rule: TITLE.sub(b"", text.replace(profile.id.encode(), b"")) for rule, text in cut.items() if text}
        new = {rule: text for rule, text in new.items() if text not in seen}
        seen.update(new.values())
        alone = {rule: (await scanner.judge_rules([rule]))[0] for rule in new}
        assert alone == {rule: whole[rule] for rule in new}, profile.id
        together = await scanner.judge_rules([*ids][:-1])
        assert together == [whole[rule] for rule in [*ids][:-1]], profile.id
        compared += len(new)
    assert compared > 350

"""A run that began with a benchmark at hand."""

from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids
from app.skills.catalog import load_skill
from tests.evidence.logs import plain_log
from tests.scanners.openscap.content import STIG

NAMES = {"V-257985": "SV-257985r1000001_rule", "V-257984": "SV-257984r1000002_rule"}


def named():
    return choose_benchmark_with_skill_ids(load_skill("stig"), (STIG.parent,))


def named_log(**more):
    words = dict.fromkeys(NAMES, "fail")
    return plain_log(words, {"V-257985": "pass", "V-257984": "fail"}, begun={"published": named()}, **more)

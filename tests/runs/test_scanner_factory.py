import shutil

import pytest

from app.errors import BadInput
from app.runs.scanner_factory import create_scanner, prepare_fixture_if_empty
from app.scanners.openscap.scanner import OpenScapScanner
from app.skills.catalog import load_skill
from app.targets.host_registry import open_target
from tests.scanners.openscap.content import SMALL


@pytest.fixture
def from_content(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".local/share/xml/scap"
    folder.mkdir(parents=True)
    shutil.copy(SMALL, folder)
    return load_skill("scap:small:more")


class Elsewhere:
    """A host that no command reaches."""

    name, simulated = "elsewhere", False


class OverAShell(Elsewhere):
    shell = None


def test_the_skill_says_who_judges(from_content, tmp_path):
    assert create_scanner(load_skill("stig"), Elsewhere(), tmp_path).name == "built-in"
    assert create_scanner(from_content, OverAShell(), tmp_path).name == "OpenSCAP"
    with pytest.raises(BadInput, match="choose the skill stig"):
        create_scanner(from_content, Elsewhere(), tmp_path)


async def test_openscap_and_our_own_check_agree_on_the_fixture(from_content, tmp_path):
    assert shutil.which("oscap"), "this test needs openscap-scanner: .ci/tools installs it"
    target = open_target("fixture", tmp_path / "hosts")
    prepare_fixture_if_empty(target)
    scanner = create_scanner(from_content, target, tmp_path / "hosts")
    assert isinstance(scanner, OpenScapScanner)
    words = {one.rule: one.word for one in await scanner.judge_rules(list(from_content.rules))}
    assert words == {"V-257985": "fail", "release": "pass", "moduli": "fail"}
    assert load_skill("stig").rules["V-257985"].check(target.files).word == words["V-257985"]
    assert target.describe_drift(()) == ()

"""A build is told apart by each file that decides what is done on a host or what a paper says."""

import shutil

import pytest

from app.config import PACKAGE
from app.evidence.build_id import hash_sources


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the parts that the evidence and the work on hosts are in."""
    copy = tmp_path_factory.mktemp("copy") / "app"
    for part in ("evidence", "targets/ssh", "scanners", "loop"):
        shutil.copytree(PACKAGE / part, copy / part)
    (copy / "templates").mkdir()
    shutil.copy(PACKAGE / "templates" / "report.html", copy / "templates")
    return copy


@pytest.mark.parametrize(
    "name",
    [
        "loop/decide.py",
        "loop/hazards.toml",
        "templates/report.html",
        "evidence/pack_readme.txt",
        "evidence/playbook/harden.sh",
        "evidence/playbook/rule.yml",
        "evidence/playbook/role_readme.md",
        "targets/ssh/remote/service.sh",
        "scanners/openscap/scan.sh",
    ],
)
def test_a_change_of_a_file_changes_the_digest(package, name):
    file, before = package / name, hash_sources(package)
    content = file.read_bytes()
    file.write_bytes(content + b"#")
    assert hash_sources(package) != before
    file.write_bytes(content)
    assert hash_sources(package) == before


def test_what_python_compiles_is_no_part_of_it(package):
    before = hash_sources(package)
    compiled = package / "evidence" / "__pycache__" / "new.pyc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"x")
    assert hash_sources(package) == before

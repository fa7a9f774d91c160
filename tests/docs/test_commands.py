"""Every command that a document shows exists, takes what is shown, and where that is cheap and safe it is run."""

import lzma
import subprocess

import pytest

from app.store.db import open_and_migrate_database
from tests.docs.commands import (
    OURS,
    ROOT,
    ShownCommand,
    find_commands,
    find_fault,
    list_blocks,
    list_documents,
    split_commands,
)
from tests.forkserver import temper

OTHERS = {
    "/opt/temper/.venv/bin/pip": "installs packages: tests/hosts/test_service.py",
    "/opt/temper/.venv/bin/temper": "writes systemd's units: tests/hosts/test_service.py",
    "apt-get": "installs packages",
    "cd": "the shell's",
    "createdb": "PostgreSQL's",
    "createuser": "PostgreSQL's",
    "dpkg-deb": "unpacks a package of Debian",
    "docker": "builds and starts containers; tests/web/api/test_deploy.py reads the files",
    "install": "coreutils, as root",
    "mail": "sends mail",
    "mv": "coreutils, as root: tests/hosts/test_service.py",
    "pip": "installs packages",
    "pipx": "installs programs",
    "podman": "builds and starts containers: tests/hosts/test_container.py",
    "printf": "the shell's",
    "psql": "PostgreSQL's",
    "python3": "runs the script inside a pack: tests/evidence",
    "rm": "coreutils, as root: tests/hosts/test_service.py",
    "sha256sum": "coreutils",
    "systemctl": "needs systemd: tests/hosts/test_service.py",
    "useradd": "creates the account, as root",
    "userdel": "deletes the account, as root: tests/hosts/test_service.py",
    "uv": "installs programs",
    "xz": "XZ Utils",
}
"""Programs of others that documents may show, and why they are not run here."""
RUN_WHOLE = ("docs/api.md",)
"""tests/web/api/test_docs.py runs each block of these; their commands of ours are held to the command line, too."""
CHEAP = (
    "temper --version",
    "temper doctor l4x4-nvfp4",
    "temper nodes --data data",
    "temper plan l4x4-nvfp4",
    "temper rollout list",
    "temper scap list",
    "temper schedule list",
    "temper tidy --older-than 90 --dry-run",
    "temper verify audit --data data",
    "temper waiver list",
)
"""They only read, and need no host, no engine and no server."""


def shown():
    for file in list_documents():
        name = file.relative_to(ROOT).as_posix()
        yield from find_commands(file.read_text(), name, frozenset(OTHERS))


SHOWN = list(shown())


def test_documents_show_many_commands():
    assert len(SHOWN) > 200
    assert len({one.file for one in SHOWN}) > 15


def test_every_command_of_ours_exists_and_takes_what_is_shown():
    faults = [f"{one}: {fault}" for one in SHOWN if one.words[0] in OURS and (fault := find_fault(one))]
    assert faults == []


def test_every_other_program_is_one_that_documents_may_show():
    unknown = [str(one) for one in SHOWN if one.file not in RUN_WHOLE and one.words[0] not in {*OURS, *OTHERS}]
    assert unknown == []
    assert sorted(set(OTHERS) - {one.words[0] for one in SHOWN}) == []


@pytest.mark.parametrize("line", CHEAP)
def test_a_cheap_command_is_run(tmp_path, line):
    assert tuple(line.split()) in {one.words for one in SHOWN}
    open_and_migrate_database(tmp_path / "data" / "temper.sqlite").dispose()
    done = temper(*line.split()[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_recorded_run_is_verified_as_shown(tmp_path):
    recorded = "docs/recorded/real-cpu.zip"
    [shown] = [one.words for one in SHOWN if one.words[:3] == ("temper", "verify", recorded)]
    unpacked = tmp_path / recorded
    unpacked.parent.mkdir(parents=True)
    unpacked.write_bytes(lzma.decompress((ROOT / f"{recorded}.xz").read_bytes()))
    done = temper(*shown[1:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_approval_policy_that_is_shown_is_one(tmp_path):
    assert ("temper", "approvals", "check", "approvals.toml") in {one.words for one in SHOWN}
    [policy] = [one for one in list_blocks((ROOT / "docs/approvals.md").read_text()) if "[[rule]]" in one]
    (tmp_path / "approvals.toml").write_text(policy)
    done = temper("approvals", "check", "approvals.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_make_prints_its_targets():
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(f"\n{name} " in f"\n{done.stdout}" for name in ("demo", "test", "docs", "lint"))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("temper rnu", "no command 'rnu'"),
        ("temper host ad web", "no command 'ad'"),
        ("temper run --rule V-1", "no option"),
        ("temper run --attempts many", "should be a valid integer"),
        ("temper approve", "run_id is missing"),
        ("temper verify one two three", "takes no"),
        ("temper rollout list, shwo ID", "no command 'shwo'"),
        ("TEMPER_TOKEN=x sudo -u temper /opt/bin/temper admin crate NAME", "no command 'crate'"),
        ("make dmeo", "no target 'dmeo'"),
        ("make demo ARGS='--sped 3'", "no option"),
        ('curl -sS "$TEMPER/api/v1/rums"', "nothing answers GET /api/v1/rums"),
        ('curl -sS -X DELETE "$TEMPER/api/v1/runs/$RUN"', "nothing answers DELETE"),
    ],
)
def test_a_command_that_is_wrong_would_be_found(line, fault):
    found = [find_fault(ShownCommand("", words)) for words in split_commands(line)]
    assert any(fault in (one or "") for one in found), found


def test_a_document_is_read_with_its_blocks_its_continuations_and_its_lines():
    text = """Use `temper key`.

    temper waiver add V-1 \\
        --why x  # said
    tar x && temper key

Not one:

    title = 3
"""
    assert [one.words for one in find_commands(text, others=frozenset(["tar"]))] == [
        ("temper", "key"),
        ("temper", "waiver", "add", "V-1", "--why", "x"),
        ("tar", "x"),
        ("temper", "key"),
    ]

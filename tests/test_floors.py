"""The shape of the code base, kept by machine: floors, pins without addresses."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from app.events import kinds
from app.events.kinds import KINDS
from app.store import db

ROOT = Path(__file__).parent.parent


def test_imports_go_down_the_floors():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_importing_reads_nothing_of_the_environment_the_disk_or_the_clock():
    line = [sys.executable, "-m", "tests.importing"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr[-2000:]


def test_only_one_module_knows_dbos():
    knowing = [
        path
        for path in (ROOT / "app").rglob("*.py")
        if re.search(r"^\s*(from|import) dbos", path.read_text(), re.MULTILINE)
    ]
    assert knowing == [ROOT / "app/loop/durable_run_queue.py"]


def test_a_public_class_has_a_name_of_its_own():
    names = Counter(
        name
        for path in (ROOT / "app").rglob("*.py")
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(), re.MULTILINE)
    )
    assert names.total() > 500
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize(
    ("lock", "least"), [("requirements.lock", 20), ("requirements-dev.lock", 20), ("requirements-cpu.lock", 2)]
)
def test_pins_carry_hashes_and_no_address(lock, least):
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert "--index" not in text
    pins = re.findall(r"^[a-z0-9][^\n]*==[^\n]*\\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[a-z0-9][^\n ]*==", text, re.MULTILINE)) >= least


def test_the_newest_migration_is_the_head_that_the_code_expects():
    assert max(db.list_known_revisions()) == db.HEAD


def test_every_kind_is_distinct_and_every_event_is_listed():
    classes = {one for one in vars(kinds).values() if isinstance(one, type) and issubclass(one, kinds.Event)}
    bases = {kinds.Event, kinds.RunEvent, kinds.AttemptEvent, kinds.RolloutEvent, kinds.Sample}
    assert len(KINDS) == len(set(KINDS)) == len(classes - bases)


def test_the_plan_of_rooms_is_the_tree():
    plan = (ROOT / "docs/architecture.md").read_text()
    told = re.findall(r"^    (app/\S+)  ", plan, re.MULTILINE)
    there = {
        f"app/{one.name}{'/' * one.is_dir()}"
        for one in (ROOT / "app").iterdir()
        if one.name not in ("__init__.py", "__main__.py", "__pycache__", "py.typed")
    }
    assert sorted(told) == sorted(there)
    inner = {
        room: set(re.findall(r"\b([a-z]+)/", line)) - {room}
        for room, line in re.findall(r"^    app/(\w+)/(.*)$", plan, re.MULTILINE)
    }
    assert [
        (room, name) for room, names in inner.items() for name in names if not (ROOT / "app" / room / name).is_dir()
    ] == []

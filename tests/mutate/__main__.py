"""Mutants of the core, by chance: how many of them the tests beside each file kill, and what the others changed.

What the tests let pass is put to the type checker, which is a part of `make lint`: what it refuses is noticed, too.

python -m tests.mutate [--sample 100] [--seed N] [--only app/loop]
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

from tests.mutate.mutants import Mutant, find_mutants

ROOT = Path(__file__).parents[2]
CORE = (
    "loop/*.py",
    "store/*.py",
    "evidence/*.py",
    "targets/*policy*.py",
    "targets/change_assessment.py",
    "targets/planned_effects_of_actions.py",
    "targets/*journal*.py",
)
WHOLE = {
    "loop": (
        "loop/test_drive.py",
        "loop/test_perform.py",
        "loop/test_machinery_faults.py",
        "loop/test_without_model.py",
    ),
    "evidence": ("evidence/test_statement.py", "evidence/test_stamping.py", "evidence/test_tampering.py"),
    "store": ("store/test_migrations.py", "nodes/test_shared_database.py", "nodes/test_offered.py"),
    "targets": ("targets/test_transaction.py", "targets/test_hostile.py"),
}
"""Of these rooms, the tests that go the whole way, whichever of the room's files is changed."""
SLOW = ("nodes", "browser", "chaos", "cli", "hosts", "upgrade", "vllm", "web")
"""Rooms whose tests start servers: they are asked only where nothing else knows a file."""
MOST_TESTS = 5
"""Of other rooms, where a file's own has fewer that import it."""
AT_ONCE, SECONDS = 2, 600
TESTS, TYPES = "tests", "types"
NOTICED = (1, 2, 4, None)
"""How pytest ends: a test failed, a file of tests or a conftest could not be read in, it came to no end."""


def choose_mutants(sample: int, seed: int, only: str) -> list[Mutant]:
    files = sorted({path for pattern in CORE for path in (ROOT / "app").glob(pattern)})
    chosen = [path.relative_to(ROOT) for path in files if str(path.relative_to(ROOT)).startswith(only)]
    every = [mutant for path in chosen for mutant in find_mutants(path, (ROOT / path).read_bytes())]
    print(f"{len(every)} mutants of {len(chosen)} files; {min(sample, len(every))} are tried, seed {seed}", flush=True)
    return random.Random(seed).sample(every, min(sample, len(every)))


@cache
def find_tests(path: Path) -> tuple[str, ...]:
    """The tests that mirror a file, those that import it, and those of its room that go the whole way.

    Where none mirrors it, those that mirror whatever imports it, too.
    """
    room, mirrors = path.parts[1], _mirrors(path)
    known = [one for one in _importers("tests", path) if one.name.startswith("test_")]
    near = [one for one in known if one.parts[1] == room]
    far = [one for one in known if one.parts[1] not in (room, *SLOW)]
    whole = [Path("tests", name) for name in WHOLE.get(room, ())]
    found = [*mirrors, *near, *far[: max(0, MOST_TESTS - len(near))]]
    if not mirrors:
        others = [one for importer in _importers("app", path) for one in _mirrors(importer)]
        found += [one for one in others if not found or one.parts[1] not in SLOW][:MOST_TESTS]
    found = found or known[:1]
    return tuple(dict.fromkeys(str(one) for one in [*found, *_existing(whole)]))


def _mirrors(path: Path) -> list[Path]:
    """The test named after a file, and those named after it and a part: test_decide.py, test_decide_steps.py."""
    folder, name = ROOT / Path("tests", *path.parts[1:-1]), f"test_{path.stem}"
    return [one.relative_to(ROOT) for one in [*folder.glob(f"{name}.py"), *sorted(folder.glob(f"{name}_*.py"))]]


def _existing(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if (ROOT / path).exists()]


def _importers(top: str, path: Path) -> list[Path]:
    package, name = ".".join(path.parts[:-1]), path.stem
    wanted = re.compile(rf"from {re.escape(package)}(\.{name} import | import [^\n]*\b{name}\b)")
    return [one for one, text in _read_sources(top) if one != path and wanted.search(text)]


@cache
def _read_sources(top: str) -> list[tuple[Path, str]]:
    return [(path.relative_to(ROOT), path.read_text()) for path in sorted((ROOT / top).rglob("*.py"))]


class Workplace:
    """A copy of the tree, of the files that git knows, in which one mutant at a time is put to its tests."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._writes = folder, 1_000_000_000
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)

    def kills(self, mutant: Mutant) -> bool:
        source = (ROOT / mutant.path).read_bytes()
        self._write(mutant.path, mutant.apply(source))
        try:
            return self.run(find_tests(mutant.path), SECONDS) in NOTICED
        finally:
            self._write(mutant.path, source)

    def refuses_types(self, mutant: Mutant) -> bool:
        source = (ROOT / mutant.path).read_bytes()
        self._write(mutant.path, mutant.apply(source))
        try:
            return self.has_type_errors(mutant.path)
        finally:
            self._write(mutant.path, source)

    def has_type_errors(self, path: Path) -> bool:
        command = [sys.executable, "-m", "mypy", str(path)]
        return subprocess.run(command, cwd=self._folder, capture_output=True, check=False).returncode != 0

    def run(self, tests: Sequence[str], seconds: float) -> int | None:
        """The exit code of pytest; None where it was ended for its time."""
        options = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--hypothesis-seed=0")
        child = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self._folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
            start_new_session=True,
        )
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):  # it, and whatever its tests have left
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()

    def _write(self, path: Path, source: bytes) -> None:
        """With a time of its own: by time and size alone Python tells that what it compiled before is old."""
        self._writes += 10
        (self._folder / path).write_bytes(source)
        os.utime(self._folder / path, (self._writes, self._writes))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutate")
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000))
    parser.add_argument("--only", default="", help="the beginning of a path, such as app/loop")
    asked = parser.parse_args()
    mutants = choose_mutants(asked.sample, asked.seed, asked.only)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        places = threading.local()

        def try_out(mutant: Mutant) -> str:
            if not hasattr(places, "mine"):
                places.mine = Workplace(Path(folder, str(threading.get_ident())))
            if places.mine.kills(mutant):
                return TESTS
            return TYPES if places.mine.refuses_types(mutant) else ""

        tests = sorted({test for mutant in mutants for test in find_tests(mutant.path)})
        unchanged = Workplace(Path(folder, "unchanged"))
        if unchanged.run(tests, 5 * SECONDS) != 0:
            print("The tests fail before anything is changed: run these first.", *tests, sep="\n  ")
            return 1
        if unchanged.has_type_errors(Path("app")):
            print("The type checker finds errors before anything is changed: run make lint first.")
            return 1
        killed: Counter[str] = Counter()
        for mutant, noticed_by in zip(mutants, pool.map(try_out, mutants), strict=True):
            killed[noticed_by] += 1
            if not noticed_by:
                print(f"survived {' '.join(find_tests(mutant.path)) or 'for want of a test'}:")
                print(mutant.show_diff((ROOT / mutant.path).read_bytes()), flush=True)
    noticed, tried = killed[TESTS] + killed[TYPES], max(1, len(mutants))
    print(f"{noticed} of {len(mutants)} mutants killed: {100 * noticed / tried:.0f} %, seed {asked.seed}")
    print(f"{killed[TESTS]} by their tests, {killed[TYPES]} by the type checker")
    return 0


if __name__ == "__main__":
    sys.exit(main())

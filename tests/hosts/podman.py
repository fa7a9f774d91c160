"""Podman with images, containers and volumes of its own, and the commands that deploy/README.md prints."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from app.targets.rootfs.base_image_definition import BaseImage
from tests.hosts.conftest import KEPT

HERE = Path(__file__).parents[2]


class Podman:
    """Runs podman as a person types it, in a folder that has what `make dist wheelhouse` makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.context = folder / "context"
        self.context.mkdir()
        storage, settings = folder / "storage.conf", folder / "containers.conf"
        storage.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n')
        settings.write_text(
            '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n'
            '[engine]\nruntime = "runc"\n'
            f'cgroup_manager = "cgroupfs"\nevents_logger = "file"\nvolume_path = "{folder}/volumes"\n'
            f'static_dir = "{folder}/static"\ntmp_dir = "{folder}/tmp"\n'
        )
        self._environment = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(storage),
            "CONTAINERS_CONF": str(settings),
            "BUILDAH_ISOLATION": "chroot",
        }

    def run(self, *words: str, given: str = "", before: Sequence[str] = ()) -> str:
        done = self.attempt(*words, given=given, before=before)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.strip()

    def attempt(self, *words: str, given: str = "", before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        line = [*before, "podman", *words]
        return subprocess.run(
            line,
            capture_output=True,
            text=True,
            check=False,
            timeout=500,
            input=given,
            cwd=self.context,
            env=self._environment,
        )

    def import_base(self, base: BaseImage, name: str) -> None:
        """Build the base once for all test runs, and import it as an image of this name."""
        archive = KEPT / "containers" / f"{base.name}.tar"
        if not archive.exists():
            archive.parent.mkdir(parents=True, exist_ok=True)
            unfinished = archive.with_suffix(".part")
            subprocess.run(base.build_command(str(unfinished)), check=True, capture_output=True)
            unfinished.rename(archive)
        self.run("import", "--quiet", str(archive), name)

    def remove_containers(self) -> None:
        for name in self.run("ps", "--all", "--quiet").split():
            self.run("rm", "--force", name)


def make_dist(context: Path) -> None:
    """Do what `make dist wheelhouse` does, into the folder of a test."""
    for name in ("requirements.lock", ".dockerignore", "LICENSE", "deploy/temper/Containerfile"):
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / name, context / name)
    subprocess.run([sys.executable, HERE / ".ci/dist", context / "dist"], check=True, capture_output=True)
    subprocess.run([HERE / ".ci/wheelhouse", context / "dist/wheelhouse"], check=True, capture_output=True)


def read_printed_words(beginning: str, ending: str = "") -> list[str]:
    """Return the words after `podman` of the one line of deploy/README.md that begins and ends so."""
    lines = [line.strip() for line in (HERE / "deploy/README.md").read_text().splitlines()]
    (line,) = [one for one in lines if one.startswith(f"podman {beginning}") and one.endswith(ending)]
    return shlex.split(line)[1:]


def read_printed_block(before: str) -> list[str]:
    """Return the commands below the one paragraph of deploy/README.md that begins so."""
    lines = (HERE / "deploy/README.md").read_text().splitlines()
    (start,) = [number for number, line in enumerate(lines) if line.startswith(before)]
    block = []
    for line in lines[start + 2 :]:
        if not line.startswith("    "):
            return block
        block.append(line.strip())
    raise AssertionError(before)
